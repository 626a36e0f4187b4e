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
	// atOnce is how long after a message what was drawn is written: long enough
	// for Bubble Tea to take the view. Not more often than every atOnceEvery: what comes
	// in quick succession is better written together.
	atOnce      = 100 * time.Microsecond
	atOnceEvery = 8 * time.Millisecond
	// quickly is how often the writer looks after that, and after messages in quick
	// succession.
	quickly = 2 * time.Millisecond
	// awhile is for how long it does: a few ticks, because the first may have come
	// before Bubble Tea had taken the view.
	awhile = 3 * quickly
	// slowly is how often the writer looks when nothing happens. It bounds how
	// late anything can be that is written without a message.
	slowly = 200 * time.Millisecond
)

// pulse lets the writer rest while there is nothing to write. Bubble Tea writes
// what was drawn on a ticker, which wakes the process whether there is something
// or not: on a virtual machine, where waking is dear, 75 times a second are more
// than a hundredth of a core, and a key still waits up to 13 ms. The pulse makes
// the ticker slow while nothing happens and quick after every message, so that
// rest is cheap and an answer comes at once:
//
//	slowly ── beat ──▶ atOnce ── a tick ──▶ quickly ── awhile ──▶ slowly
//	                     ▲                     │
//	                     └── beat, seldom ─────┘
//
// The first tick comes as soon as the program's loop has nothing else to do. To
// wait longer would be to give the processor to others, and to wait for it once
// more where it is scarce.
//
// Bubble Tea offers no way to do that, so the ticker is taken from the Program's
// private field. If there is no such field, of just that type, then the pulse does
// nothing and Bubble Tea keeps its own pace; a test says so.
type pulse struct {
	field reflect.Value // where the Program keeps its ticker, from when it runs

	mu     sync.Mutex
	ticker *time.Ticker // nil before the first beat
	calm   *time.Timer  // makes the ticker slower again
	pace   time.Duration
	prompt time.Time // when the ticker was last made to tick at once
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

// beat says that there is something to write in a moment. It must be called on the
// program's loop, which is what sets the field. A nil pulse does nothing.
func (p *pulse) beat() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	if p.ticker == nil {
		if p.ticker = (*time.Ticker)(p.field.UnsafePointer()); p.ticker == nil {
			return // the program does not run
		}
		p.calm = time.AfterFunc(awhile, p.slowDown)
	}
	switch now := time.Now(); {
	case now.Sub(p.prompt) >= atOnceEvery:
		p.prompt = now
		p.becomeLocked(atOnce, atOnce+atOnce/2) // after the first tick and before the second
	case p.pace == slowly:
		p.becomeLocked(quickly, awhile)
	case p.pace == quickly:
		// Only longer: to begin the period again with each message would put off the
		// write for as long as messages come in quick succession.
		p.calm.Reset(awhile)
	}
}

func (p *pulse) becomeLocked(pace, until time.Duration) {
	p.pace = pace
	p.ticker.Reset(pace)
	p.calm.Reset(until)
}

func (p *pulse) slowDown() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended:
	case p.pace == atOnce:
		p.becomeLocked(quickly, awhile)
	case p.pace == quickly:
		p.pace = slowly
		p.ticker.Reset(slowly)
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
