package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// command is something that can be asked for on the command line. commands
// returns all of them: the line, its completion, the help and informeter keys are
// made from that.
type command struct {
	// name is one word or two.
	name string
	// args is how its arguments are written, help what it does.
	args, help string
	// alias is another name for it, short; may be empty.
	alias string
	// raw: what follows the name is one argument, with spaces and quotes as they
	// are.
	raw bool
	// complete returns what the argument being typed may be, the ones before it
	// given; nil if that is anybody's guess.
	complete func(m *Model, before []word) []string
	run      func(m *Model, args []word) (tea.Cmd, error)
}

// CommandHelp is how a command is written and what it does.
type CommandHelp struct{ Usage, Help string }

// Commands returns every command of the command line.
func Commands() []CommandHelp {
	all := []CommandHelp{{resourceUsage, resourceHelp}}
	for _, c := range commands() {
		all = append(all, CommandHelp{c.usage(), c.help})
	}
	return all
}

func (c *command) usage() string {
	usage := ":" + c.name
	if c.args != "" {
		usage += " " + c.args
	}
	return usage
}

// word is a word of a command line and where it stands there, in bytes. Its text
// has no quotes.
type word struct {
	text     string
	from, to int
}

func (w word) fault(what string) *fault { return &fault{w.from, w.to, what} }

// split returns the words of a command line. Spaces inside quotes do not part
// them; a backslash does nothing special, so that expressions need none.
func split(line string) ([]word, error) {
	var words []word
	var text strings.Builder
	quote, from := byte(0), -1
	for i := range len(line) {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			text.WriteByte(c)
		case c == '"' || c == '\'':
			quote = c
			if from < 0 {
				from = i
			}
		case c == ' ':
			if from >= 0 {
				words = append(words, word{text.String(), from, i})
				text.Reset()
				from = -1
			}
		default:
			if from < 0 {
				from = i
			}
			text.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, &fault{from, len(line), "the quote " + string(quote) + " is not closed"}
	}
	if from >= 0 {
		words = append(words, word{text.String(), from, len(line)})
	}
	return words, nil
}

// findCommand returns the command that words begin with and how many of them are
// its name: the longest one.
func findCommand(all []command, words []word) (c *command, n int) {
	for n := min(len(words), 2); n > 0; n-- {
		name := words[0].text
		if n == 2 {
			name += " " + words[1].text
		}
		for i := range all {
			if all[i].name == name || all[i].alias == name && name != "" {
				return &all[i], n
			}
		}
	}
	return nil, 0
}

// second returns the words that may follow one that is only half a name.
func second(all []command, first string) []string {
	var out []string
	for i := range all {
		if a, b, two := strings.Cut(all[i].name, " "); two && a == first {
			out = append(out, b)
		}
	}
	return out
}

// execute does what a line asks for. Its error is a *fault if the line is wrong.
func (m *Model) execute(line string) (tea.Cmd, error) {
	words, err := split(line)
	all := commands()
	if c, n := findCommand(all, plainWords(line)); c != nil && c.raw {
		// Its argument is not split, so an open quote is no fault.
		return c.run(m, []word{rest(line, n)})
	}
	if err != nil || len(words) == 0 {
		return nil, err
	}
	c, n := findCommand(all, words)
	if c != nil {
		return c.run(m, words[n:])
	}
	if more := second(all, words[0].text); len(more) > 0 {
		if len(words) == 1 {
			return nil, words[0].fault(words[0].text + " what? " + alternatives(more))
		}
		return nil, words[1].fault("no " + strconv.Quote(words[0].text+" "+words[1].text) + "; there is " + alternatives(more))
	}
	return m.openNamed(line, words)
}

// plainWords splits a line at spaces only.
func plainWords(line string) []word {
	var words []word
	at := 0
	for _, f := range strings.Fields(line) {
		from := at + strings.Index(line[at:], f)
		at = from + len(f)
		words = append(words, word{f, from, at})
	}
	return words
}

// rest returns what follows the first n words of a line, as one word.
func rest(line string, n int) word {
	words := plainWords(line)
	if len(words) <= n {
		return word{"", len(line), len(line)}
	}
	from := words[n].from
	text := strings.TrimRight(line[from:], " ")
	return word{text, from, from + len(text)}
}

func alternatives(names []string) string {
	switch len(names) {
	case 0:
		return "none"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// near returns the few candidates that may have been meant by name, the nearest
// first.
func near(name string, candidates []string) []string {
	const most = 3
	type scored struct {
		name  string
		score int
	}
	var found []scored
	low := strings.ToLower(name)
	for _, c := range candidates {
		lower := strings.ToLower(c)
		d := distance(low, lower)
		switch {
		case low != "" && strings.HasPrefix(lower, low):
			d = min(d, 1)
		case d > max(len(low)/3, 1):
			continue
		}
		found = append(found, scored{c, d})
	}
	slices.SortStableFunc(found, func(a, b scored) int { return a.score - b.score })
	var out []string
	for _, f := range found[:min(len(found), most)] {
		out = append(out, f.name)
	}
	return out
}

// distance is how many letters have to be changed, added, left out or swapped
// with their neighbour to make a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, next := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		next[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			next[j+1] = min(last[j+1]+1, next[j]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(y)]
}

// didYouMean is the end of an error about a name that is not there.
func didYouMean(name string, candidates []string) string {
	if n := near(name, candidates); len(n) > 0 {
		return "; did you mean " + alternatives(n) + "?"
	}
	return ""
}
