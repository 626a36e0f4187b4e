package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/inspect"
)

// syncPatience is how long snapshot waits for its informers to sync, if it is
// not told how long to watch.
const syncPatience = 30 * time.Second

type snapshotFlags struct {
	source *sourceFlags
	watch  time.Duration
	output string
}

func (p Program) snapshotCommand() *cobra.Command {
	f := &snapshotFlags{source: newSourceFlags()}
	c := &cobra.Command{
		Use:   "snapshot [RESOURCE...]",
		Short: "Print everything the screens count, as JSON or YAML",
		Long: `Print everything the screens count, as JSON or YAML: one object for one informer,
{"informers": [...]} for several, in the order asked.

It prints as soon as every informer is synced, after 30 seconds at the latest, or with --for
after that time. An interrupt lets it print at once. It always prints. The exit code is 0 if
all are synced and 2 if not, with the reason on standard error and in reflector.error.`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.source.completeResources,
		RunE:              func(c *cobra.Command, args []string) error { return p.snapshot(c.Context(), f, args) },
	}
	f.source.add(c)
	c.Flags().DurationVar(&f.watch, "for", 0, "Watch for this long before printing, as in 10s")
	addOutput(c, &f.output, "json", "json", "yaml")
	return c
}

func (p Program) snapshot(ctx context.Context, f *snapshotFlags, args []string) error {
	if err := checkWord("output", f.output, "json", "yaml"); err != nil {
		return err
	}
	if f.watch <= 0 && f.source.set.Changed("for") {
		return fmt.Errorf("--for %v: give how long to watch, as in 10s; without it snapshot prints as soon as it is synced", f.watch)
	}
	return f.source.watching(ctx, args, func(interrupted context.Context, l *lab, stopSignals func()) error {
		doing, patience := "waiting for the initial lists", syncPatience
		if f.watch > 0 {
			doing, patience = "watching", f.watch
		}
		ended := p.countDown(interrupted, doing, patience)
		waited := f.await(interrupted, l.informers)
		ended()
		stopSignals()

		shots, err := shoot(ctx, l.informers, waited)
		if err != nil {
			return err
		}
		if err := printSnapshots(p.Stdout, shots, f.output); err != nil {
			return err
		}
		return p.judge(shots)
	})
}

// await returns when it is time to print, and how long that took.
func (f *snapshotFlags) await(ctx context.Context, informers []*engine.Informer) time.Duration {
	start := time.Now()
	if f.watch > 0 {
		select {
		case <-time.After(f.watch):
		case <-ctx.Done():
		}
		return time.Since(start)
	}
	late := time.After(syncPatience)
	for _, i := range informers {
		select {
		case <-i.HasSyncedChecker().Done():
		case <-late:
			return time.Since(start)
		case <-ctx.Done():
			return time.Since(start)
		}
	}
	return time.Since(start)
}

// shoot reads the informers. Where one is not synced and nothing has failed, its
// error says what it is waiting for.
func shoot(ctx context.Context, informers []*engine.Informer, took time.Duration) ([]inspect.Snapshot, error) {
	shots := make([]inspect.Snapshot, len(informers))
	for n, i := range informers {
		s, err := i.Snapshot(context.WithoutCancel(ctx))
		if err != nil {
			return nil, fmt.Errorf("reading informer %s: %w", i.Name(), err)
		}
		if !s.Informer.Synced && s.Reflector.Error == "" {
			s.Reflector.Error = fmt.Sprintf("not synced after %s: %s, %d objects received",
				waited(took), s.Reflector.Phase, s.Reflector.Received)
		}
		shots[n] = s
	}
	return shots, nil
}

func printSnapshots(w io.Writer, shots []inspect.Snapshot, format string) error {
	var v any = struct {
		Informers []inspect.Snapshot `json:"informers"`
	}{shots}
	if len(shots) == 1 {
		v = shots[0]
	}
	return printAs(w, v, format)
}

// judge says which informers are not synced, and why.
func (p Program) judge(shots []inspect.Snapshot) error {
	code := exitOK
	for _, s := range shots {
		if !s.Informer.Synced {
			code = exitNotSynced
			sayError(p.Stderr, fmt.Errorf("%s is not synced: %s", s.Informer.Name, inspect.PlainError(s.Reflector.Error)))
		}
	}
	if code == exitOK {
		return nil
	}
	return &exitWith{code: code}
}

// printAs writes v as JSON or YAML, the fields named as in JSON.
func printAs(w io.Writer, v any, format string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("encoding the output: %w", err)
	}
	out := escaped(text.Bytes())
	if format == "yaml" {
		var err error
		if out, err = yaml.JSONToYAML(out); err != nil {
			return fmt.Errorf("encoding the output: %w", err)
		}
	}
	_, err := w.Write(out)
	return err
}

// escaped is JSON in which the characters that a terminal may take for commands
// are escaped; encoding/json leaves some of them as they are.
func escaped(text []byte) []byte {
	dangerous := func(r rune) bool { return r != '\n' && commands(r) }
	if bytes.IndexFunc(text, dangerous) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if dangerous(r) {
			fmt.Fprintf(&b, `\u%04x`, r) // within a string: outside there is none
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}
