package expr

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/cache"
)

// compileLabel makes label:KEY.
func compileLabel(text string) (cache.IndexFunc, error) {
	key := strings.TrimPrefix(text, labelPrefix)
	if key == "" {
		return nil, wrong(text, len(labelPrefix), "it names no label; write one, as in label:app.kubernetes.io/name")
	}
	if name, value, found := strings.Cut(key, "="); found {
		return nil, wrong(text, len(labelPrefix)+len(name), "an index has all values of a label; write label:%s, and look into the bucket %q", name, value)
	}
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return nil, wrong(text, len(labelPrefix), "no object can have this label: %s", problems[0])
	}
	return func(obj any) ([]string, error) {
		value, ok, err := labelOf(obj, key)
		if err != nil || !ok {
			return nil, err
		}
		return []string{value}, nil
	}, nil
}

// labelOf returns an object's label, false if it has none of that name.
func labelOf(obj any, key string) (value string, ok bool, err error) {
	// Unstructured copies its labels for whoever asks.
	if u, is := obj.(*unstructured.Unstructured); is {
		metadata, _ := u.Object["metadata"].(map[string]any)
		labels, _ := metadata["labels"].(map[string]any)
		value, ok = labels[key].(string)
		return value, ok, nil
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return "", false, fmt.Errorf("read the labels of a %T: %w", obj, err)
	}
	value, ok = m.GetLabels()[key]
	return value, ok, nil
}
