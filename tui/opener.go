package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// Opener opens what the user asks for by name: another resource, context or
// namespace. Its methods may wait, and are called off the loop, Open by one
// command at a time.
type Opener interface {
	// Open opens what t names. What was open before stays as it is, until its
	// Close is called.
	Open(ctx context.Context, t Target) (Opened, error)
	// Names returns what the command line completes a kind of name with.
	Names(ctx context.Context, k NameKind) ([]string, error)
}

// NameKind is a kind of names that an Opener knows.
type NameKind string

// The kinds of names.
const (
	NamesOfResources  NameKind = "resource"
	NamesOfContexts   NameKind = "context"
	NamesOfNamespaces NameKind = "namespace"
	NamesOfScenarios  NameKind = "scenario"
)

// Target says what to open. What is empty stays as it was, but the selectors:
// they are those of Resources, and stay only if these do.
type Target struct {
	// Resources are what kubectl takes: pods, deployments.apps, pods/web-0.
	Resources []string
	Context   string
	Namespace string
	// AllNamespaces is instead of a namespace.
	AllNamespaces  bool
	Labels, Fields string
	// Scenario is one of the simulated cluster's, which is opened in place of a
	// real one.
	Scenario string
}

// DefaultScenario in Target.Scenario is the scenario that is opened where none is
// named.
const DefaultScenario = "-"

// Opened is what an Opener has opened.
type Opened struct {
	Process inspect.Process
	// Notice is something the user should know all the time, Sentence what there
	// is to see; both may be empty.
	Notice, Sentence string
	// Close stops it and waits for it; nil if nothing has to be done.
	Close func()
}

// openTime is how long opening something may take: a cluster that does not answer
// is no reason to wait, because its informers say so themselves.
const openTime = 30 * time.Second

// openedMsg brings what was opened, or why it was not.
type openedMsg struct {
	seq    uint64 // of the wish
	line   string // that asked for it
	what   string
	opened Opened
	err    error
	// indices says what has become of the user's; lost: one could not be added.
	indices string
	lost    bool
}

// namesMsg brings names to complete with.
type namesMsg struct {
	kind  NameKind
	names []string
}

// opening is a wish to open something that has not been answered yet.
type opening struct {
	seq    uint64
	what   string
	cancel context.CancelFunc
	line   string // to be corrected, if it can't be opened
	// presses is how many keys had been pressed when it was asked for.
	presses uint64
}

// open opens something else in place of what is looked at, which stays until
// that is there. line is what the user typed.
func (m *Model) open(what, line string, t Target) (tea.Cmd, error) {
	if m.options.Opener == nil {
		return nil, &fault{0, len(line), "nothing else can be opened here"}
	}
	m.stopOpening()
	ctx, cancel := context.WithTimeout(m.ctx, openTime)
	m.openings++
	m.opening = &opening{seq: m.openings, what: what, cancel: cancel, line: line, presses: m.presses}
	opener, seq, own := m.options.Opener, m.openings, m.own
	return func() tea.Msg {
		defer cancel()
		msg := openedMsg{seq: seq, line: line, what: what}
		if msg.opened, msg.err = opener.Open(ctx, t); msg.err == nil {
			msg.indices, msg.lost = addAgain(ctx, msg.opened.Process, own)
		}
		return msg
	}, nil
}

func (m *Model) stopOpening() {
	if m.opening != nil {
		m.opening.cancel()
		m.opening = nil
	}
}

// opened looks at what was opened.
func (m *Model) opened(msg openedMsg) tea.Cmd {
	m.dirty = true
	if m.opening == nil || m.opening.seq != msg.seq {
		return closing(msg.opened.Close) // another one has been asked for since
	}
	idle := m.opening.presses == m.presses
	m.opening = nil
	if msg.err != nil {
		m.notOpened(msg, idle)
		return nil
	}
	old, closeOld := m.source, m.close
	m.source, m.close = &source{process: msg.opened.Process}, msg.opened.Close
	m.options.Notice, m.options.Sentence = msg.opened.Notice, msg.opened.Sentence
	m.begin()
	m.note, m.failed = "now "+msg.what+msg.indices, msg.lost
	return tea.Batch(m.pullNow(), closing(func() {
		old.close()
		if closeOld != nil {
			closeOld()
		}
	}))
}

