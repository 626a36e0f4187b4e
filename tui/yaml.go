package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// yamlLine is one line of an object written as YAML.
type yamlLine struct {
	text string
	// key is the part of text up to and without the colon, in bytes: from is
	// where the name begins, to where it ends. Equal where there is none.
	from, to int
	// end is the line after the last one of the block that this line begins:
	// that of the next line if it begins none.
	end int
	// path names the block; empty if there is none.
	path string
}

// yamlLines writes JSON as YAML, in the style of kubectl: keys sorted, lists as
// far left as what they belong to, texts of several lines as such. What could be
// taken for something else, or not be seen, is quoted and escaped.
func yamlLines(text []byte) ([]yamlLine, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return yamlOf(v), nil
}

// yamlOf writes a value as it comes from a json.Decoder with UseNumber.
func yamlOf(v any) []yamlLine {
	w := &yamlWriter{}
	w.block("", "", "", v)
	for i := range w.lines {
		w.lines[i].end = max(w.lines[i].end, i+1)
	}
	return w.lines
}

type yamlWriter struct{ lines []yamlLine }

// block writes v on lines of its own: the first begins with lead, the others
// with pad.
func (w *yamlWriter) block(lead, pad, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			for _, key := range slices.Sorted(maps.Keys(v)) {
				w.entry(lead, pad, path, key, v[key])
				lead = pad
			}
			return
		}
	case []any:
		if len(v) > 0 {
			for i, item := range v {
				first := len(w.lines)
				w.block(lead+"- ", pad+"  ", fmt.Sprintf("%s[%d]", path, i), item)
				w.fold(first, fmt.Sprintf("%s[%d]", path, i))
				lead = pad
			}
			return
		}
	case string:
		if head, rows := blockScalar(v); rows != nil {
			w.add(yamlLine{text: lead + head})
			w.rows(pad, rows)
			return
		}
	}
	w.add(yamlLine{text: lead + scalar(v)})
}

// entry writes one key of a mapping.
func (w *yamlWriter) entry(lead, pad, path, key string, v any) {
	path += "." + key
	name := text(key)
	line := yamlLine{from: len(lead), to: len(lead) + len(name)}
	first := len(w.lines)
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			line.text = lead + name + ":"
			w.add(line)
			w.block(pad+"  ", pad+"  ", path, v)
			w.fold(first, path)
			return
		}
	case []any:
		if len(v) > 0 {
			line.text = lead + name + ":"
			w.add(line)
			w.block(pad, pad, path, v)
			w.fold(first, path)
			return
		}
	case string:
		if head, rows := blockScalar(v); rows != nil {
			line.text = lead + name + ": " + head
			w.add(line)
			w.rows(pad+"  ", rows)
			w.fold(first, path)
			return
		}
	}
	line.text = lead + name + ": " + scalar(v)
	w.add(line)
}

func (w *yamlWriter) add(l yamlLine) { w.lines = append(w.lines, l) }

func (w *yamlWriter) rows(pad string, rows []string) {
	for _, r := range rows {
		if r == "" {
			w.add(yamlLine{})
			continue
		}
		w.add(yamlLine{text: pad + r})
	}
}

// fold makes the lines from first on a block. Where a line begins several, it is
// the outermost that can be folded.
func (w *yamlWriter) fold(first int, path string) {
	if len(w.lines) > first+1 {
		w.lines[first].end, w.lines[first].path = len(w.lines), path
	}
}

// scalar writes what fits on a line.
func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return v.String()
	case string:
		return text(v)
	case map[string]any:
		return "{}"
	}
	return "[]"
}

var (
	// plainText is what a reader of YAML takes for text without quotes, if it is
	// not one of the words or numbers below.
	plainText = regexp.MustCompile(`^[A-Za-z0-9_./]([A-Za-z0-9_./+@%=,()$^;~*&<>|'"\\{}\[\] -]|:[A-Za-z0-9_./])*$`)
	// otherThanText is what YAML, of either version, may take for something else.
	otherThanText = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|~|\.nan|[-+]?\.inf)$|^[-+]?[0-9.][0-9_:.]*([eE][-+]?[0-9_.]*)?$|^[-+]?0[xob][0-9a-fA-F_]*$|^[0-9]{4}-[0-9]{1,2}-|^---|^\.\.\.`)
	// digits and dots are text if there are two dots or more, such as addresses.
	dotted = regexp.MustCompile(`^[0-9]+(\.[0-9]+){2,}$`)
)

// text writes a string, in quotes where it must be.
func text(s string) string {
	if strings.HasSuffix(s, " ") || strings.Contains(s, " #") {
		return quoted(s)
	}
	if needsNoQuotes(s) || plainText.MatchString(s) &&
		(!otherThanText.MatchString(s) || dotted.MatchString(s)) {
		return s
	}
	return quoted(s)
}

// needsNoQuotes says of most texts that need no quotes that they don't: letters first,
// nothing that YAML has a use for, and longer than the words that mean true,
// false or null.
func needsNoQuotes(s string) bool {
	const longest = len("false")
	if len(s) <= longest || !letter(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && (c < '0' || c > '9') && c != '-' && c != '.' && c != '/' && c != '_' && c != ' ' {
			return false
		}
	}
	return true
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// quoted writes a string in double quotes, with what can't be seen, or is obeyed
// by a terminal, as escapes.
func quoted(s string) string {
	if plain(s) && !strings.ContainsAny(s, `"\`) {
		return `"` + s + `"`
	}
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == 0x1b:
			b.WriteString(`\e`)
		case visible(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// visible says whether a character shows, and as nothing but itself.
func visible(r rune) bool { return r == ' ' || unicode.IsPrint(r) && r != utf8.RuneError }

// blockScalar returns a text of several lines as YAML has it: what stands behind
// the key, and the lines. No lines if it can't be written so.
func blockScalar(s string) (head string, rows []string) {
	body := strings.TrimRight(s, "\n")
	if !strings.Contains(s, "\n") || body == "" {
		return "", nil
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !visible(r) {
			return "", nil
		}
	}
	head = "|"
	if body[0] == ' ' || body[0] == '\n' || body[0] == '\t' {
		head += "2" // how far it is indented can't be seen from its first line
	}
	rows = strings.Split(body, "\n")
	switch ends := len(s) - len(body); {
	case ends == 0:
		head += "-"
	case ends > 1:
		head += "+"
		rows = append(rows, make([]string, ends-1)...)
	}
	return head, rows
}
