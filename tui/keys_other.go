//go:build !linux

package tui

import (
	"io"
	"time"
)

// keyboard is nothing here: Bubble Tea reads the keys.
type keyboard struct{ io.ReadWriteCloser }

func newKeyboard(io.Reader) *keyboard       { return nil }
func (k *keyboard) interrupt(time.Duration) {}
func (k *keyboard) Close() error            { return nil }
