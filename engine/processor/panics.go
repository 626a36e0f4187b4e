package processor

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const (
	// crashPause is how long a listener waits after a panic that the program
	// chose to survive, as in client-go.
	crashPause = time.Second
	// maxStack bounds the stack kept of a panic, in bytes.
	maxStack = 8 << 10
)

// callContained is callAll for Contain.
func (l *Listener) callContained() {
	defer func() {
		if r := recover(); r != nil {
			l.panicked(r)
		}
	}()
	l.callAll()
}

// callCrashing is callAll for Crash. It returns after a panic only if
// runtime.ReallyCrash is false.
func (l *Listener) callCrashing() {
	defer utilruntime.HandleCrashWithLogger(l.logger, l.crashed)
	l.callAll()
}

// panicked accounts for a contained panic and goes past the notification.
func (l *Listener) panicked(r any) {
	key, stack := l.notePanic(r)
	l.logger.Error(nil, "Event handler panicked", "handler", l.name, "key", key, "panic", fmt.Sprint(r), "stacktrace", stack)
	l.passed()
	l.bump(l.last)
}

// crashed is told of a panic before the process dies of it, or, if it doesn't,
// before the pause.
func (l *Listener) crashed(_ context.Context, r any) {
	l.notePanic(r)
	l.passed()
	l.pausing = true
	l.bump(l.last)
}

// notePanic keeps what is known of a panic of the call under way.
func (l *Listener) notePanic(r any) (key, stack string) {
	key = l.p.keyOf(l.cursor.chunk.entries[l.cursor.index].object())
	stack = handlerStack(string(debug.Stack()))
	l.records.panicked(fmt.Sprintf("%s: %v\n%s", key, r, stack))
	return key, stack
}

// pause waits before the next call, but not for a listener that is to quit. The
// rest of the run begins after it, so that the pause is not taken for a call.
func (l *Listener) pause() {
	l.pausing = false
	done := l.delivered.Load()
	l.records.at(l.cursor, done)
	defer func() {
		l.last = l.p.now()
		l.records.beginRun(l.cursor, l.end, done, l.last)
	}()
	timer := time.NewTimer(crashPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.quitted:
	}
}

// handlerStack cuts a stack taken while panicking down to the handler's part:
// what is above the panic and below the call is ours. What doesn't look like
// that is left as it is, up to its bound.
func handlerStack(stack string) string {
	if _, below, found := strings.Cut(stack, "\npanic("); found {
		if lines := strings.SplitN(below, "\n", 3); len(lines) == 3 {
			stack = lines[2]
		}
	}
	if i := strings.Index(stack, "engine/processor.(*Listener).call("); i >= 0 {
		stack = stack[:strings.LastIndexByte(stack[:i], '\n')+1]
	}
	if len(stack) > maxStack {
		stack = stack[:maxStack]
	}
	return strings.TrimSpace(stack)
}

// keyOf names an object; the empty string if it has no key.
func (p *Processor) keyOf(obj any) (key string) {
	// The function is the informer's and must not take its vitals down.
	defer func() {
		if recover() != nil {
			key = ""
		}
	}()
	key, err := p.keyFunc(obj)
	if err != nil {
		return ""
	}
	return key
}
