package cmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/expr"
	"github.com/informeter/informeter/engine/inspect"
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
	strict        bool
	resync        time.Duration
	indices       []string
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
	f.set.BoolVar(&f.strict, "strict", false, "Work as stock client-go does: the inorder queue, no spacing of watches, deadlines or quarantine; a handler or built-in index that panics ends the program")
	f.set.StringArrayVar(&f.indices, "index", nil, "Add an index `NAME=EXPR`: EXPR is label:KEY, a JSONPath as {.spec.nodeName}, or cel: and a CEL expression over object. May be repeated")
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

// settings are what the flags say of how informers work. They have been checked.
func (f *sourceFlags) settings() settings {
	s := settings{strict: f.strict, resync: f.resync}
	if f.queue == queueWords()[1] {
		s.queue = engine.InOrder
	}
	for _, text := range f.indices {
		name, expression, _ := strings.Cut(text, "=")
		s.indices = append(s.indices, inspect.IndexSpec{Name: name, Expr: expression})
	}
	return s
}

// checkSettings returns an error if the flags ask for what can't be.
func (f *sourceFlags) checkSettings() error {
	if f.resync < 0 || f.resync > 0 && f.resync.Seconds() < 1 {
		return fmt.Errorf("--resync %v: an informer resyncs once a second at most; 0 is never", f.resync)
	}
	if err := checkWord("queue", f.queue, queueWords()...); err != nil {
		return err
	}
	if f.strict && f.set.Changed("queue") && f.queue != queueWords()[1] {
		return fmt.Errorf("--strict runs on the %s queue, as stock client-go does; leave out --queue %s", queueWords()[1], f.queue)
	}
	return f.checkIndices()
}

// checkIndices returns an error for the first index that can't be made.
func (f *sourceFlags) checkIndices() error {
	compiler := expr.New()
	named := map[string]bool{}
	for _, text := range f.indices {
		name, expression, found := strings.Cut(text, "=")
		switch {
		case !found || name == "" || strings.ContainsAny(name, ":{"):
			return fmt.Errorf("--index %s: write NAME=EXPR, as in --index zone=label:topology.kubernetes.io/zone", text)
		case named[name]:
			return fmt.Errorf("--index %s: there is another one called %s; choose another name", text, name)
		}
		named[name] = true
		if _, err := compiler.IndexFunc(expression); err != nil {
			return fmt.Errorf("--index %s: %w", name, err)
		}
	}
	return nil
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
