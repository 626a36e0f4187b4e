package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// style is the escape sequence that switches an appearance on; empty is the
// terminal's own. The program's writer turns its colours into what the terminal
// can show, or leaves them out.
type style string

// theme is every appearance there is. Nothing depends on colour alone: what a
// colour says is also said by a letter, a mark or a word.
type theme struct {
	strong, muted, faint style
	accent, title        style
	ok, warn, bad        style
	// The kinds of deltas.
	added, updated, deleted, replaced, synced style
	// selected is the background of the row that keys act on, idle that of one
	// in a pane without the focus.
	selected, idle style
	// tab is the current screen's name, paused the word PAUSED.
	tab, paused style
	// match is what a filter found in a row; it is laid over the row's own style.
	match style
	// fault is the part of a typed line that is wrong.
	fault style
}

const reset = "\x1b[m"

// newTheme returns the theme for a dark or a light background.
func newTheme(dark bool) *theme {
	if dark {
		return palette{
			muted: "#8b949e", faint: "#575e69", accent: "#6cb6ff",
			ok: "#57ab5a", warn: "#daaa3f", bad: "#f47067",
			updated: "#6cb6ff", replaced: "#c49bff", synced: "#4fb8c4",
			selected: "#2b3a4f", idle: "#22272e",
		}.theme()
	}
	return palette{
		muted: "#59636e", faint: "#9aa3ad", accent: "#0a5fbf",
		ok: "#1a7f37", warn: "#8a5a00", bad: "#c21f2b",
		updated: "#0a5fbf", replaced: "#7a3fc2", synced: "#0b7285",
		selected: "#cfe3fb", idle: "#eceff2",
	}.theme()
}

// palette is a theme's colours.
type palette struct {
	muted, faint, accent      string
	ok, warn, bad             string
	updated, replaced, synced string
	selected, idle            string
}

func (p palette) theme() *theme {
	fg := func(hex string) style { return style(ansi.Style{}.ForegroundColor(ansi.XParseColor(hex)).String()) }
	bg := func(hex string) style { return style(ansi.Style{}.BackgroundColor(ansi.XParseColor(hex)).String()) }
	bold := style(ansi.Style{}.Bold().String())
	return &theme{
		strong: bold,
		muted:  fg(p.muted),
		faint:  fg(p.faint),
		accent: fg(p.accent),
		title:  fg(p.accent) + bold,
		ok:     fg(p.ok),
		warn:   fg(p.warn),
		bad:    fg(p.bad),

		added:    fg(p.ok),
		updated:  fg(p.updated),
		deleted:  fg(p.bad),
		replaced: fg(p.replaced),
		synced:   fg(p.synced),

		selected: bg(p.selected) + bold,
		idle:     bg(p.idle),
		tab:      fg(p.accent) + bold + style(ansi.Style{}.Reverse(true).String()),
		paused:   fg(p.warn) + bold + style(ansi.Style{}.Reverse(true).String()),
		fault:    fg(p.bad) + style(ansi.Style{}.Underline(true).String()),
		match:    fg(p.warn) + style(ansi.Style{}.Underline(true).String()),
	}
}

// delta returns the letter of a delta's type and its appearance.
func (t *theme) delta(kind string) (letter string, s style) {
	switch kind {
	case "Added":
		return "A", t.added
	case "Updated":
		return "U", t.updated
	case "Deleted":
		return "D", t.deleted
	case "Replaced", "ReplacedAll":
		return "R", t.replaced
	case "Sync", "SyncAll":
		return "S", t.synced
	case "Bookmark":
		return "B", t.muted
	}
	return "?", t.warn
}

// toASCII redraws a line of w cells without anything but ASCII. Each character
// keeps its width, so that everything stays in its place; what has no likeness
// becomes "?".
func toASCII(s string, w int) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for state := byte(0); s != ""; {
		cluster, cells, n, next := ansi.DecodeSequence(s, state, nil)
		s, state = s[n:], next
		r, size := utf8.DecodeRuneInString(cluster)
		like, known := asciiLikeness[r]
		switch {
		case plain(cluster) || r < ' ': // as it is, an escape sequence too
			b.WriteString(cluster)
		case r < utf8.RuneSelf:
			b.WriteString(cluster[:1] + strings.Repeat("?", max(cells-1, 0))) // without its accents
		case known && size == len(cluster):
			b.WriteByte(like)
		default:
			b.WriteString(strings.Repeat("?", cells))
		}
	}
	// Alone, a character may be wider than joined to its neighbour.
	out := ansi.Truncate(b.String(), w, "")
	return out + strings.Repeat(" ", w-ansi.StringWidth(out))
}

var asciiLikeness = map[rune]byte{
	'·': '-', '–': '-', '—': '-', '…': '~', 'µ': 'u', '×': 'x', '÷': '/',
	'●': '*', '○': 'o', '⚠': '!', '▶': '>', '▸': '>', '▲': '^', '▼': 'v', '▾': 'v', '─': '-', '━': '=', '│': '|', '├': '|', '└': '`',
	'✓': '+', '✗': 'x', '›': '>', '‹': '<', '↑': '^', '↓': 'v', '←': '<', '→': '>', '≤': '<', '≥': '>',
	'▁': '_', '▂': '.', '▃': ':', '▄': '-', '▅': '=', '▆': '+', '▇': '*', '█': '#',
	'▏': ' ', '▎': '.', '▍': ':', '▌': '-', '▋': '=', '▊': '+', '▉': '*', '░': '.',
	'❚': '|',
}
