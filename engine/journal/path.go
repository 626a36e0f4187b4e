package journal

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Path leads from an object to one of its values.
type Path []Step

// Step is one step of a path: to the field or key Name, or to the element of a
// list at Index.
type Step struct {
	Name    string
	Element bool
	Index   int
}

// String writes the path as in .spec.containers[0].image; names that are no
// plain words stand in ["..."].
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.Element:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.Index))
			b.WriteByte(']')
		case plain(s.Name):
			b.WriteByte('.')
			b.WriteString(s.Name)
		default:
			b.WriteByte('[')
			b.WriteString(strconv.Quote(s.Name))
			b.WriteByte(']')
		}
	}
	return b.String()
}

// plain says whether a name can stand in a path as it is.
func plain(name string) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return true
}

// is says whether the path is made of these names.
func (p Path) is(names ...string) bool {
	return slices.EqualFunc(p, names, func(s Step, name string) bool { return !s.Element && s.Name == name })
}

// Noise says whether a change at the path is of the kind that comes with every
// write: of resource version, generation and managed fields, and of one time to
// another. That a time appears or vanishes is news, and so is every change of
// the deletion timestamp. From and to may be nil where there is no value.
func (p Path) Noise(from, to any) bool {
	if len(p) >= 2 && p[0].Name == "metadata" {
		if isNoise(p[1].Name) {
			return true
		}
		if p[1].Name == "deletionTimestamp" {
			return false
		}
	}
	a, ok := from.(string)
	if !ok {
		return false
	}
	b, ok := to.(string)
	return ok && isTime(a) && isTime(b)
}

// isNoise says whether that field of an object's metadata changes with every
// write.
func isNoise(name string) bool {
	return name == "resourceVersion" || name == "generation" || name == "managedFields"
}

// isTime says whether a text is a time as objects have them.
func isTime(text string) bool {
	if len(text) < len("2006-01-02T15:04:05Z") || text[4] != '-' || text[10] != 'T' {
		return false
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}
