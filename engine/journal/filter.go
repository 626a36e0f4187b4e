package journal

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informeter/informeter/engine/inspect"
)

// Filter is an inspect.Filter that can also look at an object's labels. The zero
// value keeps everything.
type Filter struct {
	inspect.Filter
	selector labels.Selector // nil unless the filter is one of labels
}

// ParseFilter is inspect.ParseFilter with the label selector read, too.
func ParseFilter(text string) (Filter, error) {
	f, err := inspect.ParseFilter(text)
	if err != nil || f.Kind != inspect.FilterLabels {
		return Filter{Filter: f}, err
	}
	selector, err := labels.Parse(f.Text)
	if err != nil {
		return Filter{}, &inspect.FilterError{Filter: text, Reason: "not a label selector: " + err.Error()}
	}
	return Filter{f, selector}, nil
}

// ByObject says that what the filter keeps depends on the object, not only on
// its key.
func (f *Filter) ByObject() bool { return f.selector != nil }

// KeepObject says whether the object under key passes.
func (f *Filter) KeepObject(key string, obj any) bool {
	if f.selector == nil {
		return f.Keep(key)
	}
	return f.selector.Matches(labelsOf(obj)) != f.Inverse
}

// labelsOf returns an object's labels; none for what has no metadata.
func labelsOf(obj any) (found labels.Labels) {
	found = labels.Set(nil)
	defer forgive()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		// Its own GetLabels makes a copy.
		return anyLabels(nested(u.Object, "metadata", "labels"))
	}
	if m, err := meta.Accessor(obj); err == nil {
		found = labels.Set(m.GetLabels())
	}
	return found
}

// anyLabels are labels as they are in an unstructured object.
type anyLabels map[string]any

func (l anyLabels) Has(label string) bool {
	_, has := l[label]
	return has
}

func (l anyLabels) Get(label string) string {
	value, _ := l[label].(string)
	return value
}

func (l anyLabels) Lookup(label string) (string, bool) {
	value, has := l[label]
	text, _ := value.(string)
	return text, has
}

// nested walks into maps; nil where there is none.
func nested(fields map[string]any, path ...string) map[string]any {
	for _, step := range path {
		fields, _ = fields[step].(map[string]any)
	}
	return fields
}
