// Command load fills an API server with pods and then keeps changing them:
//
//	load --pods 10000 --rate 50
//
// Without --kubeconfig it loads the server that the command cluster runs, and no
// other: KUBECONFIG is not read, so that nobody fills a real cluster by mistake.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/informeter/informeter/e2e/load"
	"github.com/informeter/informeter/e2e/testcluster"
)

type options struct {
	kubeconfig string
	pods       int
	rate       float64
	duration   time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of a kubeconfig (default: the one of the running command cluster)")
	flag.IntVar(&o.pods, "pods", 10000, "how many pods there shall be")
	flag.Float64Var(&o.rate, "rate", 50, "changes a second afterwards; 0 ends after filling")
	flag.DurationVar(&o.duration, "for", 0, "how long to change pods; 0 is until ctrl+c")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "load: unexpected argument %q: it takes flags only, see --help\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, o, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, log io.Writer) error {
	path, err := kubeconfig(o.kubeconfig)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return fmt.Errorf("read the kubeconfig %s: %w", path, err)
	}
	l, err := load.New(config, log)
	if err != nil {
		return err
	}
	if err := l.Fill(ctx, o.pods); err != nil {
		return interrupted(ctx, err)
	}
	if o.rate <= 0 {
		return nil
	}
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	return interrupted(ctx, l.Churn(ctx, o.rate))
}

// interrupted drops an error that says only that the user ended the command.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// kubeconfig is the path given, or that of the running cluster.
func kubeconfig(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	path, err := testcluster.LastKubeconfig()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("no cluster is running (%w): run make cluster in another terminal, or pass --kubeconfig", err)
	}
	return path, nil
}
