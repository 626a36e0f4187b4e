package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// writesPerSecond is Bubble Tea's own pace, its highest. It holds until the
	// first message, and wherever pulse can't find the ticker.
	writesPerSecond = 120
	// quickly is how long after a message what was drawn is written.
	quickly = 2 * time.Millisecond
	// awhile is for how long the writer goes on quickly after a message: a few
	// ticks, because the first may come before Bubble Tea has taken the view.
	awhile = 4 * quickly
	// slowly is how often the writer looks when nothing happens. It bounds how
	// late anything can be that is written without a message.
	slowly = 200 * time.Millisecond
)

// pulse lets the writer rest while there is nothing to write. Bubble Tea writes
// what was drawn on a ticker, which wakes the process whether there is something
// or not: on a virtual machine, where waking is dear, 75 times a second are more
// than a hundredth of a core, and a key still waits up to 13 ms. The pulse makes
// the ticker slow while nothing happens and quick after every message, so that
// rest is cheap and an answer comes at once.
//
// Bubble Tea offers no way to do that, so the ticker is taken from the Program's
// private field. If there is no such field, of just that type, then the pulse does
// nothing and Bubble Tea keeps its own pace; a test says so.
type pulse struct {
	field reflect.Value // where the Program keeps its ticker, from when it runs

	mu     sync.Mutex
	ticker *time.Ticker // nil before the first beat
	calm   *time.Timer  // makes the ticker slow again
	quick  bool
	ended  bool
}

// newPulse returns the pulse of a program that was not run yet.
func newPulse(p *tea.Program) *pulse {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return &pulse{field: field}
}

// beat says that there may be something to write. It must be called on the
// program's loop, which is what sets the field. A nil pulse does nothing.
func (p *pulse) beat() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended:
		return
	case p.ticker == nil:
		if p.ticker = (*time.Ticker)(p.field.UnsafePointer()); p.ticker == nil {
			return // the program does not run
		}
		p.calm = time.AfterFunc(awhile, p.rest)
	default:
		p.calm.Reset(awhile)
	}
	if !p.quick {
		// Once: to begin the period again with each message would put off the
		// write for as long as messages come in quick succession.
		p.ticker.Reset(quickly)
		p.quick = true
	}
}

func (p *pulse) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quick && !p.ended {
		p.ticker.Reset(slowly)
		p.quick = false
	}
}

// end leaves the ticker to the program, which has stopped it.
func (p *pulse) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.calm != nil {
		p.calm.Stop()
	}
}
