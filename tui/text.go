package tui

import (
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/informeter/informeter/engine/inspect"
)

// width returns how many cells the clean text s takes.
func width(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

const ellipsis = "…"

// cut returns the clean text s in at most w cells, with an ellipsis at the end
// if something is missing.
func cut(s string, w int) string {
	if width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(s, w, ellipsis)
}

// cutKey returns the clean key s in at most w cells, with the ellipsis inside:
// the end of a key is what tells neighbours apart.
func cutKey(s string, w int) string {
	head, middle, tail := splitKey(s, w)
	return head + middle + tail
}

// splitKey returns the beginning and the end of the clean key s that fit into w
// cells, and the ellipsis between them; all of s as head if it fits.
func splitKey(s string, w int) (head, middle, tail string) {
	total := width(s)
	switch {
	case total <= w:
		return s, "", ""
	case w <= 0:
		return "", "", ""
	case w < 8:
		return ansi.Truncate(s, w-1, ""), ellipsis, ""
	}
	end := (w - 1) / 2
	return ansi.Truncate(s, w-1-end, ""), ellipsis, ansi.TruncateLeft(s, total-end, "")
}

// wrap breaks the clean text s into at most n lines of at most w cells, between
// words where it can. If that is not enough the last line is the end of s: errors
// name their cause there.
func wrap(s string, w, n int) []string {
	if w <= 0 || n <= 0 {
		return nil
	}
	lines := strings.Split(ansi.Wrap(s, w, ""), "\n")
	if len(lines) <= n {
		return lines
	}
	end := lines[len(lines)-1]
	if more := width(end) + 2 - w; more > 0 {
		end = ansi.TruncateLeft(end, more, "")
	}
	return append(lines[:n-1:n-1], ellipsis+" "+end)
}

// number writes a count with thousands separators.
func number[T int | int64 | uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	start := len(s) % 3
	if n < 0 {
		start = (len(s)-1)%3 + 1
	}
	var b strings.Builder
	for i, c := range []byte(s) {
		if i > 0 && i%3 == start%3 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// rate writes how many a second, without the unit.
func rate(r float64) string {
	switch {
	case r < 0.05:
		return "0"
	case r < 9.95:
		return strconv.FormatFloat(r, 'f', 1, 64)
	}
	return number(int64(r + 0.5))
}

// percent writes part of whole, rounded: shares of a whole come to about 100. It
// is rounded to all or nothing only where it is that.
func percent[T int | uint64](part, whole T) string {
	if whole == 0 {
		return "0%"
	}
	p := float64(part) / float64(whole) * 100
	switch {
	case part > 0 && p < 0.5:
		return "<1%"
	case part < whole && p >= 99.5:
		return "99%"
	}
	return strconv.Itoa(int(p+0.5)) + "%"
}

// count writes n and its noun.
func count[T int | uint64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// duration writes d in at most six characters.
func duration(d time.Duration) string { return inspect.Duration(d) }

func tenths(d, unit time.Duration) string {
	t := int(d / (unit / 10))
	return strconv.Itoa(t/10) + "." + strconv.Itoa(t%10)
}

// since writes how long ago t was, and a dash if it has not been.
func since(now, t time.Time) string {
	if t.IsZero() {
		return dash
	}
	return age(now.Sub(t))
}

// age writes d in whole seconds: ages that count in tenths would flicker.
func age(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.Itoa(int(max(d, 0)/time.Second)) + "s"
	}
	return duration(d)
}

const dash = "–"

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
