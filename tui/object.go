package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// objectScreen shows one object as YAML, over the screen it was opened from.
type objectScreen struct {
	pane
	key      string
	unfolded bool
	document *document // the newest there was; nil until read
	err      error     // since then
	text     string    // searched for
	matches  int       // lines that have it
	top      int
	left     int
}

func newObjectScreen(m *Model, key string) *objectScreen {
	return &objectScreen{pane: pane{m: m}, key: key}
}

func (p *objectScreen) name() string { return "Object" }
func (p *objectScreen) scope() Scope { return ScopeObject }

func (p *objectScreen) ask(r *request) {
	r.object = want(objectQuery{key: p.key, unfolded: p.unfolded})
}

func (p *objectScreen) refresh(f *frame) {
	if f.request.object.query.key != p.key || !f.request.object.on {
		return
	}
	p.err = f.object.err
	if f.object.ok {
		p.document = f.object.value
		p.count()
	}
	p.scroll(0)
}

// head returns the lines above the YAML: the key, what is to be said of it, and
// the buckets it is in.
func (p *objectScreen) head(t *theme) []string {
	title := newLine(p.w).skip(gutter)
	title.key(t.title, p.key, min(width(clean(p.key)), p.w-gutter-40))
	title.skip(3)
	switch d := p.document; {
	case p.err != nil && gone(p.err) && d != nil:
		title.put(t.warn, "not in the store any more; this is its last version")
	case p.err != nil && d != nil:
		title.put(t.bad, p.err.Error())
	case d != nil:
		title.put(t.muted, "rv "+d.object.ResourceVersion)
		if d.object.Redacted {
			title.put(t.warn, "   contents hidden")
		}
	}
	lines := []string{title.String()}
	if p.document == nil {
		return append(lines, p.blank())
	}
	if indices := p.document.object.Indices; len(indices) > 0 {
		segments := []segment{seg(0, t.muted, "in")}
		for _, i := range indices {
			segments = append(segments, bucketsOf(t, i))
		}
		lines = append(lines, prose(segments, p.w, 3, gutter)...)
	}
	if n := p.document.managers; n > 0 {
		lines = append(lines, newLine(p.w).skip(gutter).put(t.faint, count(n, "entry", "entries")+" of managed fields folded away").String())
	}
	return append(lines, p.blank())
}

// bucketsOf names the buckets of one index that hold the object.
func bucketsOf(t *theme, i inspect.ObjectIndex) segment {
	parts := []part{{t.muted, i.Index + " "}}
	if len(i.Values) == 0 {
		parts = append(parts, part{t.faint, "no bucket"})
	}
	for n, v := range i.Values {
		if n > 0 {
			parts = append(parts, part{t.faint, ", "})
		}
		parts = append(parts, bucketName(t, v))
	}
	return segment{parts: parts}
}

// bucketName writes an index value; the empty one is easily overlooked.
func bucketName(t *theme, v string) part {
	if v == "" {
		return part{t.warn, `"" (empty)`}
	}
	return part{"", v}
}

func (p *objectScreen) lines() []string {
	t := p.m.theme
	lines := p.head(t)
	if p.document == nil {
		switch {
		case p.err == nil:
			return block(lines, p.w, p.h)
		case gone(p.err):
			return append(lines, message(t, p.w, p.h-len(lines), "not in the store", "It waits in the queue, or it has been deleted.")...)
		}
		return append(lines, message(t, p.w, p.h-len(lines), "it could not be read", p.err.Error())...)
	}
	for _, text := range p.document.lines[p.top:min(p.top+p.room(), len(p.document.lines))] {
		lines = append(lines, p.yaml(t, text))
	}
	return block(lines, p.w, p.h)
}

