package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/journal"
)

// mergeKeys are the fields that tell the elements of a list apart, the best
// first, as far as a list has them.
var mergeKeys = []string{"name", "type", "uid", "key", "ip", "mountPath", "containerPort", "port", "id"}

// Diff implements inspect.Inspector.
func (i *Informer) Diff(_ context.Context, r inspect.DiffRequest) (inspect.Diff, error) {
	from, err := i.version(r.Key, r.From)
	if err != nil {
		return inspect.Diff{}, fmt.Errorf("diff of %s: %w", r.Key, err)
	}
	to, err := i.version(r.Key, r.To)
	if err != nil {
		return inspect.Diff{}, fmt.Errorf("diff of %s: %w", r.Key, err)
	}
	before, secret, err := i.tree(from)
	if err != nil {
		return inspect.Diff{}, fmt.Errorf("diff of %s: %w", r.Key, err)
	}
	after, alsoSecret, err := i.tree(to)
	if err != nil {
		return inspect.Diff{}, fmt.Errorf("diff of %s: %w", r.Key, err)
	}
	d := differ{changes: []inspect.Change{}, secret: secret || alsoSecret}
	d.values(before, after)
	diff := inspect.Diff{Key: r.Key, Changes: d.changes, Redacted: d.hid}
	diff.FromRV, diff.FromUID = identity(from)
	diff.ToRV, diff.ToUID = identity(to)
	return diff, d.err
}

// differ finds what differs between two trees of decoded JSON.
type differ struct {
	path    journal.Path
	changes []inspect.Change
	// secret: what the objects hold must not be told, see hides; hid says that
	// something was not.
	secret, hid bool
	err         error
}

func (d *differ) values(a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.objects(x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			d.lists(x, y)
			return
		}
	default:
		if scalar(b) && a == b {
			return
		}
	}
	d.change(a, b, true, true)
}

// scalar says whether a decoded value is neither an object nor a list.
func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// change adds a change of the value at the path; had and has say whether there
// was one before and is one now.
func (d *differ) change(from, to any, had, has bool) {
	c := inspect.Change{Path: d.path.String(), Noise: d.path.Noise(from, to)}
	switch {
	case d.secret && hides(d.path, from, to):
		c.Hidden, d.hid = true, true
	default:
		if had {
			c.From = d.encode(from)
		}
		if has {
			c.To = d.encode(to)
		}
	}
	d.changes = append(d.changes, c)
}

func (d *differ) encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("encode %s: %w", d.path, err)
	}
	return text
}

// hides says whether a change at the path would tell a Secret's contents.
func hides(p journal.Path, values ...any) bool {
	if len(p) == 0 {
		return true
	}
	switch p[0].Name {
	case "data", "stringData":
		return true
	case "metadata":
		// The copy of everything in an annotation: itself, or what it is in.
		switch {
		case len(p) == 1:
			return true
		case p[1].Name != "annotations" || len(p) > 2 && p[2].Name != lastApplied:
			return false
		case len(p) > 2:
			return true
		}
		return slices.ContainsFunc(values, func(v any) bool {
			annotations, _ := v.(map[string]any)
			_, has := annotations[lastApplied]
			return has
		})
	}
	return false
}

func (d *differ) at(s journal.Step, f func()) {
	d.path = append(d.path, s)
	f()
	d.path = d.path[:len(d.path)-1]
}

func (d *differ) objects(a, b map[string]any) {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		from, had := a[name]
		to, has := b[name]
		d.at(journal.Step{Name: name}, func() {
			if had && has {
				d.values(from, to)
			} else {
				d.change(from, to, had, has)
			}
		})
	}
}

// lists compares element by element: those of one name with each other where the
// elements have names and are in the same order, else those of one place.
func (d *differ) lists(a, b []any) {
	// partner leads from a place in b to the one in a; kept are the places in a
	// that have a partner.
	partner, ok := partners(a, b)
	if !ok {
		partner = make([]int, len(b))
		for i := range b {
			partner[i] = i
			if i >= len(a) {
				partner[i] = -1
			}
		}
	}
	kept := make([]bool, len(a))
	for _, i := range partner {
		if i >= 0 {
			kept[i] = true
		}
	}
	for i := range max(len(a), len(b)) {
		d.at(journal.Step{Element: true, Index: i}, func() {
			if i < len(a) && !kept[i] {
				d.change(a[i], nil, true, false)
			}
			switch {
			case i >= len(b):
			case partner[i] < 0:
				d.change(nil, b[i], false, true)
			default:
				d.values(a[partner[i]], b[i])
			}
		})
	}
}

// partners finds for each element of b the one of a with the same name, -1 if
// there is none. It returns false if the elements have no names, share none, or
// are not in the same order.
func partners(a, b []any) ([]int, bool) {
	if len(a) == 0 || len(b) == 0 {
		return nil, false
	}
	for _, key := range append([]string{""}, mergeKeys...) {
		places, ok := namesOf(a, key)
		if !ok {
			continue
		}
		others, ok := namesOf(b, key)
		if !ok {
			continue
		}
		partner := make([]int, len(b))
		for i := range partner {
			partner[i] = -1
		}
		for name, i := range others {
			if place, shared := places[name]; shared {
				partner[i] = place
			}
		}
		last := -1
		for _, place := range partner {
			if place >= 0 && place < last {
				return nil, false
			}
			last = max(last, place)
		}
		return partner, last >= 0
	}
	return nil, false
}

// namesOf returns the places of a list's elements by the values of a field, or
// by the elements themselves if key is empty. It returns false unless all have
// one and no two the same.
func namesOf(list []any, key string) (map[any]int, bool) {
	places := make(map[any]int, len(list))
	for i, v := range list {
		name := v
		if key != "" {
			fields, _ := v.(map[string]any)
			name = fields[key]
		}
		if name == nil || !scalar(name) {
			return nil, false
		}
		if _, twice := places[name]; twice {
			return nil, false
		}
		places[name] = i
	}
	return places, true
}
