package tui

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// piped returns a keyboard of a pipe, and what types on it.
func piped(t *testing.T) (k *keyboard, types func(text string)) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	if k, err = openKeyboard(r); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k, func(text string) {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
}

// reading reads until a Read fails, and sends everything it was given.
func reading(k *keyboard) (texts <-chan string, ended <-chan error) {
	text, end := make(chan string), make(chan error, 1)
	go func() {
		buffer := make([]byte, 64)
		for {
			n, err := k.Read(buffer)
			if err != nil {
				end <- err
				return
			}
			text <- string(buffer[:n])
		}
	}()
	return text, end
}

func TestAKeyboardReadsEveryKey(t *testing.T) {
	k, types := piped(t)
	types("before")
	texts, _ := reading(k)
	for _, want := range []string{"before", "a", "\x1b[A", "pasted at once"} {
		if want != "before" {
			types(want)
		}
		if got := <-texts; got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	}
}

func TestAKeyboardReadsWhatDidNotFitIntoOneRead(t *testing.T) {
	k, types := piped(t)
	types("abc")
	for _, want := range []string{"a", "b", "c"} {
		var one [1]byte
		if _, err := k.Read(one[:]); err != nil || string(one[:]) != want {
			t.Fatalf("read %q, %v, want %q", one, err, want)
		}
	}
}

// While it waits, a keyboard must hold no processor: the runtime says so of
// goroutines in its poller, and not of those in a system call.
func TestAKeyboardWaitsInTheRuntimesPoller(t *testing.T) {
	k, types := piped(t)
	texts, _ := reading(k)
	types("a")
	<-texts
	waitForState(t, "keyboard).Read", "IO wait")
}

// waitForState waits until the goroutine that is in the function is in a state.
func waitForState(t *testing.T, function, want string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for state := ""; state != want; {
		if time.Now().After(deadline) {
			t.Fatalf("what is in %s is in state %q, want %q", function, state, want)
		}
		time.Sleep(time.Millisecond)
		state = stateOf(function)
	}
}

// stateOf returns the state of the goroutine that is in the function, as in a
// stack trace; empty if there is none.
func stateOf(function string) string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, stack := range bytes.Split(stacks, []byte("\n\n")) {
		if text := string(stack); strings.Contains(text, function) {
			_, state, _ := strings.Cut(text, "[")
			state, _, _ = strings.Cut(state, "]")
			state, _, _ = strings.Cut(state, ",")
			return state
		}
	}
	return ""
}

func TestAnInterruptEndsOneReader(t *testing.T) {
	k, types := piped(t)
	_, ended := reading(k)
	k.interrupt(time.Minute)
	if err := <-ended; err != io.EOF {
		t.Errorf("an interrupted Read returned %v, want io.EOF", err)
	}
	texts, _ := reading(k) // as after a suspension
	types("b")
	if got := <-texts; got != "b" {
		t.Errorf("the next reader read %q, want b", got)
	}
}

func TestAnInterruptEndsAReaderThatIsBusy(t *testing.T) {
	k, types := piped(t)
	texts, ended := reading(k)
	types("a") // which nobody takes yet
	waitForState(t, "tui.reading", "chan send")
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.interrupt(time.Minute)
	}()
	waitForState(t, "keyboard).interrupt", "select")
	<-texts
	if err := <-ended; err != io.EOF {
		t.Errorf("the reader ended with %v, want io.EOF", err)
	}
	<-done
}

func TestAnInterruptOfNobodyDoesNotEndTheNextReader(t *testing.T) {
	k, types := piped(t)
	k.interrupt(time.Millisecond)
	texts, _ := reading(k)
	types("a")
	if got := <-texts; got != "a" {
		t.Errorf("read %q, want a", got)
	}
	(*keyboard)(nil).interrupt(time.Minute) // where Bubble Tea reads the keys
}

func TestAClosedKeyboardEndsItsReader(t *testing.T) {
	k, _ := piped(t)
	_, ended := reading(k)
	k.Close()
	if err := <-ended; err != io.EOF {
		t.Errorf("the reader of a closed keyboard ended with %v, want io.EOF", err)
	}
}

// Bubble Tea reads a file by its descriptor, beside the keyboard, and takes a file
// to be what has a name.
func TestAKeyboardIsNotTakenForAFile(t *testing.T) {
	k, _ := piped(t)
	if _, named := any(k).(interface{ Name() string }); named {
		t.Error("a keyboard has a name: Bubble Tea waits for keys itself")
	}
	if _, ok := any(k).(interface {
		io.ReadWriteCloser
		Fd() uintptr
	}); !ok {
		t.Error("a keyboard does not count as a terminal: Bubble Tea leaves its settings as they are")
	}
}

func TestWhatIsNoTerminalHasNoKeyboard(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if newKeyboard(r) != nil || newKeyboard(strings.NewReader("a")) != nil {
		t.Error("a pipe and a string have keyboards")
	}
}
