package inspect

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// FilterKind is the way a filter looks at a row.
type FilterKind uint8

// The kinds of filters, and how they are written.
const (
	FilterAll       FilterKind = iota // empty: keeps everything
	FilterSubstring                   // text
	FilterRegexp                      // /text/, the second slash as one likes
	FilterFuzzy                       // -f text: its letters in this order
	FilterLabels                      // -l selector: of the object, not the key
)

// Filter says which rows a query keeps. ParseFilter makes one; the zero value
// keeps all.
type Filter struct {
	Kind FilterKind
	// Inverse keeps the others.
	Inverse bool
	// Text is the substring in lower case, the expression, the letters in lower
	// case, or the selector as it was written.
	Text string

	expr *regexp.Regexp
}

// FilterError says what is wrong with a filter.
type FilterError struct{ Filter, Reason string }

func (e *FilterError) Error() string { return fmt.Sprintf("filter %q: %s", e.Filter, e.Reason) }

// ParseFilter reads a filter: a substring, /a regular expression/, -f letters
// for a fuzzy match, -l a label selector; a leading "!" inverts each. No key
// begins with a slash, so that one at the beginning is enough to say that what
// follows is an expression: it holds while it is being typed. Case is ignored but
// in a regular expression that has a capital letter, and in labels. The selector
// itself is not checked here. Its error is a *FilterError.
func ParseFilter(text string) (Filter, error) {
	rest, inverse := strings.CutPrefix(strings.TrimSpace(text), "!")
	f := Filter{Inverse: inverse}
	switch {
	case rest == "":
		return Filter{}, nil
	case rest[0] == '/':
		f.Kind, f.Text = FilterRegexp, strings.TrimSuffix(rest[1:], "/")
		expr := f.Text
		if expr == strings.ToLower(expr) {
			expr = ignoreCase + expr
		}
		var err error
		if f.expr, err = regexp.Compile(expr); err != nil {
			return Filter{}, &FilterError{text, "not a regular expression: " + reasonOf(err)}
		}
	case rest == "-f" || strings.HasPrefix(rest, "-f "):
		f.Kind, f.Text = FilterFuzzy, strings.ToLower(strings.ReplaceAll(rest[2:], " ", ""))
	case rest == "-l" || strings.HasPrefix(rest, "-l "):
		f.Kind, f.Text = FilterLabels, strings.TrimSpace(rest[2:])
	default:
		f.Kind, f.Text = FilterSubstring, strings.ToLower(rest)
	}
	if f.Text == "" {
		return Filter{}, nil // being typed
	}
	return f, nil
}

// ignoreCase in front of an expression does that.
const ignoreCase = "(?i)"

// reasonOf returns what is wrong with an expression, and in which part of it.
func reasonOf(err error) string {
	wrong := (*syntax.Error)(nil)
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	// What was typed, without what was put in front of it.
	return wrong.Code.String() + ": `" + strings.TrimPrefix(wrong.Expr, ignoreCase) + "`"
}

// All says that the filter keeps everything.
func (f *Filter) All() bool { return f.Kind == FilterAll }

// Keep says whether a row of that key, or bucket of that value, passes. Labels
// are not of the key: whoever has the object matches them.
func (f *Filter) Keep(key string) bool {
	if f.Kind == FilterAll || f.Kind == FilterLabels {
		return true
	}
	return f.matches(key) != f.Inverse
}

func (f *Filter) matches(key string) bool {
	switch f.Kind {
	case FilterSubstring:
		return containsFold(key, f.Text)
	case FilterRegexp:
		return f.expr.MatchString(key)
	case FilterFuzzy:
		rest := f.Text
		for _, r := range strings.ToLower(key) {
			if strings.HasPrefix(rest, string(r)) {
				if rest = rest[len(string(r)):]; rest == "" {
					return true
				}
			}
		}
		return false
	}
	return true
}

// Highlights returns the half-open byte ranges of key that the filter found, in
// order and apart; none for an inverse filter.
func (f *Filter) Highlights(key string) [][2]int {
	if f.Inverse {
		return nil
	}
	switch f.Kind {
	case FilterSubstring:
		return substrings(strings.ToLower(key), f.Text, len(key))
	case FilterRegexp:
		var found [][2]int
		for _, m := range f.expr.FindAllStringIndex(key, -1) {
			if m[0] < m[1] {
				found = append(found, [2]int{m[0], m[1]})
			}
		}
		return found
	case FilterFuzzy:
		return letters(key, f.Text)
	}
	return nil
}

// substrings finds text in lower, the lower-case form of a string of length n;
// nothing if that has another length, so that positions would not fit.
func substrings(lower, text string, n int) [][2]int {
	if len(lower) != n {
		return nil
	}
	var found [][2]int
	for at := 0; ; {
		i := strings.Index(lower[at:], text)
		if i < 0 {
			return found
		}
		found = append(found, [2]int{at + i, at + i + len(text)})
		at += i + len(text)
	}
}

// letters finds the letters of text in key, one after the other.
func letters(key, text string) [][2]int {
	var found [][2]int
	rest := text
	for i, r := range key {
		low := strings.ToLower(string(r))
		if rest == "" || !strings.HasPrefix(rest, low) {
			continue
		}
		rest = rest[len(low):]
		end := i + len(string(r))
		if n := len(found); n > 0 && found[n-1][1] == i {
			found[n-1][1] = end
		} else {
			found = append(found, [2]int{i, end})
		}
	}
	if rest != "" {
		return nil
	}
	return found
}
