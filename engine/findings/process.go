package findings

import (
	"context"
	"fmt"
	"slices"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// maxLooks is how many informers are looked at in one go: each costs two
	// requests where the process is another one. Of more, each has its turn.
	maxLooks = 32
	// maxInformers bounds how many are remembered.
	maxInformers = 1024
)

// Process finds the problems of all informers of a process. NewProcess makes
// one. Not safe for concurrent use.
type Process struct {
	process  inspect.Process
	watchers map[string]*Watcher
	// turn is the name of the informer looked at last: the next turn is that of
	// the one after it.
	turn string
}

// NewProcess watches the informers of p.
func NewProcess(p inspect.Process) *Process {
	return &Process{process: p, watchers: map[string]*Watcher{}}
}

// Look reads the informers and applies the rules. It is to be called about once
// a second. The informer called first, if there is one, is always looked at; of
// the others as many as there is time for until ctx ends, and the next call goes
// on from there. An informer that does not answer keeps what was found.
func (p *Process) Look(ctx context.Context, first string) error {
	all, err := p.process.Informers(ctx)
	if err != nil {
		return fmt.Errorf("list the informers: %w", err)
	}
	names := make([]string, 0, len(all))
	for i := range all[:min(len(all), maxInformers)] {
		names = append(names, all[i].Name)
	}
	for name := range p.watchers {
		if !slices.Contains(names, name) {
			delete(p.watchers, name)
		}
	}
	if slices.Contains(names, first) {
		p.lookAt(ctx, first)
	}
	start := slices.Index(names, p.turn) + 1
	for i := range min(len(names), maxLooks) {
		if ctx.Err() != nil {
			break
		}
		name := names[(start+i)%len(names)]
		p.turn = name
		if name != first {
			p.lookAt(ctx, name)
		}
	}
	return nil
}

// lookAt looks at one informer.
func (p *Process) lookAt(ctx context.Context, name string) {
	i, _, err := p.process.Informer(name)
	if err != nil {
		return
	}
	s, err := i.Snapshot(ctx)
	if err != nil {
		return
	}
	w := p.watchers[name]
	if w == nil {
		w = &Watcher{}
		p.watchers[name] = w
	}
	var requests []inspect.Request
	if w.requests.missing(&s) {
		// Without them the rules make do with what the snapshot has.
		requests, _ = i.Requests(ctx)
	}
	w.Observe(s, requests)
}

// Findings returns what is wrong with any informer, in the order of Compare. The
// caller owns the result.
func (p *Process) Findings() []Finding {
	var all []Finding
	for _, w := range p.watchers {
		all = append(all, w.Findings()...)
	}
	slices.SortFunc(all, Compare)
	return all
}
