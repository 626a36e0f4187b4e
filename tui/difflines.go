package tui

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/informeter/informeter/engine/inspect"
)

// diffDocument is what differs between two versions, ready to be drawn. It does
// not change.
type diffDocument struct {
	query inspect.DiffRequest
	diff  inspect.Diff
	lines []diffLine
	noise int // changes that are noise
}

// diffLine is one line of a diff: a path, or what was or is there.
type diffLine struct {
	sign  byte // ' ' a path, '-', '+', '~' hidden, '=' the same in both
	text  string
	noise bool
}

// mostLines is how many lines of one value are shown.
const mostLines = 2000

// readDiff reads a diff and lays it out, unless have is that diff already.
func readDiff(ctx context.Context, i inspect.Inspector, q inspect.DiffRequest, have *diffDocument) (*diffDocument, error) {
	if have != nil && have.query == q && q.From != 0 && q.To != 0 {
		return have, nil // two versions that were kept do not change
	}
	diff, err := i.Diff(ctx, q)
	if err != nil {
		return nil, err
	}
	d := &diffDocument{query: q, diff: diff}
	for n := range diff.Changes {
		c := &diff.Changes[n]
		if c.Noise {
			d.noise++
		}
		d.lines = append(d.lines, changeLines(c)...)
	}
	return d, nil
}

// changeLines writes one change: its path, then what was there and what is.
func changeLines(c *inspect.Change) []diffLine {
	lines := []diffLine{{sign: ' ', text: c.Path, noise: c.Noise}}
	add := func(sign byte, rows []string) {
		for n, row := range rows {
			if n == mostLines {
				lines = append(lines, diffLine{sign, "… " + count(len(rows)-n, "more line", "more lines"), c.Noise})
				break
			}
			lines = append(lines, diffLine{sign, row, c.Noise})
		}
	}
	if c.Hidden {
		add('~', []string{"changed; what it is stays hidden"})
		return lines
	}
	from, to := valueLines(c.From), valueLines(c.To)
	if len(from) > 1 && len(to) > 1 {
		return append(lines, between(from, to, c.Noise)...)
	}
	add('-', from)
	add('+', to)
	return lines
}

// valueLines writes a value as YAML; none if there is none.
func valueLines(text json.RawMessage) []string {
	if len(text) == 0 {
		return nil
	}
	var s string
	if text[0] == '"' && json.Unmarshal(text, &s) == nil {
		if _, rows := blockScalar(s); rows != nil {
			return rows
		}
	}
	lines, err := yamlLines(bytes.TrimSpace(text))
	if err != nil {
		return []string{string(text)}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.text
	}
	return out
}

// context is how many equal lines are shown around those that differ.
const contextLines = 2

// between returns what differs between two texts of several lines, with a little
// of what does not.
func between(from, to []string, noise bool) []diffLine {
	var out []diffLine
	add := func(sign byte, rows ...string) {
		for _, r := range rows {
			out = append(out, diffLine{sign, r, noise})
		}
	}
	head := 0
	for head < min(len(from), len(to)) && from[head] == to[head] {
		head++
	}
	tail := 0
	for tail < min(len(from), len(to))-head && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	if skipped := head - contextLines; skipped > 0 {
		add('=', "… "+count(skipped, "equal line", "equal lines"))
	}
	add('=', from[max(head-contextLines, 0):head]...)
	out = append(out, middle(from[head:len(from)-tail], to[head:len(to)-tail], noise)...)
	end := from[len(from)-tail:]
	add('=', end[:min(len(end), contextLines)]...)
	if skipped := len(end) - contextLines; skipped > 0 {
		add('=', "… "+count(skipped, "equal line", "equal lines"))
	}
	return out
}

// middle compares line by line what is small enough for it, by the longest
// common subsequence.
func middle(from, to []string, noise bool) []diffLine {
	const most = 300
	var out []diffLine
	add := func(sign byte, rows ...string) {
		for n, r := range rows {
			if n == mostLines {
				out = append(out, diffLine{sign, "… " + count(len(rows)-n, "more line", "more lines"), noise})
				return
			}
			out = append(out, diffLine{sign, r, noise})
		}
	}
	if len(from) > most || len(to) > most {
		add('-', from...)
		add('+', to...)
		return out
	}
	// common[i][j] is the length of the longest common subsequence of from[i:]
	// and to[j:].
	common := make([][]int, len(from)+1)
	for i := range common {
		common[i] = make([]int, len(to)+1)
	}
	for i := len(from) - 1; i >= 0; i-- {
		for j := len(to) - 1; j >= 0; j-- {
			if from[i] == to[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(from) && j < len(to) {
		switch {
		case from[i] == to[j]:
			add('=', from[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			add('-', from[i])
			i++
		default:
			add('+', to[j])
			j++
		}
	}
	add('-', from[i:]...)
	add('+', to[j:]...)
	return out
}
