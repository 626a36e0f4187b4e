package tui

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestNoNumberIsCutByTheColumns: what stands in front of the list of columns is
// whole, or says that it is not.
func TestNoNumberIsCutByTheColumns(t *testing.T) {
	number := regexp.MustCompile(`[0-9][0-9,.%a-zA-Z]*$`)
	for _, screen := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		for w := 60; w <= 200; w++ {
			u := newUser(t, newFake(500).written().waiting(60).requested(40), w, 30).press(screen)
			under := strings.Split(u.sees(), "\n")
			if u.press("w"); u.m.columns == nil {
				break
			}
			for y, l := range strings.Split(u.sees(), "\n") {
				cut, _, found := strings.Cut(l, "│")
				if !found || width(cut) != w-columnsWidth {
					continue
				}
				rest := ansi.Cut(under[y], width(cut), w)
				if cell := number.FindString(cut); cell != "" && !strings.HasPrefix(rest, " ") && strings.ContainsAny(rest[:1], "0123456789,.%") {
					t.Errorf("screen %s at %d columns: %q of %q", screen, w, cell, under[y])
				}
			}
		}
	}
}

// TestWordsAreWholeBeforeACell in lines with styles and wide characters.
func TestWordsAreWholeBeforeACell(t *testing.T) {
	th := newTheme(true)
	for _, c := range []struct {
		drawn string
		x     int
		want  string
	}{
		{"ab 12,345 c", 5, "ab   "},
		{"ab 12,345 c", 9, "ab 12,345"},
		{"ab 12,345▼ c", 9, "ab 12,345"},
		{"ab 12,345 c", 3, "ab "},
		{"ab 12,345", 0, ""},
		{"ns/a-long-name-of-a-pod c", 6, "ns/a-…"},
		{"世界 世界界界 c", 6, "世界  "},
		{"世界世界世界世界", 6, "世界世"},
		{"世界世界世界世界", 7, "世界世…"},
		{newLine(20).put(th.ok, "12").put(th.warn, "345").put("", " x").String(), 3, "   "},
	} {
		got := ansi.Strip(newLine(c.x).slice(wholeBefore(c.drawn, c.x), 0).String())
		if got != c.want {
			t.Errorf("%q before cell %d: %q, want %q", ansi.Strip(c.drawn), c.x, got, c.want)
		}
	}
}
