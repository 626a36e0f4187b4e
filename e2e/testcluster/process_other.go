//go:build !linux

package testcluster

import "syscall"

// childAttributes puts a server into a process group of its own, so that a
// ctrl+c in the terminal reaches only the parent, which stops the servers in
// order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
