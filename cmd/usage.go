package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageWidth is where lines about flags are broken.
const usageWidth = 100

// usage prints how a command is called, kubectl's connection flags apart from
// the others, which they would drown.
func (f *sourceFlags) usage(c *cobra.Command) error {
	own, connection := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		if f.connects(flag.Name) {
			connection.AddFlag(flag)
		} else {
			own.AddFlag(flag)
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-12s%s\n", sub.Name(), sub.Short)
			}
		}
	}
	fmt.Fprintf(&b, "\nFlags:\n%s", own.FlagUsagesWrapped(usageWidth))
	if connection.HasFlags() {
		fmt.Fprintf(&b, "\nConnection, as for kubectl:\n%s", connection.FlagUsagesWrapped(usageWidth))
	}
	_, err := io.WriteString(c.OutOrStderr(), b.String())
	return err
}
