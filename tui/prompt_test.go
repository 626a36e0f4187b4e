package tui

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A line may be as long as what is pasted, and it is drawn with every frame: to
// measure it once for each of its characters would take a second.
func TestDrawingALongLineMeasuresItAFewTimes(t *testing.T) {
	p := newPrompt("/", "", strings.Repeat("日本é", typedLimit))
	text := p.input.Value()
	once := testing.AllocsPerRun(10, func() { width(clean(text)) })
	got := testing.AllocsPerRun(10, func() { p.scrolled(80) })
	if most := 20 * (once + 1); got > most {
		t.Errorf("got %v allocations, and %v to measure the line once; want at most %v", got, once, most)
	}
}

func TestALineThatIsTooLongIsShownAroundItsCursor(t *testing.T) {
	const text = "ab日本é👩‍👩‍👧‍👦x\u202ey日👍🏽z"
	for typed := range len(text) + 1 {
		if !utf8.ValidString(text[:typed]) {
			continue
		}
		p := newPrompt("/", "", "")
		p.input.SetValue(text[:typed] + "after")
		p.input.SetCursor(utf8.RuneCountInString(text[:typed]))
		for room := range 20 {
			start, cursor := p.scrolled(room)
			if shown := width(clean(text[start:typed])); cursor != shown || cursor > max(room-1, 0) {
				t.Errorf("%q in %d cells: got the cursor at %d, %d cells behind the start at byte %d", text[:typed], room, cursor, shown, start)
			}
			if room > 0 && start > 0 {
				_, n := utf8.DecodeLastRuneInString(text[:start])
				if more := width(clean(text[start-n : typed])); more <= room-1 {
					t.Errorf("%q in %d cells: begins at byte %d, the character before would fit", text[:typed], room, start)
				}
			}
		}
	}
}
