//go:build !unix

package tui

// wake does nothing: the program can't be suspended.
func wake() {}
