package journal

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxChanged is how many changed paths an update is told with.
const maxChanged = 6

// budget is the time that may be spent on comparing versions: a bucket that
// fills by a share of the time that passes. Only the goroutine that observes
// touches it.
type budget struct {
	share float64 // of one core
	burst time.Duration
	left  time.Duration
	at    time.Time
}

// spend calls the function if there is time for it.
func (b *budget) spend(f func()) bool {
	began := time.Now()
	b.left = min(b.left+time.Duration(float64(began.Sub(b.at))*b.share), b.burst)
	b.at = began
	if b.left <= 0 {
		return false
	}
	f()
	b.left -= time.Since(began)
	return true
}

// comparer finds the paths at which two versions of an object differ, noise
// apart. Lists of different lengths count as one change.
type comparer struct {
	path    Path
	changed []string
	// fields has the fields of the struct types met so far.
	fields map[reflect.Type][]field
}

// changedPaths returns the first few paths at which two versions differ, noise
// apart; none if nothing else has changed.
func (c *comparer) changedPaths(before, after any) []string {
	c.changed = nil
	c.compare(before, after)
	slices.Sort(c.changed)
	return c.changed
}

func (c *comparer) compare(a, b any) {
	if u, ok := a.(*unstructured.Unstructured); ok {
		a = u.Object
	}
	if u, ok := b.(*unstructured.Unstructured); ok {
		b = u.Object
	}
	if fields, ok := a.(map[string]any); ok {
		if others, ok := b.(map[string]any); ok {
			c.trees(fields, others)
			return
		}
	}
	c.values(reflect.ValueOf(a), reflect.ValueOf(b))
}

func (c *comparer) full() bool { return len(c.changed) == maxChanged }

func (c *comparer) report() {
	if !c.full() {
		path := c.path.String()
		if path == "" {
			path = "." // the whole object: it is of another type
		}
		c.changed = append(c.changed, path)
	}
}

// trees compares values as they are in unstructured objects.
func (c *comparer) trees(a, b any) {
	if c.full() {
		return
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			c.maps(a, b)
			return
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				c.path = append(c.path, Step{Element: true, Index: i})
				c.trees(a[i], b[i])
				c.path = c.path[:len(c.path)-1]
			}
			return
		}
	default:
		if isLeaf(b) && a == b {
			return
		}
	}
	if !c.path.Noise(a, b) {
		c.report()
	}
}

