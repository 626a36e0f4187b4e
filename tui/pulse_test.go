package tui

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

func TestTheWritersTickerIsFound(t *testing.T) {
	if newPulse(tea.NewProgram(nil)) == nil {
		t.Error("Bubble Tea's Program has no field ticker of type *time.Ticker: the writer can't rest")
	}
}

// beating returns a pulse of a ticker that nobody else has, and what counts its
// ticks in a bubble.
func beating(t *testing.T) (p *pulse, ticks func(d time.Duration) int) {
	ticker := time.NewTicker(time.Second / writesPerSecond)
	t.Cleanup(ticker.Stop)
	p = &pulse{field: reflect.ValueOf(&ticker).Elem()}
	t.Cleanup(p.end)
	return p, func(d time.Duration) (n int) {
		for end := time.After(d + time.Microsecond); ; { // what is due at d counts
			select {
			case <-ticker.C:
				n++
			case <-end:
				return n
			}
		}
	}
}

func TestTheWriterRestsWhileNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ticks := beating(t)
		p.beat()
		if n := ticks(atOnce); n != 1 {
			t.Errorf("%d looks within %v of a message, want one", n, atOnce)
		}
		if n := ticks(quickly); n != 0 {
			t.Errorf("%d looks in the %v after that, want none", n, quickly)
		}
		ticks(awhile)
		if n := ticks(10 * time.Second); n < 49 || n > 51 {
			t.Errorf("%d looks in 10 s of nothing, want one each %v", n, slowly)
		}
		p.beat()
		if n := ticks(atOnce); n != 1 {
			t.Errorf("%d looks within %v of a message after rest, want one", n, atOnce)
		}
	})
}

func TestMessagesInQuickSuccessionDoNotPutOffTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ticks := beating(t)
		n, messages := 0, 100
		for range messages {
			p.beat()
			n += ticks(quickly / 2)
		}
		if want := messages / 2; n < want-1 || n > want+1 {
			t.Errorf("%d looks while a message came every %v, want %d", n, quickly/2, want)
		}
	})
}

func TestAnEndedPulseLeavesTheTickerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ticks := beating(t)
		p.beat()
		p.ticker.Stop()
		p.end()
		p.beat()
		if n := ticks(10 * time.Second); n > 0 {
			t.Errorf("a stopped ticker ticked %d times", n)
		}
		(*pulse)(nil).beat() // of a program without such a ticker
		(*pulse)(nil).end()
	})
}

func TestAKeyIsWrittenQuicklyAtAnyMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Options{Process: newFake(100), Keymap: defaultKeymap(t)})
		time.Sleep(1500 * time.Millisecond)
		for offset := range 20 { // wherever the ticker stands
			time.Sleep(50*time.Millisecond + time.Duration(offset)*time.Millisecond/2)
			synctest.Wait()
			before := len(s.screen.String())
			io.WriteString(s.keys, "?")
			time.Sleep(atOnce + time.Microsecond)
			synctest.Wait()
			if out := ansi.Strip(s.screen.String()[before:]); strings.TrimSpace(out) == "" {
				t.Errorf("nothing written %v after key %d", atOnce, offset)
			}
		}
	})
}
