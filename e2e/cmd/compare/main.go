// Command compare measures informeter beside a program that has nothing but a
// stock client-go informer, on one server in one run:
//
//   - how long from the start of the process until the first rows are on the
//     screen, where the stock program says that it has synced,
//   - resident memory after a while, and at its highest,
//   - how much of a core each takes while nothing changes.
//
// The two take turns, so that a neighbour's noise meets both, and the table
// shows medians. It needs /proc, so it runs on linux only, and wants a server at
// rest: load with --rate 0.
//
//	go run ./cmd/cluster                        in one terminal
//	go run ./cmd/load --pods 10000 --rate 0     then, in another
//	go run ./cmd/compare
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/informeter/informeter/e2e/testcluster"
)

// stockMode is the argument that makes this program the one to compare with.
const stockMode = "stock-informer"

type options struct {
	kubeconfig string
	program    string
	idle       time.Duration
	runs       int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 2 && args[0] == stockMode {
		return runStock(ctx, args[1], out)
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "informeter-compare-")
	if err != nil {
		return fmt.Errorf("make a folder for the program: %w", err)
	}
	defer os.RemoveAll(dir)
	if o.program == "" {
		if o.program, err = buildProgram(ctx, dir); err != nil {
			return err
		}
	}
	count, err := countPods(ctx, o.kubeconfig)
	if err != nil {
		return err
	}
	if count == 0 {
		return fmt.Errorf("there are no pods on the server of %s: run the command load first", o.kubeconfig)
	}
	var stock, ours []sample
	for i := range o.runs {
		fmt.Fprintf(log, "run %d of %d, %d pods, %s of rest for each\n", i+1, o.runs, count, o.idle)
		s, err := measureStock(ctx, o)
		if err != nil {
			return err
		}
		stock = append(stock, s)
		if s, err = measureInformeter(ctx, o, dir, count); err != nil {
			return err
		}
		ours = append(ours, s)
	}
	return writeTable(out, count, stock, ours)
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("compare", flag.ExitOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "path of a kubeconfig (default: the one of the running command cluster)")
	flags.StringVar(&o.program, "program", "", "path of a built informeter (default: build it from the folder above)")
	flags.DurationVar(&o.idle, "idle", 20*time.Second, "how long to watch each program at rest")
	flags.IntVar(&o.runs, "runs", 3, "how often to run each program")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.runs < 1 || o.idle <= 0 {
		return o, fmt.Errorf("it takes flags only, at least one run, and some time at rest: see --help")
	}
	var err error
	if o.program != "" { // it runs in a folder of its own
		if o.program, err = filepath.Abs(o.program); err != nil {
			return o, fmt.Errorf("find the program: %w", err)
		}
	}
	if o.kubeconfig == "" {
		o.kubeconfig, err = testcluster.LastKubeconfig()
	} else {
		o.kubeconfig, err = filepath.Abs(o.kubeconfig)
	}
	if err != nil {
		return o, fmt.Errorf("find the kubeconfig: %w", err)
	}
	if _, err := os.Stat(o.kubeconfig); err != nil {
		return o, fmt.Errorf("no cluster is running (%w): run make cluster in another terminal, or pass --kubeconfig", err)
	}
	return o, nil
}

// buildProgram compiles informeter from the folder above.
func buildProgram(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "informeter")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build informeter in the folder above (run this in the folder e2e): %w\n%s", err, out)
	}
	return path, nil
}