// isLeaf says whether a value can be compared with ==.
func isLeaf(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func (c *comparer) maps(a, b map[string]any) {
	metadata := c.path.is("metadata")
	for name, value := range a {
		if metadata && isNoise(name) {
			continue
		}
		other, ok := b[name]
		c.path = append(c.path, Step{Name: name})
		if !ok {
			c.report()
		} else {
			c.trees(value, other)
		}
		c.path = c.path[:len(c.path)-1]
	}
	for name := range b {
		if _, ok := a[name]; !ok && !(metadata && isNoise(name)) {
			c.path = append(c.path, Step{Name: name})
			c.report()
			c.path = c.path[:len(c.path)-1]
		}
	}
}

var (
	timeType      = reflect.TypeFor[metav1.Time]()
	microTimeType = reflect.TypeFor[metav1.MicroTime]()
	quantityType  = reflect.TypeFor[resource.Quantity]()
	metaType      = reflect.TypeFor[metav1.ObjectMeta]()
)

// values compares typed values.
func (c *comparer) values(a, b reflect.Value) {
	if c.full() {
		return
	}
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		if a.IsValid() || b.IsValid() {
			c.report()
		}
		return
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		switch {
		case a.IsNil() || b.IsNil():
			if a.IsNil() != b.IsNil() {
				c.report()
			}
		case a.Kind() == reflect.Interface || a.Pointer() != b.Pointer():
			c.values(a.Elem(), b.Elem())
		}
	case reflect.Struct:
		c.structs(a, b)
	case reflect.Slice, reflect.Array:
		c.lists(a, b)
	case reflect.Map:
		c.typedMaps(a, b)
	case reflect.String:
		if x, y := a.String(), b.String(); x != y && !c.path.Noise(x, y) {
			c.report()
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		// Nothing of an object's state.
	default:
		if !a.Equal(b) {
			c.report()
		}
	}
}

func (c *comparer) structs(a, b reflect.Value) {
	switch a.Type() {
	case timeType, microTimeType:
		x, y := timeOf(a), timeOf(b)
		// As in Path.Noise: one time for another.
		if !x.Equal(y) && (x.IsZero() || y.IsZero() || c.path.is("metadata", "deletionTimestamp")) {
			c.report()
		}
		return
	case quantityType:
		x, y := a.Interface().(resource.Quantity), b.Interface().(resource.Quantity)
		if x.Cmp(y) != 0 {
			c.report()
		}
		return
	}
	for _, f := range c.fieldsOf(a.Type()) {
		if f.name == "" {
			c.values(a.Field(f.index), b.Field(f.index))
			continue
		}
		c.path = append(c.path, Step{Name: f.name})
		c.values(a.Field(f.index), b.Field(f.index))
		c.path = c.path[:len(c.path)-1]
	}
}

func timeOf(v reflect.Value) time.Time {
	if t, ok := v.Interface().(metav1.MicroTime); ok {
		return t.Time
	}
	return v.Interface().(metav1.Time).Time
}

func (c *comparer) lists(a, b reflect.Value) {
	if a.Len() != b.Len() {
		c.report()
		return
	}
	if a.Kind() == reflect.Slice {
		if a.Len() == 0 || a.Pointer() == b.Pointer() {
			return
		}
		if a.Type().Elem().Kind() == reflect.Uint8 {
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				c.report()
			}
			return
		}
	}
	for i := range a.Len() {
		c.path = append(c.path, Step{Element: true, Index: i})
		c.values(a.Index(i), b.Index(i))
		c.path = c.path[:len(c.path)-1]
	}
}

func (c *comparer) typedMaps(a, b reflect.Value) {
	if a.Pointer() == b.Pointer() {
		return
	}
	if x, ok := a.Interface().(map[string]string); ok {
		c.stringMaps(x, b.Interface().(map[string]string))
		return
	}
	for it := a.MapRange(); it.Next(); {
		c.key(it.Key(), func() { c.values(it.Value(), b.MapIndex(it.Key())) })
	}
	for it := b.MapRange(); it.Next(); {
		if !a.MapIndex(it.Key()).IsValid() {
			c.key(it.Key(), c.report)
		}
	}
}

func (c *comparer) key(key reflect.Value, f func()) {
	name := "?"
	if key.Kind() == reflect.String {
		name = key.String()
	}
	c.path = append(c.path, Step{Name: name})
	f()
	c.path = c.path[:len(c.path)-1]
}

func (c *comparer) stringMaps(a, b map[string]string) {
	for name, value := range a {
		if other, ok := b[name]; !ok || other != value {
			c.path = append(c.path, Step{Name: name})
			if !ok || !c.path.Noise(value, other) {
				c.report()
			}
			c.path = c.path[:len(c.path)-1]
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			c.path = append(c.path, Step{Name: name})
			c.report()
			c.path = c.path[:len(c.path)-1]
		}
	}
}

// field is a field of a struct, under its name in JSON; empty if its own fields
// stand in its place.
type field struct {
	index int
	name  string
}

func (c *comparer) fieldsOf(t reflect.Type) []field {
	if known, ok := c.fields[t]; ok {
		return known
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if t == metaType && (f.Name == "ResourceVersion" || f.Name == "Generation" || f.Name == "ManagedFields") {
			continue
		}
		if name == "" && !f.Anonymous {
			name = f.Name
		}
		fields = append(fields, field{i, name})
	}
	if c.fields == nil {
		c.fields = map[reflect.Type][]field{}
	}
	c.fields[t] = fields
	return fields
}
