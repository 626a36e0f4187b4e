package processor

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/informeter/informeter/engine/inspect"
)

// explode is a handler's function that a stack should name.
func explode(call string) {
	if strings.HasSuffix(call, " bad") {
		panic(errors.New("no such luck"))
	}
}

func TestContainedPanicsAreCountedAndTheRestIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{HandlerPanic: Contain})
		h := recorder{work: explode}
		l := add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		p.Publish([]Notification{
			{Kind: Add, Initial: true, Cause: inspect.CauseInitial, New: obj("good")},
			{Kind: Add, Initial: true, Cause: inspect.CauseInitial, New: obj("bad")},
			{Kind: Update, Old: obj("good"), New: obj("bad")},
			{Kind: Delete, Old: obj("bad")},
			{Kind: Add, New: obj("better")},
		})
		synctest.Wait()
		h.expect(t, "initial good", "add better")
		v := vitalsOf(t, p, "h")
		if v.Panics != 3 || v.Delivered != 5 || v.Pending != 0 || v.Causes.Total() != 5 {
			t.Errorf("%d panics, %d delivered, %d pending, want 3, 5, 0", v.Panics, v.Delivered, v.Pending)
		}
		if !l.HasSynced() {
			t.Error("not synced, though the handler was given all of the initial list")
		}
		text, stack, _ := strings.Cut(v.LastPanic, "\n")
		if want := "ns/bad: no such luck"; text != want {
			t.Errorf("last panic is %q, want %q", text, want)
		}
		if !strings.Contains(stack, "processor.explode(") || strings.Contains(stack, "callContained") || strings.Contains(stack, "notePanic") {
			t.Errorf("the stack should be the handler's part, from explode on:\n%s", stack)
		}
		stop()
	})
}

func TestAPanicInTheKeyFunctionLeavesTheVitalsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{KeyFunc: func(any) (string, error) { panic("key function") }})
		block := make(chan struct{})
		h := recorder{work: func(string) { <-block }}
		add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		p.Publish(added("a"))
		synctest.Wait()
		if v := vitalsOf(t, p, "h"); v.CurrentKey != "" || v.InHandler == 0 {
			t.Errorf("current key %q, in handler %v, want none and some", v.CurrentKey, v.InHandler)
		}
		close(block)
		stop()
	})
}

// crashing is set in the process that TestCrash runs to see it die.
const crashing = "INFORMETER_TEST_CRASH"

func TestCrash(t *testing.T) {
	if os.Getenv(crashing) != "" {
		p := New(Options{})
		add(t, p, &recorder{work: explode}, ListenerOptions{Name: "h"})
		run(t, p)
		p.Publish(added("good", "bad", "good"))
		time.Sleep(time.Minute)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrash$")
	cmd.Env = append(os.Environ(), crashing+"=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("a process whose handler panicked ended with %v", err)
	}
	// Logged by apimachinery, then the runtime's own words.
	for _, want := range []string{"Observed a panic", "panic: no such luck", "processor.explode("} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the process died without saying %q:\n%s", want, out)
		}
	}
}

// A program may choose to survive panics everywhere. The switch is the whole
// process's, so this runs in one of its own.
func TestASurvivedCrashWaitsASecondBeforeTheNextCall(t *testing.T) {
	if os.Getenv(crashing) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestASurvivedCrash")
		cmd.Env = append(os.Environ(), crashing+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	utilruntime.ReallyCrash = false
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		h := recorder{work: explode}
		l := add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		p.Publish(added("good", "bad", "better"))
		time.Sleep(999 * time.Millisecond)
		h.expect(t, "add good")
		if v := vitalsOf(t, p, "h"); v.Panics != 1 || v.InHandler != 0 || v.Pending != 1 || v.Behind != 999*time.Millisecond {
			t.Errorf("while it waits: %+v, want 1 panic, no call, 1 pending for 999ms", v)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		h.expect(t, "add good", "add better")

		// The pause is taken before the next call, however long that takes to
		// come, and not by a listener that is to quit.
		p.Publish(added("bad"))
		time.Sleep(time.Minute)
		p.Publish(added("best"))
		synctest.Wait()
		start := time.Now()
		if err := p.Remove(l); err != nil {
			t.Error(err)
		}
		<-l.ShutdownChan()
		if took := time.Since(start); took != 0 {
			t.Errorf("removal during the pause took %v", took)
		}
		h.expect(t, "add good", "add better")
		stop()
	})
}

func TestAHandlerThatCallsGoexitIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		l := add(t, p, &recorder{work: func(string) { runtime.Goexit() }}, ListenerOptions{})
		var other recorder
		add(t, p, &other, ListenerOptions{})
		stop := run(t, p)
		p.Publish(added("a", "b"))
		<-l.ShutdownChan()
		p.Publish(added("c"))
		synctest.Wait()
		other.expect(t, "add a", "add b", "add c")
		if p.Len() != 1 {
			t.Errorf("%d listeners, want 1", p.Len())
		}
		if err := checkInvariants(p); err != nil {
			t.Error(err)
		}
		stop()
	})
}

func TestForeignStacksAreLeftAsTheyAre(t *testing.T) {
	for _, c := range []struct{ name, stack, want string }{
		{"empty", "", ""},
		{"no panic in it", "goroutine 1\nmain.main()\n\tmain.go:1", "goroutine 1\nmain.main()\n\tmain.go:1"},
		{"cut short", "goroutine 1\npanic(0)", "goroutine 1\npanic(0)"},
		{"too long", strings.Repeat("x", maxStack+1), strings.Repeat("x", maxStack)},
	} {
		if got := handlerStack(c.stack); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
