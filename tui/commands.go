package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// commands returns every command, in the order of the help.
func commands() []command {
	all := slices.Concat(openCommands(), screenCommands(), gateCommands(), changeCommands(), viewCommands())
	for i := range all {
		if all[i].args == "" {
			all[i].run = without(all[i].run)
		}
	}
	return all
}

// without refuses arguments to a command that has none.
func without(run func(*Model, []word) (tea.Cmd, error)) func(*Model, []word) (tea.Cmd, error) {
	return func(m *Model, args []word) (tea.Cmd, error) {
		if len(args) > 0 {
			return nil, args[0].fault("nothing follows this command")
		}
		return run(m, args)
	}
}

// commandNames are what a command line may begin with.
func commandNames() []string {
	var names []string
	for _, c := range commands() {
		if first, _, _ := strings.Cut(c.name, " "); !slices.Contains(names, first) {
			names = append(names, first)
		}
	}
	return names
}

// one returns the only argument of a command, and says what is missing or too
// much.
func one(args []word, what string) (word, error) {
	switch {
	case len(args) == 0 || args[0].text == "":
		return word{}, missing(what)
	case len(args) > 1:
		return word{}, args[1].fault("only " + what + " follows")
	}
	return args[0], nil
}

// missing is the fault of a line that ends too early: nothing in it is wrong.
func missing(what string) error { return &fault{what: "expects " + what} }

func openCommands() []command {
	names := func(k NameKind) func(*Model, []word) []string {
		return func(m *Model, before []word) []string {
			if len(before) > 0 {
				return nil
			}
			return m.named(k)
		}
	}
	target := func(what string, k NameKind, set func(t *Target, name string)) command {
		return command{
			args: strings.ToUpper(what), complete: names(k),
			run: func(m *Model, args []word) (tea.Cmd, error) {
				w, err := one(args, "the name of a "+what)
				if err != nil {
					return nil, err
				}
				var t Target
				set(&t, w.text)
				return m.open(t.String(), m.typing(), t)
			},
		}
	}
	ctx := target("context", NamesOfContexts, func(t *Target, name string) { t.Context = name })
	ctx.name, ctx.args, ctx.help = "ctx", "NAME", "the same in another context"
	ns := target("namespace", NamesOfNamespaces, func(t *Target, name string) {
		if t.Namespace = name; name == "all" || name == "-A" {
			t.Namespace, t.AllNamespaces = "", true
		}
	})
	ns.name, ns.args, ns.help = "ns", "NAME|all", "the same in another namespace"
	demo := target("scenario", NamesOfScenarios, func(t *Target, name string) { t.Scenario = name })
	demo.name, demo.args, demo.help = "demo", "[SCENARIO]", "the simulated cluster"
	named := demo.run
	demo.run = func(m *Model, args []word) (tea.Cmd, error) {
		if len(args) == 0 {
			return m.open("the simulated cluster", m.typing(), Target{Scenario: DefaultScenario})
		}
		return named(m, args)
	}
	open := command{
		name: "open", args: "RESOURCE [-n NS|-A] [-l SELECTOR]",
		help:     "the same, for a resource named like a command",
		complete: func(m *Model, before []word) []string { return m.targetWords(append([]word{{}}, before...)) },
		run: func(m *Model, args []word) (tea.Cmd, error) {
			if len(args) == 0 {
				return nil, missing("a resource such as pods")
			}
			return m.openNamed(m.typing(), args)
		},
	}
	return []command{open, ctx, ns, demo}
}

// typing is the line being accepted.
func (m *Model) typing() string { return m.accepting }

// screenCommands show a screen, by its name or its number.
func screenCommands() []command {
	var all []command
	for id, a := range screenActions() {
		if a == ActionResync {
			all = append(all, command{
				name: string(a), alias: strconv.Itoa(id), args: "[HANDLER PERIOD]", complete: completeHandler(false),
				help: "screen " + strconv.Itoa(id) + "; or the period a handler asks for, 0 for none", run: runResync,
			})
			continue
		}
		all = append(all, command{
			name: string(a), alias: strconv.Itoa(id), help: "screen " + strconv.Itoa(id),
			run: func(m *Model, _ []word) (tea.Cmd, error) {
				if !m.exists(screenID(id)) {
					return nil, &fault{what: "there is only one informer"}
				}
				m.show(screenID(id))
				return nil, nil
			},
		})
	}
	return all
}

