package tui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean makes text from objects, errors and servers safe to draw: one line,
// without anything that a terminal obeys or that hides or reorders its
// neighbours, and of a width that every terminal agrees on. Letters of any
// script, wide ones and those with combining marks stay as they are. White space
// becomes a space, a control or an invalid byte the replacement character. What
// is invisible or turns the direction of writing is written as its code, such as
// <202e>, so that a name made to look like another one does not. Emoji are drawn
// in their plainest form: what only joins or colours them is left out, because
// terminals differ in what they make of it. For the same reason marks that take
// room of their own or join letters to one are written as their codes, see
// settle.
//
// Everything drawn passes through it, see line.
func clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := rune(-1)
	for _, r := range s { // an invalid byte comes as utf8.RuneError
		last = cleanRune(&b, r, last)
	}
	if s = b.String(); !joins(s) {
		return s
	}
	b.Reset()
	b.Grow(len(s))
	settle(s, func(_ int, drawn string) { b.WriteString(drawn) })
	return b.String()
}

// cleanRanges cleans s and says of each byte of the outcome whether it comes from
// one of the ranges of s, which are in order and apart.
func cleanRanges(s string, ranges [][2]int) (string, []bool) {
	var b strings.Builder
	var hits []bool
	last := rune(-1)
	for i, r := range s {
		for len(ranges) > 0 && i >= ranges[0][1] {
			ranges = ranges[1:]
		}
		before := b.Len()
		last = cleanRune(&b, r, last)
		for range b.Len() - before {
			hits = append(hits, len(ranges) > 0 && i >= ranges[0][0])
		}
	}
	if s = b.String(); !joins(s) {
		return s, hits
	}
	b.Reset()
	var settled []bool
	settle(s, func(from int, drawn string) {
		b.WriteString(drawn)
		for range len(drawn) {
			settled = append(settled, hits[from])
		}
	})
	return b.String(), settled
}

// cleanRune appends what is drawn for r after last, and returns the last
// character drawn.
func cleanRune(b *strings.Builder, r, last rune) rune {
	switch {
	case unicode.IsSpace(r):
		r = ' '
	case unicode.IsControl(r):
		r = utf8.RuneError
	case pictures(last) && (isSkinTone(r) || isJoiner(r)):
		return last
	case isSkinTone(r), invisible(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector):
		fmt.Fprintf(b, "<%04x>", r)
		return '>'
	default:
		if parts := apart(r); parts != "" {
			b.WriteString(parts)
			last, _ = utf8.DecodeLastRuneInString(parts)
			return last
		}
	}
	b.WriteRune(r)
	return r
}

// apart returns the same letter in another spelling if terminals that count what
// a reader takes for one character make r a part of the one before, and those
// that count characters do not; else nothing. They are the vowels AM of Thai and
// Lao, and the voicing marks that Japanese writes in half a cell.
func apart(r rune) string {
	switch r {
	case 0x0e33:
		return "\u0e4d\u0e32"
	case 0x0eb3:
		return "\u0ecd\u0eb2"
	case 0xff9e:
		return "\u309b"
	case 0xff9f:
		return "\u309c"
	}
	return ""
}

// settle cuts s into what a reader takes for one character each, and gives each
// of their parts to put, with the byte it begins at: as it is where both ways in
// which terminals count cells come to the same, and where they don't, as a code
// if it is what they differ on.
//
// They differ on marks that take room of their own and those that join two
// letters (as in most scripts of India), on half a pair of flag letters and on
// the parts of a Korean syllable that make none.
func settle(s string, put func(from int, drawn string)) {
	for at := 0; at < len(s); {
		cluster, w := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
		if r := syllable(cluster); r > 0 {
			put(at, string(r))
			at += len(cluster)
			continue
		}
		end := at + len(cluster)
		if w == ansi.StringWidthWc(cluster) && (end < len(s) || standsAlone(cluster)) {
			put(at, cluster)
			at = end
			continue
		}
		coded := true // what comes next has no letter before it to join
		for i, r := range cluster {
			drawn := string(r)
			if coded = !coded || !unicode.IsGraphic(r) || unicode.IsMark(r) || !standsAlone(drawn); coded {
				drawn = fmt.Sprintf("<%04x>", r)
			}
			put(at+i, drawn)
		}
		at += len(cluster)
	}
}

// syllable returns the Korean syllable that is spelled out in its parts as
// Unicode's arithmetic has it: initial, vowel and perhaps final; 0 if s is none.
func syllable(s string) rune {
	const initial, vowel, final, composed = 0x1100, 0x1161, 0x11a7, 0xac00
	parts := []rune(s)
	if len(parts) < 2 || len(parts) > 3 {
		return 0
	}
	i, v, f := parts[0]-initial, parts[1]-vowel, rune(0)
	if len(parts) == 3 {
		if f = parts[2] - final; f < 1 {
			return 0
		}
	}
	if i < 0 || i >= 19 || v < 0 || v >= 21 || f >= 28 {
		return 0
	}
	return composed + (i*21+v)*28 + f
}

// standsAlone says whether every terminal gives s the same width, and leaves a
// letter after it alone.
func standsAlone(s string) bool {
	s += "a"
	return ansi.StringWidth(s) == ansi.StringWidthWc(s)
}

// joins says whether s has characters that are neither letters that stand alone
// nor what the screens themselves draw.
func joins(s string) bool {
	for _, r := range s {
		if r >= 0x300 && (r < 0x2000 || r > 0x27bf) {
			return true
		}
	}
	return false
}

// pictures says whether r is a symbol, such as an emoji, or colours one.
func pictures(r rune) bool {
	return r >= 0xa0 && unicode.In(r, unicode.So, unicode.Sk, unicode.Sm, unicode.Po)
}

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// isJoiner says whether r, after an emoji, only says how to draw it.
func isJoiner(r rune) bool { return r == 0x200d || r == 0xfe0e || r == 0xfe0f || r == 0x20e3 }

// invisible says whether r takes no room or is blank though it is no space: the
// fillers, and what Unicode tells a program to ignore.
func invisible(r rune) bool {
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == 0x2800
}

// plain says whether s is printable ASCII, so that its width is its length.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
