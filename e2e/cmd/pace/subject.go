package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/tui"
)

// warmUp is how long a run goes on before it is measured.
const warmUp = 3 * time.Second

// report is what the process that is measured saw.
type report struct {
	// Events that reached the handler, writes to the terminal and their bytes,
	// all a second.
	Events, Writes, Bytes float64
	// CPU is the processor time that one event took, everything included, in
	// microseconds.
	CPU float64
	// LostJournal counts what the explorer's journal skipped.
	LostJournal uint64
	// Terminal is how much of a core the emulated terminal took beside the process,
	// and who looks at it: no part of CPU, but of what there is for everybody.
	Terminal float64
}

// runSubject runs the informer that is measured, with the explorer if asked to,
// and writes the report when the time is over.
func runSubject(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keymapText, err := os.ReadFile(o.keymap)
	if err != nil {
		return fmt.Errorf("read the key bindings: %w", err)
	}
	keymap, err := tui.ParseKeymap(keymapText, nil, "")
	if err != nil {
		return fmt.Errorf("read the key bindings: %w", err)
	}
	registry := engine.NewRegistry()
	i := engine.New(flood{ctx: ctx, keys: o.keys, rate: o.rate}, &corev1.Pod{}, engine.Options{
		Name: "pods", Registry: registry,
		Indexers: cache.Indexers{
			"namespace": cache.MetaNamespaceIndexFunc,
			"node":      func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
			"app":       func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Labels["app"]}, nil },
		},
	})
	var handled atomic.Uint64
	if _, err := i.AddNamedEventHandler("worker", cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(any, any) { handled.Add(1) },
	}, cache.HandlerOptions{}); err != nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { i.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), i.HasSynced) {
		return ctx.Err()
	}
	out := &countedFile{File: os.Stdout}
	if o.screen {
		running.Go(func() {
			_ = tui.Run(ctx, tui.Options{Process: registry, Keymap: keymap, Color: "always", Input: os.Stdin, Output: out})
			cancel() // whoever watches has quit
		})
	}
	if err := sleep(ctx, warmUp); err != nil {
		return err
	}
	stopProfile, err := startProfile(o.profile)
	if err != nil {
		return err
	}
	events, writes, bytes, began := handled.Load(), out.writes.Load(), out.bytes.Load(), time.Now()
	used := cpuTime()
	if err := sleep(ctx, o.length()); err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	used = cpuTime() - used
	stopProfile()
	passed := handled.Load() - events
	r := report{
		Events: float64(passed) / seconds,
		CPU:    float64(used.Microseconds()) / float64(max(passed, 1)),
		Writes: float64(out.writes.Load()-writes) / seconds,
		Bytes:  float64(out.bytes.Load()-bytes) / seconds,
	}
	s, err := i.Snapshot(ctx)
	if err != nil {
		return err
	}
	r.LostJournal = s.Lost.Journal
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	return os.WriteFile(o.report, text, 0o600)
}

// cpuTime is what this process has used: on a machine that others use too, it
// says more than the clock.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// startProfile writes a CPU profile to the file, if there is one to write, until
// stop is called.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		file.Close()
	}, nil
}

// countedFile is a terminal that counts what is written to it.
type countedFile struct {
	*os.File
	writes, bytes atomic.Int64
}

func (f *countedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.writes.Add(1)
	f.bytes.Add(int64(n))
	return n, err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