func gateCommands() []command {
	ask := func(done string, f func(context.Context, inspect.Controls) error) func(*Model, []word) (tea.Cmd, error) {
		return func(m *Model, _ []word) (tea.Cmd, error) { return m.control(done, f), nil }
	}
	return []command{
		{name: "pause", help: "close the gate: nothing leaves the queue", run: ask("paused", func(ctx context.Context, c inspect.Controls) error { return c.Pause(ctx) })},
		{name: "resume", help: "open the gate, without a limit", run: ask("running", func(ctx context.Context, c inspect.Controls) error { return c.Resume(ctx) })},
		{name: "step", args: "[N]", help: "let N deltas through a closed gate", run: runStep},
		{name: "rate", args: "N/s", help: "let N deltas a second through; 0 lifts the limit", run: func(m *Model, args []word) (tea.Cmd, error) {
			w, err := one(args, "a number of deltas a second, as in 10/s")
			if err != nil {
				return nil, err
			}
			perSecond, err := parseRate(w.text)
			if err != nil {
				return nil, w.fault(err.Error())
			}
			return m.setRate(perSecond), nil
		}},
	}
}

func runStep(m *Model, args []word) (tea.Cmd, error) {
	const most = 1_000_000
	n := 1
	if len(args) > 0 {
		w, err := one(args, "a number of deltas")
		if err != nil {
			return nil, err
		}
		if n, err = strconv.Atoi(w.text); err != nil || n < 1 || n > most {
			return nil, w.fault(strconv.Quote(w.text) + " is not a number of deltas from 1 to " + number(most))
		}
	}
	return m.control(count(n, "delta", "deltas")+" let through", func(ctx context.Context, c inspect.Controls) error {
		return c.Step(ctx, n)
	}), nil
}

func changeCommands() []command {
	return []command{
		{name: "resync now", help: "play the cache back to the handlers", run: func(m *Model, _ []word) (tea.Cmd, error) {
			return m.resyncNow(), nil
		}},
		{name: "relist", help: "ask the server for everything again", run: func(m *Model, _ []word) (tea.Cmd, error) {
			return m.control("asking for everything again", func(ctx context.Context, c inspect.Controls) error { return c.RelistNow(ctx) }), nil
		}},
		{name: "index add", args: "NAME=EXPR", raw: true, help: "add an index: label:KEY, {.json.path} or cel:EXPR", run: runIndexAdd},
		{name: "verify", args: "INDEX", help: "compute an index anew and compare", complete: completeIndex, run: runVerify},
		{name: "handler add", args: "NAME DELAY [resync PERIOD]", help: "add a handler that does nothing, slowly", run: runHandlerAdd},
		{name: "handler remove", args: "NAME", help: "remove a handler that was added here", complete: completeHandler(true), run: runHandlerRemove},
	}
}

// completeHandler completes the first argument with the handlers there are, or
// with those that can be removed.
func completeHandler(lab bool) func(*Model, []word) []string {
	return func(m *Model, before []word) []string {
		var names []string
		for _, l := range m.snapshot().Listeners {
			if len(before) == 0 && !l.Explorer && (l.Lab || !lab) {
				names = append(names, l.Name)
			}
		}
		return names
	}
}

func completeIndex(m *Model, before []word) []string {
	var names []string
	for _, i := range m.snapshot().Indices {
		if len(before) == 0 {
			names = append(names, i.Name)
		}
	}
	return names
}

// knownHandler returns a fault if no handler has that name.
func (m *Model) knownHandler(w word) error {
	var names []string
	for _, l := range m.snapshot().Listeners {
		if l.Name == w.text {
			return nil
		}
		names = append(names, l.Name)
	}
	return w.fault("no handler " + strconv.Quote(w.text) + didYouMean(w.text, names))
}

