package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
)

// terminal collects what the program writes.
type terminal struct {
	mu  sync.Mutex // guards out
	out bytes.Buffer
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(p)
}

func (t *terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.String()
}

// session is a running explorer.
type session struct {
	screen *terminal
	keys   *io.PipeWriter
	ended  chan error
	cancel context.CancelFunc
}

// start runs the explorer in a bubble, as a program on a terminal of 120×40.
func start(t *testing.T, o Options) *session {
	ctx, cancel := context.WithCancel(t.Context())
	in, keys := io.Pipe()
	s := &session{screen: &terminal{}, keys: keys, ended: make(chan error, 1), cancel: cancel}
	o.Input, o.Output = in, s.screen
	go func() {
		s.ended <- run(ctx, o, tea.WithoutSignalHandler(), tea.WithWindowSize(120, 40),
			tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	}()
	t.Cleanup(func() {
		cancel()
		keys.Close()
		in.Close()
	})
	return s
}

// restored fails unless the program has left the alternate screen.
func (s *session) restored(t *testing.T) {
	t.Helper()
	out := s.screen.String()
	if in, left := strings.LastIndex(out, enterScreen), strings.LastIndex(out, leaveScreen); in < 0 || left < in {
		t.Errorf("the terminal was not restored: entered at %d, left at %d", in, left)
	}
}

func TestABusyInformerCostsThirtyFramesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(100)
		s := start(t, Options{Process: f, Keymap: defaultKeymap(t)})
		time.Sleep(time.Second)
		synctest.Wait()
		before := f.count()
		for range 1000 {
			for range 100 {
				f.bump(nil)
			}
			time.Sleep(time.Millisecond)
		}
		f.bump(func() { f.snapshot.Store.Objects = 123456 })
		time.Sleep(frameTime)
		synctest.Wait()
		if frames := f.count() - before; frames < 25 || frames > 32 {
			t.Errorf("100,000 changes in a second were drawn in %d frames, want about 30", frames)
		}
		time.Sleep(frameTime) // for the writer
		if !strings.Contains(ansi.Strip(s.screen.String()), ",456") {
			t.Error("the last change was not drawn")
		}
		before = f.count()
		time.Sleep(10 * time.Second)
		// Beside each frame the rules look once.
		if reads := f.count() - before; reads < 18 || reads > 22 {
			t.Errorf("10 idle seconds took %d reads, want one a second for the frame and one for the rules", reads)
		}
	})
}

func TestTheFirstChangeAfterIdleIsDrawnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(100)
		start(t, Options{Process: f, Keymap: defaultKeymap(t)})
		time.Sleep(1500 * time.Millisecond) // half a second before the next heartbeat
		synctest.Wait()
		before := f.count()
		f.bump(nil)
		synctest.Wait()
		if f.count() != before+1 {
			t.Errorf("read %d times at the moment of the change, want once", f.count()-before)
		}
	})
}

func TestAKeyIsAnsweredWithoutWaitingForAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(100)
		s := start(t, Options{Process: f, Keymap: defaultKeymap(t)})
		time.Sleep(1500 * time.Millisecond)
		f.bump(nil) // the next frame may not come before frameTime
		synctest.Wait()
		pressed := time.Now()
		io.WriteString(s.keys, "3")
		for !strings.Contains(ansi.Strip(s.screen.String()), "ns-0/web-00000") {
			time.Sleep(time.Millisecond)
			if time.Since(pressed) > time.Second {
				t.Fatal("the store was not shown within a second")
			}
		}
		if took := time.Since(pressed); took > 16*time.Millisecond {
			t.Errorf("from the key to the screen it took %v", took)
		}
	})
}

func TestQuittingRestoresTheTerminalAndStopsLooking(t *testing.T) {
	for name, quit := range map[string]func(s *session){
		"by q":       func(s *session) { io.WriteString(s.keys, "q") },
		"by ctrl+c":  func(s *session) { io.WriteString(s.keys, "\x03") },
		"by context": func(s *session) { s.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(100)
				s := start(t, Options{Process: f, Keymap: defaultKeymap(t)})
				time.Sleep(time.Second)
				synctest.Wait()
				if f.viewers() != 1 {
					t.Errorf("the informer is open %d times, want once", f.viewers())
				}
				quit(s)
				if err := <-s.ended; err != nil {
					t.Errorf("quitting is an error: %v", err)
				}
				s.restored(t)
				if f.viewers() != 0 {
					t.Errorf("the informer is still open %d times", f.viewers())
				}
			})
		})
	}
}

// breaking is a process that breaks once it is told to.
type breaking struct {
	*fake
	now atomic.Bool
}

func (b *breaking) Informers(ctx context.Context) ([]inspect.Summary, error) {
	if b.now.Load() {
		panic("broken on purpose")
	}
	return b.fake.Informers(ctx)
}

func TestAPanicRestoresTheTerminalAndIsReported(t *testing.T) {
	silence(t)
	// A binding without keys is a bug that is met only where its hint is drawn.
	broken := defaultKeymap(t)
	for i := range broken.bindings {
		if broken.bindings[i].Action == ActionManagedFields {
			broken.bindings[i].Keys = nil
		}
	}
	process := &breaking{fake: newFake(3)}
	for _, c := range []struct {
		name    string
		options Options
		provoke func(s *session)
	}{
		{"while reading", Options{Process: process, Keymap: defaultKeymap(t)}, func(*session) { process.now.Store(true) }},
		{"while drawing", Options{Process: newFake(3), Keymap: broken}, func(s *session) {
			io.WriteString(s.keys, "3")
			time.Sleep(time.Second)
			io.WriteString(s.keys, "\r")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, c.options)
				time.Sleep(time.Second)
				synctest.Wait()
				c.provoke(s)
				if err := <-s.ended; !errors.Is(err, tea.ErrProgramPanic) {
					t.Errorf("a panic was reported as %v", err)
				}
				s.restored(t)
			})
		})
	}
}

// silence keeps the stack that Bubble Tea prints out of the test's output.
func silence(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = null
	t.Cleanup(func() {
		os.Stderr = was
		null.Close()
	})
}

// TestWhatIsAskedForHappensInThatOrder: commands run each on its own, and a
// frame takes its time.
func TestWhatIsAskedForHappensInThatOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(100)
		f.stepTime = 300 * time.Millisecond
		s := start(t, Options{Process: f, Keymap: defaultKeymap(t)})
		time.Sleep(time.Second)
		if _, err := io.WriteString(s.keys, "2 s s "); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		if diff := cmp.Diff([]string{"pause", "step 1", "resume", "step 1", "resume"}, f.controls); diff != "" {
			t.Errorf("done (-want +got):\n%s", diff)
		}
	})
}
