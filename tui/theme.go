package tui

import (
	"image/color"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
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
	// tab is the current screen's name, tabWarn a warning's mark in it, paused the
	// word PAUSED.
	tab, tabWarn, paused style
	// match is what a filter found in a row; it is laid over the row's own style.
	match style
	// fault is the part of a typed line that is wrong.
	fault style
}

const reset = "\x1b[m"

// newTheme returns the theme for a dark or a light background, in full colour.
func newTheme(dark bool) *theme { return themeFor(dark, colorprofile.TrueColor) }

// themeFor returns the theme for a background and for what the terminal can show.
// With 16 colours or none, the selected row is reversed: there is no shade for it
// that every terminal has.
//
// The colours are told apart by those who do not see red or green, too: what is
// good is a bluish green and what is bad a dark or an orange red, and a test
// holds that. See TestColoursAreToldApart.
func themeFor(dark bool, p colorprofile.Profile) *theme {
	switch {
	case p < colorprofile.ANSI:
		return palette{flat: true}.theme()
	case p == colorprofile.ANSI && dark:
		return palette{
			flat: true, muted: "7", faint: "8", accent: "14", ok: "10", warn: "11", bad: "9",
			updated: "14", replaced: "13", synced: "6",
		}.theme()
	case p == colorprofile.ANSI:
		return palette{
			flat: true, muted: "8", faint: "8", accent: "4", ok: "2", warn: "5", bad: "1",
			updated: "4", replaced: "5", synced: "6",
		}.theme()
	case p == colorprofile.ANSI256 && dark:
		return dark256().theme()
	case p == colorprofile.ANSI256:
		return light256().theme()
	case dark:
		return darkPalette().theme()
	}
	return lightPalette().theme()
}

func darkPalette() palette {
	return palette{
		muted: "#99a2ad", faint: "#737b86", accent: "#4fa3ff",
		ok: "#46e0ae", warn: "#f2c038", bad: "#f56f57",
		updated: "#4fa3ff", replaced: "#dcb0f5", synced: "#a9bccd",
		selected: "#1f3a57", idle: "#2a2f37",
	}
}

func lightPalette() palette {
	return palette{
		muted: "#57606a", faint: "#7d858e", accent: "#1256a8",
		ok: "#00756b", warn: "#7d5c00", bad: "#8c0038",
		updated: "#1256a8", replaced: "#4b2fb8", synced: "#46586a",
		selected: "#d6e7fb", idle: "#e4e8ec",
	}
}

// With 256 colours the nearest ones would have other hues: these are chosen.
func dark256() palette {
	return palette{
		muted: "248", faint: "243", accent: "75",
		ok: "79", warn: "221", bad: "209",
		updated: "75", replaced: "225", synced: "152",
		selected: "237", idle: "235",
	}
}

func light256() palette {
	return palette{
		muted: "240", faint: "244", accent: "25",
		ok: "23", warn: "94", bad: "88",
		updated: "25", replaced: "56", synced: "239",
		selected: "189", idle: "254",
	}
}

// palette is a theme's colours: "#rrggbb", or the number of one of the 256, of
// which the first 16 are the terminal's own. Empty is its usual one.
type palette struct {
	muted, faint, accent      string
	ok, warn, bad             string
	updated, replaced, synced string
	selected, idle            string
	// flat: rows stand out without a background of their own.
	flat bool
}

func colorOf(text string) color.Color {
	if n, err := strconv.ParseUint(text, 10, 8); err == nil {
		if n < 16 {
			return ansi.BasicColor(n)
		}
		return ansi.IndexedColor(n)
	}
	return ansi.XParseColor(text)
}

const reversed style = "\x1b[7m"

func (p palette) theme() *theme {
	fg := func(text string) style {
		if text == "" {
			return ""
		}
		return style(ansi.Style{}.ForegroundColor(colorOf(text)).String())
	}
	bold := style(ansi.Style{}.Bold().String())
	underline := style(ansi.Style{}.Underline(true).String())
	selected, idle := reversed+bold, underline
	if !p.flat {
		selected = style(ansi.Style{}.BackgroundColor(colorOf(p.selected)).String()) + bold
		idle = style(ansi.Style{}.BackgroundColor(colorOf(p.idle)).String())
	}
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

		selected: selected,
		idle:     idle,
		tab:      fg(p.accent) + bold + reversed,
		tabWarn:  fg(p.warn) + bold + reversed,
		paused:   fg(p.warn) + bold + reversed,
		fault:    fg(p.bad) + underline,
		match:    fg(p.warn) + underline,
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
