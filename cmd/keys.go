package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/informeter/informeter/tui"
)

func (p Program) keysCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "keys",
		Short: "Print the key bindings",
		Long: `Print the key bindings that hold: the built-in ones, and over them those of the user's keymap.
The names in the ACTION column are those by which a keymap binds other keys. Below them stands
what can be typed on the explorer's command line.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			keymap, err := p.keymap(file)
			if err != nil {
				return err
			}
			return printKeys(c.OutOrStdout(), keymap)
		},
	}
	addKeymap(c, &file)
	return c
}

// addKeymap adds --keymap to a command.
func addKeymap(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "keymap", "", "Read key bindings from this file, over the built-in ones; informeter info says where one is found without this flag")
}

// keymap returns the bindings that hold: those of the file given, or of the one
// in the user's configuration if it is there, over the built-in ones.
func (p Program) keymap(file string) (*tui.Keymap, error) {
	given := file != ""
	if !given {
		dirs, err := findPaths()
		if err != nil {
			return tui.ParseKeymap(p.Keymap, nil, "")
		}
		file = dirs.keymap()
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return tui.ParseKeymap(p.Keymap, nil, "")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the keymap: %w", err)
	}
	return tui.ParseKeymap(p.Keymap, text, file)
}

func printKeys(w io.Writer, keymap *tui.Keymap) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, "SCREEN\tKEYS\tACTION\tMEANING"); err != nil {
		return err
	}
	for _, b := range keymap.Bindings() {
		if _, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", b.Scope, b.Label(), b.Action, b.Help); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(table, "\nCOMMAND\tMEANING\n"); err != nil {
		return err
	}
	for _, c := range tui.Commands() {
		if _, err := fmt.Fprintf(table, "%s\t%s\n", c.Usage, c.Help); err != nil {
			return err
		}
	}
	return table.Flush()
}