// yaml draws one line of YAML: its key apart from its value, or what was
// searched for.
func (p *objectScreen) yaml(t *theme, text string) string {
	l := newLine(p.w)
	cells := newLine(p.w + p.left).skip(gutter)
	if at := matchIn(text, p.text); at >= 0 {
		cells.put("", text[:at]).put(t.tab, text[at:at+len(p.text)]).put("", text[at+len(p.text):])
	} else if key, value, ok := strings.Cut(text, ":"); ok && (value == "" || value[0] == ' ') && !strings.ContainsAny(key, `"'{`) {
		cells.put(t.accent, key).put(t.faint, ":").put("", value)
	} else {
		cells.put("", text)
	}
	if p.left == 0 {
		return cells.String()
	}
	return l.slice(cells.String(), p.left).String()
}

// matchIn returns where text is in s, ignoring case, or -1.
func matchIn(s, text string) int {
	if text == "" {
		return -1
	}
	lower := strings.ToLower(s)
	if len(lower) != len(s) {
		return strings.Index(s, text) // its bytes would be elsewhere
	}
	return strings.Index(lower, strings.ToLower(text))
}

// room is how many lines of YAML can be seen.
func (p *objectScreen) room() int { return max(p.h-len(p.head(p.m.theme)), 1) }

func (p *objectScreen) scroll(n int) {
	if p.document != nil {
		p.top = max(min(p.top+n, len(p.document.lines)-p.room()), 0)
	}
}

func (p *objectScreen) filter() string { return p.text }

func (p *objectScreen) matchCount() int { return p.matches }

func (p *objectScreen) setFilter(text string) {
	p.text = text
	p.count()
	p.find(0, 1)
}

func (p *objectScreen) back() bool {
	if p.text == "" {
		return false
	}
	p.text = ""
	return true
}

// count counts the lines that have what is searched for.
func (p *objectScreen) count() {
	p.matches = 0
	if p.document == nil || p.text == "" {
		return
	}
	for _, l := range p.document.lines {
		if matchIn(l, p.text) >= 0 {
			p.matches++
		}
	}
}

// find scrolls to the next match from n lines after the top on, in a direction.
func (p *objectScreen) find(n, step int) {
	if p.matches == 0 {
		return
	}
	lines := len(p.document.lines)
	for i := range lines {
		at := ((p.top+n+i*step)%lines + lines) % lines
		if matchIn(p.document.lines[at], p.text) >= 0 {
			p.scroll(at - p.top)
			return
		}
	}
}

func (p *objectScreen) handle(a Action) tea.Cmd {
	const sideways = 8
	page := p.room()
	switch a {
	case ActionUp:
		p.scroll(-1)
	case ActionDown:
		p.scroll(1)
	case ActionHalfUp:
		p.scroll(-page / 2)
	case ActionHalfDown:
		p.scroll(page / 2)
	case ActionPageUp:
		p.scroll(-page)
	case ActionPageDown:
		p.scroll(page)
	case ActionTop:
		p.top, p.left = 0, 0
	case ActionBottom:
		p.scroll(1 << 30)
	case ActionLeft:
		p.left = max(p.left-sideways, 0)
	case ActionRight:
		p.left += sideways
	case ActionManagedFields:
		p.unfolded = !p.unfolded
	case ActionNextMatch:
		p.find(1, 1)
	case ActionPreviousMatch:
		p.find(-1, -1)
	}
	return nil
}

func (p *objectScreen) wheel(n int) { p.scroll(n) }

func (p *objectScreen) hints() []hint {
	fields := "managed fields"
	if p.unfolded {
		fields = "fold managed fields"
	}
	return []hint{{ActionBack, "back"}, {ActionFilter, "find"}, {ActionNextMatch, "next match"}, {ActionManagedFields, fields}}
}

func (p *objectScreen) status() string {
	if p.document == nil || len(p.document.lines) == 0 {
		return ""
	}
	n := len(p.document.lines)
	if p.text != "" {
		return count(p.matches, "line has ", "lines have ") + p.text
	}
	return "lines " + number(p.top+1) + "–" + number(min(p.top+p.room(), n)) + " of " + number(n)
}
