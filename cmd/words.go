package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/informeter/informeter/engine/source/cluster"
)

// addOutput adds -o to a command.
func addOutput(c *cobra.Command, output *string, byDefault string, formats ...string) {
	c.Flags().StringVarP(output, "output", "o", byDefault, "Output format: "+cluster.Alternatives(formats))
	completeWords(c, "output", formats...)
}

// checkWord returns an error if the value of a flag is not one of the words.
func checkWord(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("--%s %q: use %s", flag, value, cluster.Alternatives(words))
}