func runResync(m *Model, args []word) (tea.Cmd, error) {
	switch {
	case len(args) == 0:
		m.show(screenResync)
		return nil, nil
	case len(args) == 1:
		return nil, missing("a period as in 30s")
	case len(args) > 2:
		return nil, args[2].fault("only a handler and a period follow")
	}
	if err := m.knownHandler(args[0]); err != nil {
		return nil, err
	}
	every, err := parsePeriod(args[1])
	if err != nil {
		return nil, err
	}
	for i := range m.snapshot().Listeners {
		l := &m.snapshot().Listeners[i]
		if reason := m.noPeriod(l); l.Name == args[0].text && every > 0 && reason != "" {
			return nil, args[0].fault(reason)
		}
	}
	name, done := args[0].text, args[0].text+" asks for a resync every "+period(every)
	if every == 0 {
		done = name + " asks for no resync"
	}
	return m.control(done, func(ctx context.Context, c inspect.Controls) error { return c.SetResync(ctx, name, every) }), nil
}

// parsePeriod reads a resync period: an informer looks once a second at most.
func parsePeriod(w word) (time.Duration, error) {
	d, err := parseDuration(w)
	if err == nil && d != 0 && d < time.Second {
		return 0, w.fault("an informer resyncs once a second at most")
	}
	return d, err
}

func parseDuration(w word) (time.Duration, error) {
	if w.text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(w.text)
	switch {
	case err != nil:
		return 0, w.fault(strconv.Quote(w.text) + " is no duration; write it as in 5ms, 30s or 1m30s")
	case d < 0:
		return 0, w.fault("a duration is not negative")
	}
	return d, nil
}

func runIndexAdd(m *Model, args []word) (tea.Cmd, error) {
	w := args[0]
	name, expr, found := strings.Cut(w.text, "=")
	name, expr = strings.TrimSpace(name), strings.TrimSpace(expr)
	switch {
	case w.text == "":
		return nil, missing("NAME=EXPR, as in zone=label:topology.kubernetes.io/zone")
	case !found || name == "" || expr == "":
		return nil, w.fault("write NAME=EXPR, as in zone=label:topology.kubernetes.io/zone")
	case slices.ContainsFunc(m.snapshot().Indices, func(i inspect.IndexVitals) bool { return i.Name == name }):
		return nil, &fault{w.from, w.from + len(name), "there is an index " + strconv.Quote(name) + " already"}
	}
	own := ownIndex{m.informer, inspect.IndexSpec{Name: name, Expr: expr}}
	then := func(m *Model) {
		m.keepIndex(own)
		m.screens[screenIndices].(*indicesScreen).await(name)
	}
	return m.change(then, func(ctx context.Context, i inspect.Inspector, c inspect.Controls) (string, error) {
		if err := c.AddIndex(ctx, own.IndexSpec); err != nil {
			return "", err
		}
		return added(ctx, i, name), nil
	}), nil
}

// added says what an index that was added has come to.
func added(ctx context.Context, i inspect.Inspector, name string) string {
	s := "index " + name + " added"
	indices, err := i.Indices(ctx)
	at := slices.IndexFunc(indices, func(v inspect.IndexVitals) bool { return v.Name == name })
	if err != nil || at < 0 {
		return s
	}
	v := &indices[at]
	s += ": " + count(v.Buckets, "bucket", "buckets")
	if v.Errors > 0 {
		all := 0
		if vitals, err := i.Snapshot(ctx); err == nil {
			all = vitals.Store.Objects
		}
		s += ", " + failing(v.Errors, all, v.LastError)
	}
	return s
}

func runVerify(m *Model, args []word) (tea.Cmd, error) {
	w, err := one(args, "the name of an index")
	if err != nil {
		return nil, err
	}
	if names := completeIndex(m, nil); !slices.Contains(names, w.text) {
		return nil, w.fault("no index " + strconv.Quote(w.text) + didYouMean(w.text, names))
	}
	return m.screens[screenIndices].(*indicesScreen).verify(w.text), nil
}

