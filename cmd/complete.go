package cmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informeter/informeter/engine/expr"
	"github.com/informeter/informeter/engine/source/cluster"
	"github.com/informeter/informeter/engine/source/demo"
)

// completionPatience is how long the tab key may take: a cluster that does not
// answer by then completes nothing.
const completionPatience = 1500 * time.Millisecond

// nameShells lets the command completion say which shells there are when it is
// asked for another one. cobra's prints its help, as if all were well.
func nameShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic("bug: " + err.Error())
	}
	var shells []string
	for _, c := range completion.Commands() {
		shells = append(shells, c.Name())
	}
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return fmt.Errorf("completion %q: use %s", args[0], cluster.Alternatives(shells))
	}
}

// within returns what f returns, or zero if that takes longer than a tab key
// may. A credential plugin can't be stopped, so f is left behind: the process
// ends next.
func within[T any](ctx context.Context, f func(context.Context) T) T {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	done := make(chan T, 1)
	go func() { done <- f(ctx) }()
	select {
	case v := <-done:
		return v
	case <-ctx.Done():
		var zero T
		return zero
	}
}

// completeResources completes RESOURCE, of which one argument may hold several.
func (f *sourceFlags) completeResources(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	names := f.resourceNames(c.Context())
	given := strings.Split(before, ",")
	var all []string
	for _, name := range names {
		if !slices.Contains(given, name) {
			all = append(all, before+name)
		}
	}
	return matching(all, typed), cobra.ShellCompDirectiveNoFileComp
}

func (f *sourceFlags) resourceNames(ctx context.Context) []string {
	if f.demo() {
		return demo.Resources()
	}
	return within(ctx, func(ctx context.Context) []string {
		c, err := f.cluster(io.Discard)
		if err != nil {
			return nil
		}
		return c.Names(ctx)
	})
}

// addCompletions completes the values of the flags that name something.
func (f *sourceFlags) addCompletions(c *cobra.Command) {
	scenarios := []string{}
	for _, s := range demo.Scenarios() {
		scenarios = append(scenarios, cobra.CompletionWithDesc(s.Name, s.Sentence))
	}
	completeWords(c, "demo", scenarios...)
	completeWords(c, "projection", string(cluster.Typed), string(cluster.Unstructured), string(cluster.Metadata))
	completeWords(c, "queue", queueWords()...)
	completeIndex(c)
	complete(c, "namespace", func(ctx context.Context) []string {
		return within(ctx, func(ctx context.Context) []string {
			c, err := f.cluster(io.Discard)
			if err != nil {
				return nil
			}
			names, _ := c.Namespaces(ctx)
			return names
		})
	})
	for flag, names := range map[string]func() []string{
		"context": func() []string { return f.inKubeconfig().contexts },
		"cluster": func() []string { return f.inKubeconfig().clusters },
		"user":    func() []string { return f.inKubeconfig().users },
	} {
		complete(c, flag, func(context.Context) []string { return names() })
	}
}

// kubeconfigNames are the names in the kubeconfig.
type kubeconfigNames struct{ contexts, clusters, users []string }

func (f *sourceFlags) inKubeconfig() kubeconfigNames {
	raw, err := f.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return kubeconfigNames{}
	}
	return kubeconfigNames{
		contexts: slices.Sorted(maps.Keys(raw.Contexts)),
		clusters: slices.Sorted(maps.Keys(raw.Clusters)),
		users:    slices.Sorted(maps.Keys(raw.AuthInfos)),
	}
}

// completeIndex completes --index with an example of each form, under the name that
// was typed if one was.
func completeIndex(c *cobra.Command) {
	must(c.RegisterFlagCompletionFunc("index", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		name, _, named := strings.Cut(typed, "=")
		var all []string
		for _, form := range expr.Forms() {
			if !named {
				name = form.Name
			}
			if text := name + "=" + form.Example; strings.HasPrefix(text, typed) {
				all = append(all, cobra.CompletionWithDesc(text, form.Meaning))
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}))
}

// must panics if a completion is registered for a flag that is not there.
func must(err error) {
	if err != nil {
		panic("bug: " + err.Error())
	}
}

// complete completes a flag's value with one of names.
func complete(c *cobra.Command, flag string, names func(context.Context) []string) {
	must(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return matching(names(c.Context()), typed), cobra.ShellCompDirectiveNoFileComp
	}))
}

// completeWords completes a flag's value with one of the words.
func completeWords(c *cobra.Command, flag string, words ...string) {
	complete(c, flag, func(context.Context) []string { return words })
}

func matching(names []string, prefix string) []string {
	var all []string
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			all = append(all, n)
		}
	}
	return all
}
