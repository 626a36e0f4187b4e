package cmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that ends with the first of the signals that end
// a program on a terminal. Whoever calls it calls stop, after which signals do
// what they always do; stop returns an exitWith if one came.
func untilSignal(ctx context.Context) (_ context.Context, stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	first := make(chan os.Signal, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case s := <-arrived:
			first <- s
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() error {
		signal.Stop(arrived) // and waits for one that is on its way
		cancel()
		<-ended
		select {
		case s := <-first:
			return signaled(s)
		case s := <-arrived:
			return signaled(s)
		default:
			return nil
		}
	}
}

func signaled(s os.Signal) error {
	number, ok := s.(syscall.Signal)
	if !ok {
		return &exitWith{code: exitError}
	}
	return &exitWith{code: exitSignal + int(number)}
}
