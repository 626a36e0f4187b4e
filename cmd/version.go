package cmd

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// build is where this binary comes from.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"` // of the commit
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	ClientGo string `json:"clientGo"`
}

// clientGo is the module whose informers this program is measured against.
const clientGo = "k8s.io/client-go"

func readBuild() build {
	b := build{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Path == clientGo {
			b.ClientGo = m.Version
		}
	}
	return b
}

func (b build) print(w io.Writer) error {
	text := "informeter " + b.Version
	if b.Commit != "" {
		text += " (" + b.Commit[:min(len(b.Commit), 12)]
		if b.Modified {
			text += ", modified"
		}
		text += ")"
	}
	_, err := fmt.Fprintln(w, strings.Join([]string{text, b.Go, b.Platform, "client-go " + b.ClientGo}, ", "))
	return err
}

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if output == "" {
				return readBuild().print(c.OutOrStdout())
			}
			if err := checkWord("output", output, "json", "yaml"); err != nil {
				return err
			}
			return printAs(c.OutOrStdout(), readBuild(), output)
		},
	}
	addOutput(c, &output, "", "json", "yaml")
	return c
}
