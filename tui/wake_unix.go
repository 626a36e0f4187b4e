//go:build unix

package tui

import "syscall"

// wake continues the program, which does nothing unless it waits for that.
func wake() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGCONT) }
