package cmd

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/source/cluster"
	"github.com/informeter/informeter/engine/source/demo"
)

// sourceFlags say where objects come from and which. Every command that watches
// has them.
type sourceFlags struct {
	config        *genericclioptions.ConfigFlags
	allNamespaces bool
	labels        string
	fields        string
	projection    string
	scenario      string
	queue         string
	resync        time.Duration
	logFile       string

	set *pflag.FlagSet // of the command that has them
}

func newSourceFlags() *sourceFlags {
	config := genericclioptions.NewConfigFlags(true)
	// What was discovered is not written to disk.
	config.CacheDir = nil
	return &sourceFlags{config: config}
}

func (f *sourceFlags) add(c *cobra.Command) {
	f.set = c.Flags()
	f.config.AddFlags(f.set)
	f.set.Lookup("namespace").Usage = "Watch this namespace; the context's if none is given"
	f.set.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "Watch all namespaces")
	f.set.StringVarP(&f.labels, "selector", "l", "", "Watch only objects with these labels, as in app=web,tier!=cache")
	f.set.StringVar(&f.fields, "field-selector", "", "Watch only objects with these field values, as in status.phase=Running")
	f.set.StringVar(&f.projection, "projection", string(cluster.Typed), "Fetch objects typed, unstructured, or only their metadata")
	f.set.StringVar(&f.scenario, "demo", "", "Watch the simulated cluster instead; --demo=SCENARIO chooses what happens there: "+cluster.Alternatives(scenarioNames()))
	f.set.Lookup("demo").NoOptDefVal = demo.Steady
	f.set.StringVar(&f.queue, "queue", queueWords()[0], "Run on this queue: deltafifo, which compresses per key, or inorder, which keeps every event")
	f.set.DurationVar(&f.resync, "resync", 0, "Add a handler that asks for a resync this often, as in 30s")
	f.set.StringVar(&f.logFile, "log-file", "", "Append what client-go logs to this file")
	f.addCompletions(c)
	c.SetUsageFunc(f.usage)
}

// scenarioNames are the values of --demo, the default first.
func scenarioNames() []string {
	var names []string
	for _, s := range demo.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// demo says whether the simulated cluster was asked for.
func (f *sourceFlags) demo() bool { return f.set.Changed("demo") }

// bare says whether nothing was said about what to watch or where.
func (f *sourceFlags) bare() bool {
	bare := true
	f.set.VisitAll(func(flag *pflag.Flag) {
		bare = bare && !(flag.Changed && f.concernsCluster(flag.Name))
	})
	return bare
}

// concernsCluster says whether a flag asks for something of a cluster.
func (f *sourceFlags) concernsCluster(name string) bool {
	if f.connects(name) {
		return true
	}
	switch name {
	case "namespace", "all-namespaces", "selector", "field-selector", "projection":
		return true
	}
	return false
}

// connects says whether a flag is one of kubectl's that say how to connect.
func (f *sourceFlags) connects(name string) bool {
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.config.AddFlags(connection)
	return name != "namespace" && connection.Lookup(name) != nil
}

// queueWords are the values of --queue, the default first.
func queueWords() []string {
	return []string{strings.ToLower(engine.DeltaFIFO.String()), strings.ToLower(engine.InOrder.String())}
}

// engineQueue is the queue asked for.
func (f *sourceFlags) engineQueue() engine.Queue {
	if f.queue == queueWords()[1] {
		return engine.InOrder
	}
	return engine.DeltaFIFO
}

// screenFlags say how the explorer looks.
type screenFlags struct {
	keymap  string
	color   string
	ascii   bool
	noMouse bool
}

func (f *screenFlags) add(c *cobra.Command) {
	set := c.Flags()
	addKeymap(c, &f.keymap)
	set.StringVar(&f.color, "color", "auto", "Use colors: auto, always or never")
	set.BoolVar(&f.ascii, "ascii", false, "Draw with ASCII characters only")
	set.BoolVar(&f.noMouse, "no-mouse", false, "Leave the mouse to the terminal")
	completeWords(c, "color", "auto", "always", "never")
}
