package cmd

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/google/go-cmp/cmp"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestCrashRestoresTheTerminal(t *testing.T) {
	tty := terminal(t)
	before, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	handlers := len(utilruntime.PanicHandlers)
	var out bytes.Buffer
	stop := restoreOnCrash(tty, &out)
	if _, err := term.MakeRaw(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		defer utilruntime.HandleCrash()
		panic("an informer's")
	}()
	after, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("line settings (-want +got):\n%s", diff)
	}
	for _, want := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?1002l", "\x1b[?2004l"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not written", want)
		}
	}
	stop()
	if got := len(utilruntime.PanicHandlers); got != handlers {
		t.Errorf("%d handlers are left, want %d", got, handlers)
	}
}

// Without a terminal there is nothing to put back.
func TestCrashWithoutATerminal(t *testing.T) {
	handlers := len(utilruntime.PanicHandlers)
	stop := restoreOnCrash(strings.NewReader(""), &bytes.Buffer{})
	defer stop()
	if got := len(utilruntime.PanicHandlers); got != handlers {
		t.Errorf("%d handlers, want %d", got, handlers)
	}
}
