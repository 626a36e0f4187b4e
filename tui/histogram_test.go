package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

func TestAHistogramIsReadFromLeftToRight(t *testing.T) {
	h := newHistogram(spread(20, 2, 8, 4, 0, 0, 1), 30)
	if got := strings.Join(h.bars(2), "|"); got != "   ██             |▄▄ ██ ██       ▂▂ " {
		t.Errorf("bars are\n%s", strings.ReplaceAll(got, "|", "\n"))
	}
	lines := histogramLines(newTheme(true), &inspect.ListenerVitals{Spread: spread(20, 2, 8, 4, 0, 0, 1, 0, 9)}, 60, 10, 1)
	if got := strings.TrimRight(ansi.Strip(lines[1]), " "); got != "            1.0ms               16ms" {
		t.Errorf("the scale is %q", got)
	}
	lines = histogramLines(newTheme(true), &inspect.ListenerVitals{Spread: spread(20, 2)}, 60, 10, 1)
	if got := strings.TrimSpace(ansi.Strip(lines[1])); got != "1.0ms to 1.5ms" {
		t.Errorf("the scale of one band is %q", got)
	}
}

// TestAHistogramLosesNothing: every call is in a bar, every bar can be seen, and
// all have room.
func TestAHistogramLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Uint64Range(0, 1<<40), 1, 40).Draw(t, "counts")
		w, rows := rapid.IntRange(-1, 90).Draw(t, "width"), rapid.IntRange(1, 4).Draw(t, "rows")
		bands := spread(20, counts...)
		h := newHistogram(bands, w)
		if h.width() > max(w, 0) {
			t.Fatalf("%d cells wide, want %d at most", h.width(), w)
		}
		total, want := uint64(0), uint64(0)
		for _, n := range h.counts {
			total += n
		}
		for _, n := range counts {
			want += n
		}
		if w > 0 && total != want {
			t.Fatalf("%d calls are in bars, of %d", total, want)
		}
		lines := h.bars(rows)
		for i, n := range h.counts {
			last := []rune(lines[rows-1])[i*h.each]
			if (n > 0) != (last != ' ') {
				t.Fatalf("%d calls are drawn as %q", n, last)
			}
		}
	})
}

func TestBandsFollowEachOther(t *testing.T) {
	from := time.Duration(2)
	for i := range 70 {
		if got := placeOfBand(from); got != 2+i {
			t.Fatalf("the band from %d has place %d, want %d", from, got, 2+i)
		}
		if i%2 == 0 {
			from += from / 2
		} else {
			from = from / 3 * 4
		}
	}
}
