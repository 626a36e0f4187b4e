package tui

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestASearchIgnoresCase(t *testing.T) {
	for _, c := range []struct {
		text, s string
		want    int
	}{
		{"node", "  nodeName: a", 2},
		{"NODE", "  nodeName: a", 2},
		{"name:", "nodeName: a", 4},
		{"a", "", -1},
		{"", "a", -1},
		{"aab", "aaab", 1},
		{"z", "a", -1},
		{"Größe", "die GRÖSSE, die größe", 17},
		{"ÄRGER", "kein ärger", 5},
		{"k", "\u212a is a kelvin sign, k", 9}, // in lower case it is shorter
		{"İ", "İstanbul", 0},
	} {
		n := newNeedle(c.text)
		if got := n.in(c.s); got != c.want {
			t.Errorf("%q is in %q at %d, want %d", c.text, c.s, got, c.want)
		}
	}
}

// TestASearchFindsTheFirst: what is found is equal but for its case, and nothing
// before it is.
func TestASearchFindsTheFirst(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("aAbB-é世İß")))
	rapid.Check(t, func(t *rapid.T) {
		n, s := newNeedle(text.Draw(t, "text")), text.Draw(t, "s")
		got := n.in(s)
		if got >= 0 && !strings.EqualFold(s[got:got+len(n.text)], n.text) {
			t.Fatalf("%q is found in %q at %d", n.text, s, got)
		}
		if n.text == "" || !utf8.ValidString(s) || !plain(n.text) {
			return
		}
		for at := range s {
			if at != got && (got < 0 || at < got) && at+len(n.text) <= len(s) && plain(s[at:at+len(n.text)]) && strings.EqualFold(s[at:at+len(n.text)], n.text) {
				t.Fatalf("%q is found in %q at %d, and is at %d", n.text, s, got, at)
			}
		}
	})
}

func TestASearchThatFindsNothingIsNotDoneAgain(t *testing.T) {
	lines, looked := []string{"alpha", "beta", "Gamma"}, 0
	line := func(i int) string { looked++; return lines[i] }
	v := textView{}
	for _, c := range []struct {
		text            string
		matches, looked int
	}{{"a", 3, 3}, {"am", 1, 3}, {"amx", 0, 3}, {"amxy", 0, 0}, {"amxyz", 0, 0}, {"am", 1, 3}, {"x", 0, 3}, {"y", 0, 3}, {"", 0, 0}, {"b", 1, 3}} {
		looked = 0
		v.searchOn(c.text, len(lines), line)
		if v.matches != c.matches || looked != c.looked || v.search != c.text || v.needle.in("xx"+c.text) != 2 && c.text != "" && c.text != "x" {
			t.Errorf("%q: %d lines have it, %d were looked at; want %d and %d", c.text, v.matches, looked, c.matches, c.looked)
		}
	}
}

func TestASearchOfLinesAllocatesNothing(t *testing.T) {
	n := newNeedle("Value")
	if got := testing.AllocsPerRun(100, func() { n.in("  Name: a Long line of Some Value") }); got != 0 {
		t.Errorf("a line costs %v allocations", got)
	}
}
