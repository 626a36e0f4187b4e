package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/source/demo"
	"github.com/informeter/informeter/tui"
)

// switcher starts the informers that the explorer asks for by name. It remembers
// which flags and arguments what is shown now stands for, so that a wish has to
// name only what it changes. Safe for concurrent use.
type switcher struct {
	ctx context.Context // of the whole run
	log io.Writer

	mu    sync.Mutex // guards the fields below
	flags *sourceFlags
	args  []string
	labs  map[*lab]bool // that run
	ended bool
}

func newSwitcher(ctx context.Context, flags *sourceFlags, args []string, log io.Writer) *switcher {
	return &switcher{ctx: ctx, log: log, flags: flags, args: args, labs: map[*lab]bool{}}
}

// start runs informers on what was opened, until the explorer closes them or
// everything stops.
func (o *switcher) start(what opened, flags *sourceFlags) (tui.Opened, error) {
	l, err := startLab(o.ctx, what, flags.settings())
	if err != nil {
		return tui.Opened{}, err
	}
	o.mu.Lock()
	ended := o.ended
	o.labs[l] = true
	o.mu.Unlock()
	stop := func() {
		o.mu.Lock()
		running := o.labs[l]
		delete(o.labs, l)
		o.mu.Unlock()
		if running {
			l.stop()
		}
	}
	if ended {
		stop()
		return tui.Opened{}, context.Canceled
	}
	return tui.Opened{Process: l.registry, Notice: what.notice, Sentence: what.sentence, Close: stop}, nil
}

// stop ends everything that was started, and all that is started afterwards.
func (o *switcher) stop() {
	o.mu.Lock()
	o.ended = true
	labs := o.labs
	o.labs = map[*lab]bool{}
	o.mu.Unlock()
	var stopping sync.WaitGroup
	for l := range labs {
		stopping.Go(l.stop)
	}
	stopping.Wait()
}

// Open implements tui.Opener.
func (o *switcher) Open(ctx context.Context, t tui.Target) (tui.Opened, error) {
	o.mu.Lock()
	was, args := o.flags, o.args
	o.mu.Unlock()
	flags, args, err := was.changed(args, t)
	if err != nil {
		return tui.Opened{}, err
	}
	what, err := flags.open(ctx, args, false, o.log)
	if err != nil {
		return tui.Opened{}, err
	}
	opened, err := o.start(what, flags)
	if err != nil {
		return tui.Opened{}, err
	}
	o.mu.Lock()
	o.flags, o.args = flags, args
	o.mu.Unlock()
	return opened, nil
}

// Names implements tui.Opener.
func (o *switcher) Names(ctx context.Context, k tui.NameKind) ([]string, error) {
	o.mu.Lock()
	flags := o.flags
	o.mu.Unlock()
	switch k {
	case tui.NamesOfScenarios:
		var names []string
		for _, s := range demo.Scenarios() {
			names = append(names, s.Name)
		}
		return names, nil
	case tui.NamesOfContexts:
		return flags.inKubeconfig().contexts, nil
	}
	if flags.demo() {
		if k == tui.NamesOfResources {
			return demo.Resources(), nil
		}
		return o.cachedNamespaces(ctx), nil
	}
	c, err := flags.cluster(o.log)
	if err != nil {
		return nil, err
	}
	if k == tui.NamesOfResources {
		return c.Names(ctx), nil
	}
	names, err := c.Namespaces(ctx)
	if err != nil { // who may watch pods may not be allowed to list namespaces
		return o.cachedNamespaces(ctx), nil
	}
	return names, nil
}

// cachedNamespaces returns the namespaces of what is in the caches.
func (o *switcher) cachedNamespaces(ctx context.Context) []string {
	const most = 500
	var names []string
	o.mu.Lock()
	defer o.mu.Unlock()
	for l := range o.labs {
		for _, i := range l.informers {
			page, err := i.Buckets(ctx, cache.NamespaceIndex, inspect.BucketQuery{Limit: most})
			if err != nil {
				continue // not namespaced, or not there yet
			}
			for _, b := range page.Rows {
				names = append(names, b.Value)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// changed returns the flags and arguments of what t asks for, as if they had
// been given on the command line: those of f, but for what t names.
func (f *sourceFlags) changed(args []string, t tui.Target) (*sourceFlags, []string, error) {
	next := newSourceFlags()
	next.add(&cobra.Command{})
	drop := map[string]bool{}
	if len(t.Resources) > 0 {
		args = t.Resources
		drop["selector"], drop["field-selector"] = true, true
	}
	if t.Context != "" {
		// What was said of another context does not hold in this one.
		for _, name := range []string{"demo", "context", "cluster", "user", "server", "namespace"} {
			drop[name] = true
		}
	}
	if t.Namespace != "" || t.AllNamespaces {
		drop["namespace"], drop["all-namespaces"] = true, true
	}
	if t.Scenario == tui.DefaultScenario {
		t.Scenario = demo.Steady
	}
	if t.Scenario != "" {
		drop["demo"], drop["projection"] = true, true
		// Each scenario has namespaces of its own.
		drop["namespace"], drop["all-namespaces"] = true, true
		if !f.demo() {
			args = nil
		}
	}
	var err error
	f.set.Visit(func(flag *pflag.Flag) {
		if drop[flag.Name] || t.Scenario != "" && f.connects(flag.Name) || err != nil {
			return
		}
		err = copyFlag(next.set, flag)
	})
	set := func(name, value string) {
		if value != "" && err == nil {
			err = next.set.Set(name, value)
		}
	}
	set("context", t.Context)
	set("namespace", t.Namespace)
	set("selector", t.Labels)
	set("field-selector", t.Fields)
	set("demo", t.Scenario)
	if t.AllNamespaces {
		set("all-namespaces", strconv.FormatBool(true))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", t, err)
	}
	return next, slices.Clone(args), nil
}

// copyFlag sets a flag to the value that another set has.
func copyFlag(to *pflag.FlagSet, flag *pflag.Flag) error {
	own := to.Lookup(flag.Name)
	if own == nil {
		return nil // of the explorer, not of where objects come from
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		// Set tells the flag set that it was given, which the next copy goes by.
		if err := to.Set(flag.Name, flag.Value.String()); err != nil {
			return err
		}
		return own.Value.(pflag.SliceValue).Replace(list.GetSlice())
	}
	return to.Set(flag.Name, flag.Value.String())
}
