package journal

import (
	"math"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wireSize returns about how many bytes an object has on the wire: in protobuf
// where it knows that itself, in JSON where it is a tree of maps. 0 if it is
// neither.
func wireSize(obj any) (size int32) {
	defer forgive()
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		return int32(min(jsonSize(o.Object), math.MaxInt32))
	case interface{ Size() int }:
		return int32(min(o.Size(), math.MaxInt32))
	}
	return 0
}

// jsonSize returns about how many bytes a value takes in JSON.
func jsonSize(value any) int {
	switch v := value.(type) {
	case map[string]any:
		n := 2
		for key, field := range v {
			n += len(key) + 4 + jsonSize(field)
		}
		return n
	case []any:
		n := 2
		for _, element := range v {
			n += 1 + jsonSize(element)
		}
		return n
	case string:
		return len(v) + 2
	case bool, nil:
		return 4
	default: // numbers, most of them short
		return 4
	}
}
