package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// commandLine is the prompt in which commands are typed: it completes them, and
// remembers the lines that were.
//
//	tab             completes what all candidates have in common, then goes through them
//	up, down        the lines before
//	a line above    the candidates, or how the command is written
type commandLine struct {
	m     *Model
	p     *prompt
	older int    // lines back from the newest; 0 is what is being typed
	draft string // what was being typed, while an older line is shown

	// cycle holds the candidates that tab goes through, while it does.
	cycle []string
	at    int // the one that stands in the line
	from  int // byte where it begins
}

// askCommand lets the user type a command.
func (m *Model) askCommand(text string) {
	p := newPrompt(":", "a command, or a resource such as pods -n kube-system", text)
	c := &commandLine{m: m, p: p}
	p.accept = func(line string) (tea.Cmd, error) {
		cmd, err := m.execute(line)
		return tea.Batch(m.remember(line), cmd), err
	}
	p.change = func(string) { c.cycle = nil }
	p.press = c.press
	p.above = c.above
	m.names = map[NameKind][]string{} // they may have changed
	m.prompt = p
}

func (c *commandLine) press(a Action) bool {
	switch a {
	case ActionComplete:
		c.complete(1)
	case ActionCompleteBack:
		c.complete(-1)
	case ActionOlder:
		c.recall(1)
	case ActionNewer:
		c.recall(-1)
	default:
		return false
	}
	return true
}

// recall shows the n-th line before the one shown.
func (c *commandLine) recall(n int) {
	lines := c.m.typedLines
	at := c.older + n
	if at < 0 || at > len(lines) {
		return
	}
	if c.older == 0 {
		c.draft = c.p.input.Value()
	}
	if c.older = at; at == 0 {
		c.p.set(c.draft)
		return
	}
	c.p.set(lines[len(lines)-at])
}

// complete completes the word being typed as far as that is clear, and then goes
// through what it may be.
func (c *commandLine) complete(step int) {
	text := c.p.input.Value()
	if c.cycle != nil {
		c.at = (c.at + step + len(c.cycle)) % len(c.cycle)
		c.insert(c.cycle[c.at], "")
		return
	}
	from, candidates := c.m.candidates(text)
	switch len(candidates) {
	case 0:
		return
	case 1:
		c.from = from
		c.insert(candidates[0], " ")
		c.cycle = nil
		return
	}
	c.from = from
	if common := commonPrefix(candidates); len(common) > len(text)-from {
		c.insert(common, "")
		return
	}
	c.cycle = candidates
	if c.at = 0; step < 0 {
		c.at = len(candidates) - 1
	}
	c.insert(c.cycle[c.at], "")
}

// insert writes a candidate in place of the word being typed.
func (c *commandLine) insert(candidate, after string) {
	cycle := c.cycle
	if strings.ContainsAny(candidate, ` "'`) {
		candidate = `"` + strings.ReplaceAll(candidate, `"`, "") + `"`
	}
	c.p.set(c.p.input.Value()[:c.from] + candidate + after)
	c.cycle = cycle
}

func commonPrefix(words []string) string {
	common := words[0]
	for _, w := range words[1:] {
		n := 0
		for n < min(len(common), len(w)) && common[n] == w[n] {
			n++
		}
		common = common[:n]
	}
	return strings.ToValidUTF8(common, "")
}

// candidates returns what the word being typed at the end of a line may be, and
// the byte at which that word begins.
func (m *Model) candidates(line string) (from int, names []string) {
	words := plainWords(line)
	from = len(line)
	if n := len(words); n > 0 && words[n-1].to == len(line) {
		from = words[n-1].from
		words = words[:n-1]
	}
	typed := line[from:]
	all := commands()
	var options []string
	switch c, n := findCommand(all, words); {
	case c != nil && c.raw && len(words) > n:
	case c != nil && c.complete != nil:
		options = c.complete(m, words[n:])
	case c == nil && len(words) == 0:
		options = append(commandNames(), m.named(NamesOfResources)...)
		if typed == "" {
			return from, nil // everything: no help
		}
	case c == nil:
		if options = second(all, words[0].text); len(options) == 0 {
			options = m.targetWords(words)
		}
	}
	if c, n := findCommand(all, words); c != nil && n == 1 && len(words) == 1 {
		options = append(second(all, words[0].text), options...)
	}
	return from, matching(typed, options)
}

