// Command informeter shows what a Kubernetes informer is doing while it does it.
package main

import (
	"context"
	_ "embed"
	"os"

	"github.com/informeter/informeter/cmd"
)

//go:embed keymap.yaml
var keymap []byte

func main() {
	os.Exit(cmd.Run(context.Background(), cmd.Program{
		Keymap: keymap,
		Args:   os.Args,
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}))
}
