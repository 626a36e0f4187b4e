package tui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// copier is a screen on which something is selected that is worth taking along.
type copier interface {
	// copied returns what is selected and what to call it; nothing if nothing is.
	copied() (what, text string)
}

// saver is a screen that is about a text of its own, such as an object. Of the
// others what is in sight is saved.
type saver interface {
	// saved returns the text and what to call its file; nothing if there is none.
	saved() (file, text string)
}

// clipboardLimit is what terminals take at most: many drop more than that in
// silence.
const clipboardLimit = 74_000

// copy gives what is selected to the terminal's clipboard. Whether it takes it,
// no terminal says.
func (m *Model) copy() tea.Cmd {
	c, ok := m.top().(copier)
	if !ok {
		m.fail(errors.New("nothing to copy here"))
		return nil
	}
	what, text := c.copied()
	switch {
	case text == "":
		m.fail(errors.New("nothing is selected"))
		return nil
	case len(text) > clipboardLimit:
		m.fail(fmt.Errorf("%s is too long for the clipboard of a terminal; %s saves it to a file", what, m.keymap.label(ScopeGlobal, ActionSave)))
		return nil
	}
	m.note = "copied " + what
	return tea.SetClipboard(text)
}

// savedMsg says what came of saving.
type savedMsg struct {
	file string
	text string // of a file that is there already; nothing was written
	err  error
}

// toSave returns the text to save and what to call its file.
func (m *Model) toSave() (file, text string) {
	if s, ok := m.top().(saver); ok {
		if file, text = s.saved(); text != "" {
			return fileName(file), text
		}
	}
	lines := m.top().lines()
	for i, l := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	name := strings.ToLower(m.top().name())
	return fileName(m.informer + "-" + name + ".txt"), strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// fileName makes a file's name of any text.
func fileName(s string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, s), ".-")
}

// askSave asks for the name of the file to save to.
func (m *Model) askSave() {
	file, _ := m.toSave()
	p := newPrompt("save as ", "a file", file)
	p.accept = func(name string) (tea.Cmd, error) {
		if strings.TrimSpace(name) == "" {
			return nil, missing("the name of a file")
		}
		return m.save(strings.TrimSpace(name)), nil
	}
	m.prompt = p
}

// save writes what the screen is about to a file that is not there yet.
func (m *Model) save(file string) tea.Cmd {
	_, text := m.toSave()
	return write(file, text, os.O_EXCL)
}

func write(file, text string, flag int) tea.Cmd {
	return func() tea.Msg {
		path := file
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return savedMsg{file: file, err: err}
			}
			path = filepath.Join(home, rest)
		}
		// It may hold what only its reader should see.
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o600)
		if errors.Is(err, fs.ErrExist) && flag == os.O_EXCL {
			return savedMsg{file: file, text: text}
		}
		if err != nil {
			return savedMsg{file: file, err: err}
		}
		_, err = f.WriteString(text)
		return savedMsg{file: file, err: errors.Join(err, f.Close())}
	}
}

// saved says where the text is, or asks whether to write over what was there.
func (m *Model) saved(msg savedMsg) {
	m.dirty = true
	switch {
	case msg.err != nil:
		m.fail(fmt.Errorf("save to %s: %w", msg.file, msg.err))
	case msg.text != "":
		m.askOverwrite(msg)
	default:
		m.note = "saved to " + msg.file
	}
}

func (m *Model) askOverwrite(msg savedMsg) {
	if m.prompt != nil {
		m.fail(fmt.Errorf("save to %s: it is there already", msg.file))
		return
	}
	p := newPrompt(msg.file+" is there already. Write over it? ", "yes or no", "")
	p.accept = func(answer string) (tea.Cmd, error) {
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return write(msg.file, msg.text, os.O_TRUNC), nil
		case "n", "no", "":
			m.note = "not saved"
			return nil, nil
		}
		return nil, &fault{0, len(answer), "yes or no"}
	}
	p.cancel = func() { m.note = "not saved" }
	m.prompt = p
}

// The key, name or value that is selected, on each screen.

func (p *informersScreen) copied() (what, text string) {
	row, _ := p.rows.selected()
	return row.Name, row.Name
}

func (p *pipelineScreen) copied() (what, text string) {
	if p.moments.focus {
		return p.moments.selected(), p.moments.selected()
	}
	row, _ := p.handlers.selected()
	return row.Name, row.Name
}

func (p *handlersScreen) copied() (what, text string) {
	if key := p.standing.selected(); key != "" {
		return key, key
	}
	row, _ := p.handlers.selected()
	return row.Name, row.Name
}

func (p *resyncScreen) copied() (what, text string) {
	row, _ := p.handlers.selected()
	return row.Name, row.Name
}

// copied returns a finding as one tells it to somebody else.
func (p *findingsScreen) copied() (what, text string) {
	f, ok := p.rows.selected()
	if !ok {
		return "", ""
	}
	var b strings.Builder
	b.WriteString(f.Severity.String() + ": " + f.Rule + ", informer " + clean(f.Informer) + "\n" + clean(f.Title) + "\n")
	for _, e := range f.Evidence {
		b.WriteString("- " + clean(e) + "\n")
	}
	if f.Next != "" {
		b.WriteString("next: " + clean(f.Next) + "\n")
	}
	return "the finding", b.String()
}

// copied returns all that is said of the selected request.
func (p *requestsScreen) copied() (what, text string) {
	r, ok := p.rows.selected()
	if !ok {
		return "", ""
	}
	const wide, long = 120, 40
	lines := requestDetail(p.m.theme, p.m.snapshot(), &r, wide, long)
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(ansi.Strip(l), blanks[:gutter]), " ")
	}
	return "the request", strings.Join(lines, "\n") + "\n"
}

func (p *queueScreen) copied() (what, text string) {
	row, _ := p.rows.selected()
	return row.Key, row.Key
}

func (p *storeScreen) copied() (what, text string) {
	row, _ := p.rows.selected()
	return row.Key, row.Key
}

func (p *indicesScreen) copied() (what, text string) {
	switch p.focus {
	case levelIndices:
		row, _ := p.indices.selected()
		return row.Name, row.Name
	case levelBuckets:
		row, _ := p.buckets.selected()
		return row.Value, row.Value
	}
	row, _ := p.objects.selected()
	return row.Key, row.Key
}

func (p *objectScreen) copied() (what, text string) {
	switch _, text = p.saved(); p.page {
	case pageYAML:
		return "the object", text
	case pageDiff:
		return "the diff", text
	case pageBuckets:
		b, _ := p.buckets.selected()
		return b.value, b.value
	}
	return p.key, p.key
}

// saved returns the object, folded or not, or the diff.
func (p *objectScreen) saved() (file, text string) {
	var b strings.Builder
	switch {
	case p.page == pageYAML && p.document != nil:
		for _, l := range p.document.lines {
			b.WriteString(l.text + "\n")
		}
		return p.key + ".yaml", b.String()
	case p.page == pageDiff && p.diff.shown != nil:
		for _, l := range p.diff.shown.lines {
			b.WriteString(string(l.sign) + " " + l.text + "\n")
		}
		return p.key + ".diff", b.String()
	}
	return "", ""
}