// notOpened says why something could not be opened. If no key was pressed since,
// what was typed is there again, to be corrected: else it would take the next
// keys for itself.
func (m *Model) notOpened(msg openedMsg, idle bool) {
	what := msg.err.Error()
	if words, err := split(msg.line); err == nil && len(words) > 0 && strings.Contains(what, words[0].text) {
		if n := near(words[0].text, commandNames()); len(n) > 0 {
			what = "did you mean the command " + alternatives(n) + "? Else: " + what
		}
	}
	m.note, m.failed = what, true
	if idle && m.prompt == nil && m.overlay == nil && msg.line != "" {
		m.askCommand(msg.line)
		m.prompt.fault = &fault{0, len(msg.line), what}
	}
}

func closing(f func()) tea.Cmd {
	if f == nil {
		return nil
	}
	return func() tea.Msg {
		f()
		return nil
	}
}

// begin forgets all that was known of the informers looked at, and keeps what
// the user has chosen of the screens.
func (m *Model) begin() {
	m.informer, m.summaries, m.object, m.columns, m.frozen = "", nil, nil, nil, false
	m.histories = map[string]*history{}
	m.frame = &frame{}
	m.names = map[NameKind][]string{}
	m.counts = [screenCount]tabCount{}
	m.lookout = lookout{} // what was found belongs to the source before
	m.screens[screenFindings] = newFindingsScreen(m)
	m.clear()
	m.setSizes()
}

// named returns the names of a kind that are known by now. Those that are not are
// asked for, see fetchNames.
func (m *Model) named(k NameKind) []string {
	if _, known := m.names[k]; !known && m.options.Opener != nil {
		m.wanted = append(m.wanted, k)
		m.names[k] = nil // asked for once
	}
	return m.names[k]
}

// namesTime is how long names may take: nobody waits for them.
const namesTime = 10 * time.Second

// fetchNames asks for the names that are wanted.
func (m *Model) fetchNames() tea.Cmd {
	var cmds []tea.Cmd
	for _, k := range m.wanted {
		ctx, opener := m.ctx, m.options.Opener
		cmds = append(cmds, func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, namesTime)
			defer cancel()
			names, err := opener.Names(ctx, k)
			if err != nil {
				return nil // then nothing is offered
			}
			return namesMsg{k, names}
		})
	}
	m.wanted = nil
	return tea.Batch(cmds...)
}

// openNamed opens the resources that a line names.
func (m *Model) openNamed(line string, words []word) (tea.Cmd, error) {
	first := words[0].text
	if strings.HasPrefix(first, "-") || m.options.Opener == nil {
		return nil, words[0].fault("no command " + first + didYouMean(first, commandNames()))
	}
	t, err := parseTarget(words)
	if err != nil {
		return nil, err
	}
	return m.open(t.String(), line, t)
}

// parseTarget reads resources and the flags that go with them.
func parseTarget(words []word) (Target, error) {
	var t Target
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, value, given := strings.Cut(w.text, "=")
		if !strings.HasPrefix(w.text, "-") {
			t.Resources = append(t.Resources, w.text)
			continue
		}
		if name == "-A" || name == "--all-namespaces" {
			t.AllNamespaces = true
			continue
		}
		into := t.flag(name)
		if into == nil {
			return t, w.fault("no flag " + name + "; there are " + alternatives(targetFlags()))
		}
		if !given {
			if i++; i == len(words) {
				return t, w.fault(name + " what?")
			}
			value = words[i].text
		}
		if *into = value; value == "" {
			return t, w.fault(name + " what?")
		}
	}
	if len(t.Resources) == 0 {
		return t, words[0].fault("no resource is named")
	}
	return t, nil
}

// targetFlags are the flags that may follow a resource.
func targetFlags() []string {
	return []string{"-n", "-A", "-l", "--field-selector", "--context"}
}

// flag returns where the value of a flag goes; nil if there is no such flag.
func (t *Target) flag(name string) *string {
	switch name {
	case "-n", "--namespace":
		return &t.Namespace
	case "-l", "--selector":
		return &t.Labels
	case "--field-selector":
		return &t.Fields
	case "--context":
		return &t.Context
	}
	return nil
}

// String says what t is in a few words.
func (t Target) String() string {
	parts := []string{strings.Join(t.Resources, " ")}
	add := func(what, s string) {
		if s != "" {
			parts = append(parts, what+s)
		}
	}
	add("in ", t.Namespace)
	if t.AllNamespaces {
		parts = append(parts, "in all namespaces")
	}
	add("with ", t.Labels)
	add("with ", t.Fields)
	add("of context ", t.Context)
	add("scenario ", t.Scenario)
	return strings.TrimSpace(strings.Join(parts, " "))
}