// verified says what came of computing an index anew.
func verified(c *inspect.IndexCheck) string {
	s := fmt.Sprintf("%s: %s computed anew in %s, ", c.Index, count(c.Objects, "object", "objects"), duration(c.Took))
	switch {
	case c.Wrong == 0 && c.Failed == 0:
		return s + "all in their buckets"
	case c.Wrong == 0:
		return s + failing(c.Failed, c.Objects, c.FailedError)
	}
	s += number(c.Wrong) + " in the wrong buckets"
	if len(c.Examples) > 0 {
		e := &c.Examples[0]
		s += ", such as " + e.Key + ": in " + buckets(e.Indexed) + ", now " + buckets(e.Now)
	}
	return s
}

func buckets(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(values, " ")
}

func runHandlerAdd(m *Model, args []word) (tea.Cmd, error) {
	if len(args) < 2 {
		return nil, missing("a name and how long each call takes, as in slow 5ms")
	}
	s := inspect.HandlerSpec{Name: args[0].text}
	var err error
	if s.Delay, err = parseDuration(args[1]); err != nil {
		return nil, err
	}
	switch rest := args[2:]; {
	case len(rest) == 0:
	case rest[0].text != "resync" || len(rest) > 2:
		return nil, rest[0].fault("only resync and a period may follow")
	case len(rest) == 1:
		return nil, missing("a period as in 30s")
	default:
		if s.Resync, err = parsePeriod(rest[1]); err != nil {
			return nil, err
		}
	}
	return m.change(nil, func(ctx context.Context, i inspect.Inspector, c inspect.Controls) (string, error) {
		before, err := i.Snapshot(ctx)
		if err == nil {
			err = c.AddHandler(ctx, s)
		}
		if err != nil {
			return "", err
		}
		now, err := i.Snapshot(ctx)
		if err != nil {
			return "handler " + s.Name + " added", nil // what it has become nobody says
		}
		return joined(s, before.Listeners, &now), nil
	}), nil
}

// joined says what has become of a handler that was added: how it is called, and
// which period it was granted.
func joined(s inspect.HandlerSpec, before []inspect.ListenerVitals, now *inspect.Snapshot) string {
	for i := range now.Listeners {
		l := &now.Listeners[i]
		if slices.ContainsFunc(before, func(b inspect.ListenerVitals) bool { return b.Name == l.Name }) {
			continue
		}
		said := "handler " + l.Name + " added"
		if l.Name != s.Name {
			said += ": there is a " + s.Name + " already"
		}
		if s.Resync > 0 && l.ResyncGranted != s.Resync {
			said += "; it asked for a resync every " + period(s.Resync) + " and was granted " + period(l.ResyncGranted) + grantReason(now, l)
		}
		return said
	}
	return "handler " + s.Name + " added"
}

func runHandlerRemove(m *Model, args []word) (tea.Cmd, error) {
	w, err := one(args, "the name of a handler")
	if err != nil {
		return nil, err
	}
	if err := m.removable(w); err != nil {
		return nil, err
	}
	return m.control("handler "+w.text+" removed", func(ctx context.Context, c inspect.Controls) error { return c.RemoveHandler(ctx, w.text) }), nil
}

// removable returns a fault that says what can be removed, if w names no handler that
// was added here.
func (m *Model) removable(w word) error {
	var names []string
	known := false
	for _, l := range m.snapshot().Listeners {
		if l.Lab && l.Name == w.text {
			return nil
		}
		if l.Lab {
			names = append(names, l.Name)
		}
		known = known || l.Name == w.text
	}
	what := "no handler " + strconv.Quote(w.text)
	if known {
		what = w.text + " was not added here"
	}
	if len(names) == 0 {
		return w.fault(what + "; :handler add makes one that can be removed")
	}
	slices.Sort(names)
	return w.fault(what + "; can be removed: " + alternatives(names))
}
