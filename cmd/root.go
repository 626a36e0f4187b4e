package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informeter/informeter/engine/source/cluster"
)

// Program is what a run of informeter is given from outside.
type Program struct {
	// Keymap is the built-in keymap, in YAML.
	Keymap []byte
	// Args are the arguments, the program's name first.
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run runs the command that the arguments name and returns the exit code. The
// end of ctx ends it.
func Run(ctx context.Context, p Program) int {
	root := p.rootCommand()
	root.SetArgs(p.Args[1:])
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	nameShells(root) // which remembers where the output goes
	return finish(root.ExecuteContext(ctx), p.Stderr)
}

// displayName is what the program calls itself: what the user has typed.
func displayName(argv0 string) string {
	base := strings.TrimSuffix(filepath.Base(argv0), ".exe")
	if base == "kubectl-informeter" {
		return "kubectl informeter"
	}
	return "informeter"
}

func (p Program) rootCommand() *cobra.Command {
	name := displayName(p.Args[0])
	source := newSourceFlags()
	screen := &screenFlags{}
	root := &cobra.Command{
		Use:   "informeter [RESOURCE...]",
		Short: "See inside Kubernetes informers",
		Long: strings.ReplaceAll(`See inside Kubernetes informers: the requests of the Reflector, what waits in the DeltaFIFO,
the indices, and which handler lags behind, while it happens.

RESOURCE is what kubectl takes: pods, po, deployments.apps, pods/web-0, several as pods,svc.
None stands for the pods of the context's namespace. Without any kubeconfig the simulated
cluster is shown. A resource with the name of a command follows a --.`, "\t", ""),
		Example: strings.ReplaceAll(`  % pods deployments.apps -A
  % --demo
  % snapshot pods -o yaml`, "%", name),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: source.completeResources,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: name},
		RunE: func(c *cobra.Command, args []string) error {
			return nearCommands(c, args, p.explore(c, source, screen, args))
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help lists the flags", err, c.CommandPath())
	})
	source.add(root)
	screen.add(root)
	root.AddCommand(p.snapshotCommand(), p.doctorCommand(), p.keysCommand(), infoCommand(), versionCommand())
	root.SetHelpCommand(helpCommand(root))
	return root
}

// helpCommand is cobra's, but for names that are no command's: cobra prints the
// help of the root, which takes any argument, as if all were well.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "Print the help of a command",
		Hidden: true,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return commandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil && len(rest) == 0 {
				c.InitDefaultHelpFlag()
				return c.Help()
			}
			name, hint := strings.Join(args, " "), "there are "+strings.Join(commandNames(root), ", ")
			if near := cluster.Near(name, commandNames(root)); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %q?", root.CommandPath()+" help "+near[0])
			}
			return fmt.Errorf("help %q: there is no such command; %s", name, hint)
		},
	}
}

// commandNames are the names of the commands that are offered.
func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// nearCommands adds to an error about an unknown resource the commands that may
// have been meant.
func nearCommands(root *cobra.Command, args []string, err error) error {
	if err == nil {
		return nil
	}
	commands := commandNames(root)
	var near []string
	for _, arg := range args {
		// Without a kubeconfig nobody can say whether there is such a resource.
		if !strings.Contains(err.Error(), strconv.Quote(arg)) && !errors.Is(err, cluster.ErrNotConfigured) {
			continue
		}
		for _, c := range cluster.Near(arg, commands) {
			near = append(near, strconv.Quote(root.CommandPath()+" "+c))
		}
	}
	if len(near) == 0 {
		return err
	}
	slices.Sort(near)
	if errors.Is(err, cluster.ErrNotConfigured) {
		err = &exitWith{code: exitNotSynced, err: err}
	}
	return &meant{err, cluster.Alternatives(slices.Compact(near))}
}

// meant is an error with the commands that may have been meant.
type meant struct {
	error
	commands string
}

func (m *meant) Error() string { return m.error.Error() + "; perhaps the command " + m.commands + "?" }
func (m *meant) Unwrap() error { return m.error }
