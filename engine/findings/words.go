package findings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/informeter/informeter/engine/inspect"
)

// longestText bounds what is quoted of errors, panics and keys, in characters.
const longestText = 300

// clean makes foreign text fit for one line: what is no text becomes a space,
// and what is too long is cut.
func clean(s string) string {
	if tidy(s) {
		return s
	}
	if len(s) > 4*longestText {
		s = s[:4*longestText] // no character is longer than four bytes
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > longestText {
		return string(runes[:longestText-1]) + "…"
	}
	return s
}

// tidy says whether s is what clean would make of it: of printable ASCII, words
// with one space between them, and short.
func tidy(s string) bool {
	if len(s) > longestText || s != "" && (s[0] == ' ' || s[len(s)-1] == ' ') {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && s[i-1] == ' ' {
			return false
		}
	}
	return true
}

// firstLine is the first line of s that says something.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return clean(line)
}

type integer interface {
	~int | ~int64 | ~uint64
}

// count writes n with thousands separated.
func count[N integer](n N) string {
	digits := strconv.FormatUint(uint64(max(n, 0)), 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// counted writes n of something, in the singular if it is one.
func counted[N integer](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// perSecond writes a rate.
func perSecond(rate float64) string {
	if rate < 10 {
		return strconv.FormatFloat(rate, 'f', 1, 64) + "/s"
	}
	return count(int64(rate+0.5)) + "/s"
}

// short writes a duration.
func short(d time.Duration) string { return inspect.Duration(d) }

// between writes a range of durations.
func between(low, high time.Duration) string {
	if l, h := short(low), short(high); l != h {
		return l + " to " + h
	}
	return short(low)
}

// percent writes part of whole.
func percent[N integer](part, whole N) string {
	if whole == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// seconds is a number of seconds as a duration, as long as one goes.
func seconds(n float64) time.Duration {
	if n >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(n * float64(time.Second))
}

// enumerate writes the first most of the words, and how many more there are.
func enumerate(words []string, most int) string {
	if n := len(words) - most; n > 0 {
		return strings.Join(words[:most], ", ") + " and " + count(n) + " more"
	}
	return strings.Join(words, ", ")
}
