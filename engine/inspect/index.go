package inspect

import "strings"

// How controller-runtime names what it makes for IndexField: the index after the
// field, and the buckets of a value once with the object's namespace and, if it
// has one, once with a namespace that stands for all of them.
const (
	fieldIndex    = "field:"
	allNamespaces = "__all_namespaces"
)

// IndexName returns what people call an index: of one that controller-runtime has
// made for a field, the field.
func IndexName(name string) string {
	if field, ok := strings.CutPrefix(name, fieldIndex); ok && field != "" {
		return field
	}
	return name
}

// BucketName returns what people call a bucket of an index: in one that
// controller-runtime has made for a field, the value and where it is looked for,
// as in "n1 in all namespaces" and "n1 in shop".
func BucketName(index, value string) string {
	where, what, found := strings.Cut(value, "/")
	if !found || !strings.HasPrefix(index, fieldIndex) {
		return value
	}
	if what == "" {
		what = `""`
	}
	if where == allNamespaces {
		where = "all namespaces"
	}
	return what + " in " + where
}
