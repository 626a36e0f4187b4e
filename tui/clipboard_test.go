package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

func TestWhatIsSelectedIsCopied(t *testing.T) {
	u := newUser(t, newFake(30), 120, 30)
	copied := func(keys ...string) string {
		t.Helper()
		u.press(keys...)
		_, cmd := u.m.Update(keyPress(t, "c"))
		if cmd == nil {
			return ""
		}
		return fmt.Sprint(cmd())
	}
	if got := copied("3", "j"); got != "ns-0/web-00003" {
		t.Errorf("copied %q", got)
	}
	u.expect("copied ns-0/web-00003")
	if got := copied("enter"); !strings.Contains(got, "kind: Pod\n") {
		t.Errorf("copied %q", got)
	}
	if got := copied("5", "g"); got != "informeter" {
		t.Errorf("copied %q", got)
	}
	if got := copied("7"); !strings.HasPrefix(got, "WATCH no. 2   ● open — under way\nasked    rv 180411") || strings.Contains(got, " \n") {
		t.Errorf("copied %q", got)
	}
	if got := copied("?"); got != "" {
		t.Errorf("copied %q", got)
	}
	u.expect("nothing to copy here")
	big := object("ns-0/web-00000")
	big.ResourceVersion, big.JSON = "9", []byte(`{"a":"`+strings.Repeat("x", 100_000)+`"}`)
	u = newUser(t, &fake{snapshot: newFake(1).snapshot, rows: newFake(1).rows, objects: map[string]inspect.Object{big.Key: big}}, 120, 30)
	if got := copied("3", "enter"); got != "" {
		t.Error("100,000 bytes were copied")
	}
	u.expect("too long for the clipboard of a terminal; ctrl+s saves it")
}

func TestAFindingIsCopiedAsOneTellsIt(t *testing.T) {
	u := newUser(t, newFake(1).with(lonely).with(func(s *inspect.Snapshot) {
		s.Indices[1].Errors, s.Indices[1].LastError = 1, "no \x1b[31msuch label"
	}), 120, 40)
	u.watch()
	u.press("8")
	_, cmd := u.m.Update(keyPress(t, "c"))
	got := fmt.Sprint(cmd())
	for _, want := range []string{"informer pods\n", "\n- ", "such label", "\nnext: "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in what is copied:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("what is copied would be obeyed where it is pasted: %q", got)
	}
}

func TestSavingAsksBeforeItWritesOver(t *testing.T) {
	u := newUser(t, newFake(30), 120, 30)
	dir := t.TempDir()
	file := filepath.Join(dir, "pod.yaml")
	read := func() string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	u.press("3", "enter", "ctrl+s").expect("save as ns-0_web-00000.yaml")
	u.press("ctrl+u").types(file).press("enter").expect("saved to")
	if got := read(); !strings.HasPrefix(got, "apiVersion: v1\n") {
		t.Errorf("saved %q", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("saved as %v, %v", info.Mode(), err)
	}
	u.press("esc")
	for _, answer := range []string{"no", ""} {
		u.command("save " + file).expect("is there already. Write over it?")
		u.types(answer).press("enter").expect("not saved")
	}
	u.command("save " + file).types("perhaps").press("enter").expect("yes or no")
	u.press("esc").expect("not saved")
	if got := read(); !strings.HasPrefix(got, "apiVersion: v1\n") {
		t.Errorf("written over: %q", got)
	}
	u.command("save " + file).types("y").press("enter").expect("saved to")
	if got := read(); !strings.Contains(got, "ns-0/web-00003") {
		t.Errorf("saved %q", got)
	}
	u.command("save "+filepath.Join(dir, "no", "such")).expect("✗ save to", "no such file")
	u.command("save").expect("expects the name of a file")
}