// matching returns the options that begin with what was typed, each once.
func matching(typed string, options []string) []string {
	var out []string
	for _, o := range options {
		if strings.HasPrefix(strings.ToLower(o), strings.ToLower(typed)) && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// targetWords returns what may follow a resource: a flag, its value, or another
// resource.
func (m *Model) targetWords(before []word) []string {
	switch before[len(before)-1].text {
	case "-n", "--namespace":
		return m.named(NamesOfNamespaces)
	case "--context":
		return m.named(NamesOfContexts)
	case "-l", "--selector", "--field-selector":
		return nil
	}
	return append(targetFlags(), m.named(NamesOfResources)...)
}

// above draws the line above the prompt: the candidates for the word being
// typed, or how its command is written and what it does.
func (c *commandLine) above(w int) string {
	t := c.m.theme
	line := c.p.input.Value()
	candidates, picked := c.cycle, c.at
	if candidates == nil {
		_, candidates = c.m.candidates(line)
		picked = -1
	}
	if len(candidates) == 1 && strings.HasSuffix(line, candidates[0]) {
		candidates = nil // it stands there already
	}
	l := newLine(w).skip(1)
	if len(candidates) > 0 {
		return drawCandidates(t, l, candidates, picked).String()
	}
	if cmd, _ := findCommand(commands(), plainWords(line)); cmd != nil {
		return l.put(t.accent, cmd.usage()).put(t.muted, "   "+cmd.help).String()
	}
	if words := plainWords(line); len(words) > 0 && c.m.options.Opener != nil && len(second(commands(), words[0].text)) == 0 {
		return l.put(t.accent, resourceUsage).put(t.muted, "   "+resourceHelp).String()
	}
	if strings.TrimSpace(line) == "" {
		complete := c.m.keymap.label(ScopePrompt, ActionComplete)
		older := c.m.keymap.label(ScopePrompt, ActionOlder)
		return l.put(t.muted, complete+" completes, "+older+" brings back lines, :help lists the commands").String()
	}
	return l.String()
}

// What is no command is a resource.
const (
	resourceUsage = ":RESOURCE [-n NS|-A] [-l SELECTOR]"
	resourceHelp  = "watch another resource, as in :pods -n kube-system"
)

// drawCandidates writes as many of the names as have room, the picked one among
// them.
func drawCandidates(t *theme, l *line, names []string, picked int) *line {
	const gap = 2
	first := 0
	for at, used := 0, 0; at <= picked; at++ {
		if used += width(clean(names[at])) + gap; used > l.room()-2*gap {
			first, used = at, width(clean(names[at]))+gap
		}
	}
	if first > 0 {
		l.put(t.muted, "‹ ")
	}
	for i, n := range names[first:] {
		more := first+i < len(names)-1
		if need := width(clean(n)) + gap; need > l.room()-gap && more || need-gap > l.room() {
			return l.put(t.muted, "›")
		}
		st := t.muted
		if first+i == picked {
			st = t.tab
		}
		l.put(st, n).skip(gap)
	}
	return l
}

// linesKept is how many lines are remembered.
const linesKept = 200

// remember keeps a line for later, once.
func (m *Model) remember(line string) tea.Cmd {
	line = strings.TrimSpace(line)
	if line == "" {
		return nil
	}
	m.typedLines = slices.DeleteFunc(m.typedLines, func(l string) bool { return l == line })
	m.typedLines = append(m.typedLines, line)
	if n := len(m.typedLines); n > linesKept {
		m.typedLines = m.typedLines[n-linesKept:]
	}
	keep := m.options.Remember
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		keep(line)
		return nil
	}
}
