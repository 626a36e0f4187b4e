package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/informeter/informeter/engine/findings"
	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/source/cluster"
)

const (
	// lookEvery is how often doctor looks.
	lookEvery = time.Second
	// mostFindings bounds what doctor remembers; the first ones stay.
	mostFindings = 1000
)

type doctorFlags struct {
	source *sourceFlags
	watch  time.Duration
	output string
	failOn string
}

func (p Program) doctorCommand() *cobra.Command {
	f := &doctorFlags{source: newSourceFlags()}
	c := &cobra.Command{
		Use:   "doctor [RESOURCE...]",
		Short: "Watch for a while and say what is wrong",
		Long: `Watch for a while and say what is wrong: what was found, the numbers that show it, and what to
do about it. What was over before the end is shown too.

An interrupt lets it print at once what it has. A handler that falls behind, or a key that is
fought over, shows after about 20 seconds.

The exit code is 0 if nothing was found at or above --fail-on, and 1 if something was. It is 2,
whatever was found, if the command line is wrong, there is no cluster, or an informer was not
synced at the end: then it could not look. Whatever it says to that goes to standard error.`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.source.completeResources,
		RunE: func(c *cobra.Command, args []string) error {
			return asTrouble(p.doctor(c.Context(), f, args))
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return asTrouble(c.Parent().FlagErrorFunc()(c, err))
	})
	f.source.add(c)
	c.Flags().DurationVar(&f.watch, "for", 30*time.Second, "Watch for this long, as in 1m")
	c.Flags().StringVar(&f.failOn, "fail-on", findings.Warning.String(), "Exit with 1 if something at least this severe is found: "+cluster.Alternatives(findings.Severities()))
	completeWords(c, "fail-on", findings.Severities()...)
	addOutput(c, &f.output, "text", "text", "json", "yaml")
	return c
}

// asTrouble gives an error that has no exit code of its own the one for trouble:
// 1 means that something was found.
func asTrouble(err error) error {
	var own *exitWith
	if err == nil || errors.As(err, &own) || errors.Is(err, cluster.ErrNotConfigured) {
		return err
	}
	return &exitWith{code: exitTrouble, err: err}
}

func (p Program) doctor(ctx context.Context, f *doctorFlags, args []string) error {
	if err := checkWord("output", f.output, "text", "json", "yaml"); err != nil {
		return err
	}
	if err := checkWord("fail-on", f.failOn, findings.Severities()...); err != nil {
		return err
	}
	failOn, err := findings.ParseSeverity(f.failOn)
	if err != nil {
		return err
	}
	if f.watch < lookEvery {
		return fmt.Errorf("--for %v: nothing can be found in less than %v", f.watch, lookEvery)
	}
	return f.source.watching(ctx, args, func(interrupted context.Context, l *lab, stopSignals func()) error {
		ended := p.countDown(interrupted, "watching", f.watch)
		e, err := examine(interrupted, l.registry, f.watch)
		ended()
		if err != nil {
			return err
		}
		cut := interrupted.Err() != nil
		stopSignals()
		if err := e.print(p.Stdout, f.output); err != nil {
			return err
		}
		if cut {
			return signaled(os.Interrupt)
		}
		return p.diagnose(e, failOn)
	})
}

// examination is what doctor saw.
type examination struct {
	Watched   time.Duration      `json:"watchedNs"`
	Informers []inspect.Summary  `json:"informers"`
	Findings  []findings.Finding `json:"findings"`

	at time.Time // of the last look
}

// examine watches the informers of a process for d, or until ctx ends.
func examine(ctx context.Context, process inspect.Process, d time.Duration) (*examination, error) {
	release := openAll(ctx, process)
	defer release()
	start := time.Now()
	found, seen := findings.NewProcess(process), record{}
	end, tick := time.NewTimer(d), time.NewTicker(lookEvery)
	defer end.Stop()
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-end.C:
			over = true
		case <-ctx.Done():
			over = true
		}
		looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*lookEvery)
		err := found.Look(looking, "")
		cancel()
		if err != nil {
			return nil, err
		}
		seen.add(found.Findings())
	}
	now := time.Now()
	informers, err := process.Informers(context.WithoutCancel(ctx))
	if err != nil {
		return nil, fmt.Errorf("list the informers: %w", err)
	}
	return &examination{Watched: now.Sub(start), Informers: informers, Findings: seen.sorted(), at: now}, nil
}

// openAll begins to look at every informer that wants to know: what it can say
// of keys it knows only while somebody does.
func openAll(ctx context.Context, process inspect.Process) (release func()) {
	var releases []func()
	all, err := process.Informers(ctx)
	if err == nil {
		for _, s := range all {
			i, _, err := process.Informer(s.Name)
			if v, ok := i.(interface{ Open() (func(), error) }); ok && err == nil {
				// One that cannot be opened still answers.
				if r, err := v.Open(); err == nil {
					releases = append(releases, r)
				}
			}
		}
	}
	return func() {
		for _, r := range releases {
			r()
		}
	}
}

// record is everything that was found, also what has been forgotten since.
type record []findings.Finding

func (r *record) add(found []findings.Finding) {
	for _, f := range found {
		i := slices.IndexFunc(*r, func(known findings.Finding) bool {
			return known.Rule == f.Rule && known.Informer == f.Informer && known.Subject == f.Subject && known.Since.Equal(f.Since)
		})
		if i >= 0 {
			(*r)[i] = f
		} else if len(*r) < mostFindings {
			*r = append(*r, f)
		}
	}
}

func (r record) sorted() []findings.Finding {
	all := append([]findings.Finding{}, r...)
	slices.SortStableFunc(all, findings.Compare)
	return all
}

// diagnose turns what was seen into the exit code.
func (p Program) diagnose(e *examination, failOn findings.Severity) error {
	code := exitOK
	if slices.ContainsFunc(e.Findings, func(f findings.Finding) bool { return f.Severity >= failOn }) {
		code = exitFound
	}
	for _, i := range e.Informers {
		if !i.Synced {
			code = exitTrouble
			why := inspect.PlainError(i.Error)
			if why == "" {
				why = fmt.Sprintf("%s, %d objects so far", i.Phase, i.Objects)
			}
			sayError(p.Stderr, fmt.Errorf("%s is not synced after %s: %s", printable(i.Name), waited(e.Watched), printable(why)))
		}
	}
	if code == exitOK {
		return nil
	}
	return &exitWith{code: code}
}
