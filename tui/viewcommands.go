package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// viewCommands change what is in sight and nothing else.
func viewCommands() []command {
	return []command{
		{name: "goto", args: "KEY", raw: true, help: "select a key of the store, or the first one after it", run: func(m *Model, args []word) (tea.Cmd, error) {
			if args[0].text == "" {
				return nil, missing("a key such as default/web-0")
			}
			m.goTo(args[0].text)
			return nil, nil
		}},
		{name: "uid", args: "UID", help: "the biography of the key that an object with this UID has or had", run: func(m *Model, args []word) (tea.Cmd, error) {
			w, err := one(args, "a UID")
			if err == nil {
				m.openUID(w.text)
			}
			return nil, err
		}},
		{name: "filter", args: "[TEXT]", raw: true, help: "keep the rows of these keys; nothing keeps all", run: runFilter},
		{name: "sort", args: "COLUMN", help: "sort by a column, or the other way round", complete: completeSort, run: runSort},
		{name: "columns", args: "[[+|-]NAME...]", help: "choose columns: show or hide some, or only these", complete: completeColumns, run: runColumns},
		{name: "save", args: "FILE", raw: true, help: "write what is on the screen to a file", run: func(m *Model, args []word) (tea.Cmd, error) {
			if args[0].text == "" {
				return nil, missing("the name of a file")
			}
			return m.save(args[0].text), nil
		}},
		{name: "log", help: "what client-go has logged", run: func(m *Model, _ []word) (tea.Cmd, error) {
			if m.options.Log == nil {
				return nil, &fault{what: "nothing is logged here"}
			}
			m.openOverlay(newLogScreen(m))
			return nil, nil
		}},
		{name: "keys", help: "every key", run: func(m *Model, _ []word) (tea.Cmd, error) {
			m.openHelp("")
			return nil, nil
		}},
		{name: "help", alias: "h", help: "every command", run: func(m *Model, _ []word) (tea.Cmd, error) {
			m.openHelp(helpCommands)
			return nil, nil
		}},
		{name: "quit", alias: "q", help: "quit", run: func(*Model, []word) (tea.Cmd, error) { return tea.Quit, nil }},
	}
}

func runFilter(m *Model, args []word) (tea.Cmd, error) {
	f, ok := m.top().(filtered)
	if !ok {
		return nil, &fault{what: "this screen has nothing to filter"}
	}
	w := args[0]
	if _, searches := f.(searcher); !searches {
		if wrong := m.badFilter(f, w.text); wrong != nil {
			return nil, &fault{w.from, w.to, wrong.what}
		}
	}
	m.keepFilter(f)
	f.setFilter(w.text)
	return nil, nil
}

// tableInSight returns the table on the screen and its columns; nil if there is
// none.
func (m *Model) tableInSight() (*table, []column) {
	if t, ok := m.page().(tabled); ok {
		return t.tableShown()
	}
	return nil, nil
}

// columnName is what a column is called on the command line: its title, in lower
// case and one word.
func columnName(c *column) string {
	title, _, _ := strings.Cut(strings.ToLower(c.title), ",")
	return strings.ReplaceAll(title, " ", "-")
}

// columnNames returns the names of the columns that keep says, and those columns.
func columnNames(columns []column, keep func(*column) bool) (names []string, kept []*column) {
	for i := range columns {
		if c := &columns[i]; c.title != "" && keep(c) {
			names, kept = append(names, columnName(c)), append(kept, c)
		}
	}
	return names, kept
}

func sortable(c *column) bool { return c.by != "" }

func anyColumn(*column) bool { return true }

func completeSort(m *Model, before []word) []string {
	if len(before) > 0 {
		return nil
	}
	_, columns := m.tableInSight()
	names, _ := columnNames(columns, sortable)
	return names
}

func runSort(m *Model, args []word) (tea.Cmd, error) {
	w, err := one(args, "the name of a column")
	if err != nil {
		return nil, err
	}
	t, columns := m.tableInSight()
	names, kept := columnNames(columns, sortable)
	if len(names) == 0 {
		return nil, &fault{what: "this screen has nothing to sort"}
	}
	i := named(names, w.text)
	if i < 0 {
		return nil, w.fault("no column " + strconv.Quote(w.text) + " to sort by; there is " + alternatives(names))
	}
	t.sortBy(kept[i])
	m.top().refresh(m.frame) // rows that are all here change at once
	return nil, nil
}

// named returns which of the names is meant by text: the one that it is, or the
// only one that begins with it; -1 if none is, or several are.
func named(names []string, text string) int {
	text = strings.ToLower(text)
	if i := slices.Index(names, text); i >= 0 {
		return i
	}
	found := -1
	for i, n := range names {
		if strings.HasPrefix(n, text) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

func completeColumns(m *Model, before []word) []string {
	_, columns := m.tableInSight()
	names, _ := columnNames(columns, anyColumn)
	out := slices.Clone(names)
	for _, n := range names {
		out = append(out, "+"+n, "-"+n)
	}
	return slices.DeleteFunc(out, func(n string) bool {
		return slices.ContainsFunc(before, func(w word) bool { return w.text == n })
	})
}

// runColumns lets the user choose, or shows and hides what is named.
func runColumns(m *Model, args []word) (tea.Cmd, error) {
	t, columns := m.tableInSight()
	if t == nil {
		return nil, &fault{what: "this screen has no columns to choose"}
	}
	if len(args) == 0 {
		m.openColumns()
		return nil, nil
	}
	names, kept := columnNames(columns, anyColumn)
	hidden := map[string]bool{}
	for _, c := range kept {
		hidden[c.title] = t.hidden[c.title] || strings.IndexAny(args[0].text, "+-") != 0
	}
	for _, w := range args {
		name := strings.TrimLeft(w.text, "+-")
		i := named(names, name)
		if i < 0 {
			return nil, w.fault("no column " + strconv.Quote(name) + "; there is " + alternatives(names))
		}
		hidden[kept[i].title] = strings.HasPrefix(w.text, "-")
	}
	delete(hidden, columns[0].title) // it says which row it is
	t.hidden = hidden
	return nil, nil
}
