//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestAProgramThatIsNotStoppedAfterAllContinuesItself(t *testing.T) {
	u := newUser(t, newFake(3), 100, 30)
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)

	_, cmd := u.m.Update(keyPress(t, "ctrl+z"))
	batch, ok := cmd().(tea.BatchMsg)
	if !ok || len(batch) != 2 {
		t.Fatalf("got %T from ctrl+z, want a batch of two", batch)
	}
	if _, ok := batch[0]().(tea.SuspendMsg); !ok {
		t.Error("ctrl+z does not suspend")
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		batch[1]()
	}()
	select {
	case <-continued:
	case <-time.After(time.Minute):
		t.Fatal("nobody continues the program")
	}
	if _, cmd := u.m.Update(keyPress(t, "ctrl+z")); cmd != nil {
		t.Error("a second ctrl+z suspends a program that is suspended")
	}
	u.send(tea.ResumeMsg{})
	<-ended
	if u.m.suspended != nil {
		t.Error("it counts as suspended when it goes on")
	}
}
