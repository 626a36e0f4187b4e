package cmd

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheCountdownGoesAndLeavesNothing(t *testing.T) {
	for d, want := range map[time.Duration]string{
		500 * time.Millisecond: "",
		2500 * time.Millisecond: "\rwatching, 29s left; an interrupt prints what there is  " +
			"\rwatching, 28s left; an interrupt prints what there is  \r\x1b[K",
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			var said bytes.Buffer
			countTo(ctx, &said, "watching", 30*time.Second)
			if said.String() != want {
				t.Errorf("after %v: %q, want %q", d, &said, want)
			}
		})
	}
}

func TestTheCountdownIsForTerminals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		ended := (Program{Stderr: &said}).countDown(t.Context(), "watching", time.Minute)
		time.Sleep(3 * time.Second)
		ended()
		if said.Len() > 0 {
			t.Errorf("said %q", &said)
		}
	})
}
