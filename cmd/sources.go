package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/source"
	"github.com/informeter/informeter/engine/source/cluster"
	"github.com/informeter/informeter/engine/source/demo"
)

// opened is what a command watches.
type opened struct {
	sources []source.Source
	// run makes things happen where that is not somebody else's business; nil
	// if it is.
	run func(context.Context)
	// notice is something the user should know all the time, sentence what there
	// is to look at.
	notice, sentence string
}

// fallback is the notice where the demo stands in by itself.
const fallback = "no kubeconfig: demo"

// open finds what the flags and arguments ask for. mayStandIn lets the demo
// stand in where there is no configuration and nothing was asked for.
func (f *sourceFlags) open(ctx context.Context, args []string, mayStandIn bool, log io.Writer) (opened, error) {
	if err := f.checkSettings(); err != nil {
		return opened{}, err
	}
	if err := f.checkScenarios(args); err != nil {
		return opened{}, err
	}
	if f.demo() {
		return f.openDemo(args)
	}
	if mayStandIn && len(args) == 0 && f.bare() {
		configured, err := cluster.Configured(f.config)
		if err != nil {
			return opened{}, err
		}
		if !configured {
			return f.standIn()
		}
	}
	return f.openCluster(ctx, args, log)
}

// checkScenarios returns an error if an argument was meant as a scenario: the
// value of --demo is not optional to pflag unless it follows an equals sign.
func (f *sourceFlags) checkScenarios(args []string) error {
	for _, s := range demo.Scenarios() {
		if slices.Contains(args, s.Name) {
			return fmt.Errorf("%q is a scenario of the simulated cluster, not a resource; did you mean --demo=%s?", s.Name, s.Name)
		}
	}
	return nil
}

func (f *sourceFlags) openDemo(args []string) (opened, error) {
	var useless []string
	f.set.Visit(func(flag *pflag.Flag) {
		if f.connects(flag.Name) {
			useless = append(useless, "--"+flag.Name)
		}
	})
	if len(useless) > 0 {
		return opened{}, fmt.Errorf("the simulated cluster has no use for %s", strings.Join(useless, ", "))
	}
	if p := cluster.Projection(f.projection); p != cluster.Typed {
		return opened{}, fmt.Errorf("--projection %s: the simulated cluster has typed objects only", p)
	}
	namespace := *f.config.Namespace
	if f.allNamespaces {
		namespace = ""
	}
	if namespace != "" {
		if err := cluster.CheckNamespace(namespace); err != nil {
			return opened{}, err
		}
	}
	c, err := demo.New(demo.Options{Scenario: f.scenario, LabelSelector: f.labels, FieldSelector: f.fields})
	if err != nil {
		return opened{}, fmt.Errorf("--demo: %w", err)
	}
	sources, err := c.Sources(args, namespace)
	if err != nil {
		return opened{}, err
	}
	for _, s := range sources {
		if strings.Contains(s.Name, "/") && f.allNamespaces && s.Scope != "cluster" {
			return opened{}, fmt.Errorf("%s is one object of one namespace: name that one with --namespace in place of --all-namespaces", s.Name)
		}
	}
	o := opened{sources: sources, run: c.Run}
	if slices.ContainsFunc(sources, func(s source.Source) bool { return s.Resource == "pods" }) {
		o.sentence = c.Sentence()
	}
	return o, nil
}

// standIn opens the demo and lets it say why it is there.
func (f *sourceFlags) standIn() (opened, error) {
	o, err := f.openDemo(nil)
	o.notice = fallback
	for i := range o.sources {
		o.sources[i].Origin = "" // the notice says it
	}
	return o, err
}

func (f *sourceFlags) openCluster(ctx context.Context, args []string, log io.Writer) (opened, error) {
	c, err := f.cluster(log)
	if err != nil {
		return opened{}, err
	}
	sources, err := c.Sources(ctx, args)
	if err != nil {
		return opened{}, err
	}
	return opened{sources: sources}, nil
}

func (f *sourceFlags) cluster(log io.Writer) (*cluster.Cluster, error) {
	restore := pluginOutput(log)
	defer restore()
	return cluster.Open(f.config, cluster.Options{
		AllNamespaces: f.allNamespaces,
		LabelSelector: f.labels,
		FieldSelector: f.fields,
		Projection:    cluster.Projection(f.projection),
		Warn:          func(text string) { klog.Background().Info("Warning: " + text) },
	})
}

// pluginOutput sends what credential plugins write to the log, until the
// function returned is called: client-go gives them what os.Stderr is while the
// client is made, and they would write over the screen.
func pluginOutput(log io.Writer) (restore func()) {
	was := os.Stderr
	restore = func() { os.Stderr = was }
	if file, ok := log.(*os.File); ok {
		os.Stderr = file
		return restore
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	// The file stays open: the plugins keep it.
	os.Stderr = null
	return restore
}
