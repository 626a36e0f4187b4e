// Command pace measures what the explorer's screen costs an informer, and how it
// feels, while very many events pass:
//
//   - how many events a second reach a handler as fast as they come, without and
//     with the screen, and so what the screen costs,
//   - at a steady rate: frames and bytes written to the terminal a second, and
//     how long it takes from a key to its answer on the screen.
//
// Each run is a process of its own in a terminal that is emulated; with and
// without the screen take turns, and the table shows medians. Nothing but this
// program is needed: the events are made in the process that takes them.
//
//	go run ./cmd/pace
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// subjectMode is the argument that makes this program the one that is measured.
const subjectMode = "subject"

type options struct {
	keys    int
	rate    int // events a second; 0 is as fast as they are taken, or no steady run
	seconds int
	runs    int
	keymap  string
	// For the subject.
	screen  bool
	report  string
	profile string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "pace:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) > 0 && args[0] == subjectMode {
		o, err := parse(args[1:])
		if err != nil {
			return err
		}
		return runSubject(ctx, o)
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	var bare, shown []report
	for i := range o.runs {
		fmt.Fprintf(log, "run %d of %d: as fast as it goes, %d s without and %d s with the screen\n", i+1, o.runs, o.seconds, o.seconds)
		for _, screen := range []bool{false, true} {
			r, err := measure(ctx, o, 0, screen, nil)
			if err != nil {
				return err
			}
			if screen {
				shown = append(shown, r)
			} else {
				bare = append(bare, r)
			}
		}
	}
	var keys latencies
	var paced report
	if o.rate > 0 {
		fmt.Fprintf(log, "%d events a second, %d s, keys are pressed meanwhile\n", o.rate, o.seconds)
		if paced, err = measure(ctx, o, o.rate, true, &keys); err != nil {
			return err
		}
	}
	return writeTable(out, o, bare, shown, paced, keys)
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("pace", flag.ExitOnError)
	flags.IntVar(&o.keys, "keys", 100_000, "how many objects there are")
	flags.IntVar(&o.rate, "rate", 50_000, "events a second of the steady run; 0 for none")
	flags.IntVar(&o.seconds, "seconds", 10, "how long each run is measured")
	flags.IntVar(&o.runs, "runs", 3, "how often to run with and without the screen")
	flags.StringVar(&o.keymap, "keymap", "../keymap.yaml", "the explorer's key bindings")
	flags.BoolVar(&o.screen, "screen", false, "for the process that is measured: show the explorer")
	flags.StringVar(&o.report, "report", "", "for the process that is measured: where to write what it saw")
	flags.StringVar(&o.profile, "profile", "", "write CPU profiles to files of this name, with -without, -with and -steady at its end")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.keys < 1 || o.rate < 0 || o.seconds < 1 || o.runs < 1 {
		return o, fmt.Errorf("it takes flags only, and positive numbers: see --help")
	}
	return o, nil
}

// length is how long a run is measured.
func (o options) length() time.Duration { return time.Duration(o.seconds) * time.Second }
