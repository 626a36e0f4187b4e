package cmd

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
)

// paths are the places where files of the user's are looked for or written.
type paths struct {
	config, state, cache string
}

// findPaths follows the XDG variables where they are set, else the platform's
// custom.
func findPaths() (paths, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return paths{}, fmt.Errorf("looking for the home directory: %w", err)
	}
	config := filepath.Join(home, ".config")
	state := filepath.Join(home, ".local", "state")
	cache := filepath.Join(home, ".cache")
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		if config, err = os.UserConfigDir(); err != nil {
			return paths{}, fmt.Errorf("looking for the configuration: %w", err)
		}
		if cache, err = os.UserCacheDir(); err != nil {
			return paths{}, fmt.Errorf("looking for the cache: %w", err)
		}
		state = config
	}
	return paths{
		config: xdg("XDG_CONFIG_HOME", config),
		state:  xdg("XDG_STATE_HOME", state),
		cache:  xdg("XDG_CACHE_HOME", cache),
	}, nil
}

// xdg returns informeter's directory below the one that the variable names. The
// XDG specification has relative paths ignored.
func xdg(variable, byDefault string) string {
	dir := os.Getenv(variable)
	if !filepath.IsAbs(dir) {
		dir = byDefault
	}
	return filepath.Join(dir, "informeter")
}

// keymap is the user's own keymap, which is used if it is there.
func (p paths) keymap() string { return filepath.Join(p.config, "keymap.yaml") }

// history is the file of the lines typed on the explorer's command line.
func (p paths) history() string { return filepath.Join(p.state, "history") }

func infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "info",
		Short:             "Print the paths that are used",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := findPaths()
			if err != nil {
				return err
			}
			return p.print(c.OutOrStdout())
		},
	}
}

func (p paths) print(w io.Writer) error {
	keymap := p.keymap()
	if _, err := os.Stat(keymap); err != nil {
		keymap += " (not there: the built-in one)"
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"config", p.config},
		{"keymap", keymap},
		{"log", "in the explorer only, without --log-file"},
		{"history", p.history()},
		{"state", p.state},
		{"cache", p.cache},
		{"kubeconfig", cmp.Or(os.Getenv(clientcmd.RecommendedConfigPathEnvVar), clientcmd.RecommendedHomeFile)},
	} {
		if _, err := fmt.Fprintf(table, "%s\t%s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return table.Flush()
}
