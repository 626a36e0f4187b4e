package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informeter/informeter/engine/inspect"
)

// lastApplied holds a copy of the whole object, contents included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// describe returns an object as readers see it: canonical JSON with apiVersion
// and kind, and no Secret's contents unless reveal is set.
func (i *Informer) describe(obj any, reveal bool) (inspect.Object, error) {
	fields, secret, err := i.tree(obj)
	if err != nil {
		return inspect.Object{}, err
	}
	var result inspect.Object
	if secret && !reveal {
		result.Redacted = redact(fields)
	}
	if result.JSON, err = json.Marshal(fields); err != nil {
		return inspect.Object{}, fmt.Errorf("encode %T: %w", obj, err)
	}
	result.ResourceVersion, result.UID = identity(obj)
	return result, nil
}

// tree returns an object as decoded JSON with apiVersion and kind, and whether
// its contents are secret.
func (i *Informer) tree(obj any) (fields map[string]any, secret bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			fields, secret, err = nil, false, fmt.Errorf("encode %T: %w", obj, panicked(p))
		}
	}()
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, false, fmt.Errorf("encode %T: %w", obj, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a float64 would round large integers
	if err := decoder.Decode(&fields); err != nil || fields == nil {
		return nil, false, fmt.Errorf("%T is not an API object: its JSON is not an object", obj)
	}
	gvk := i.kindOf(obj)
	setDefault(fields, "kind", gvk.Kind)
	setDefault(fields, "apiVersion", gvk.GroupVersion().String())
	// By kind alone: a Secret of an unknown group is better hidden than shown.
	return fields, gvk.Kind == "Secret", nil
}

// kindOf says what an object is: what it says itself, what the scheme or the
// example know of its type, or at least the name of its Go type.
func (i *Informer) kindOf(obj any) schema.GroupVersionKind {
	o, ok := obj.(runtime.Object)
	if !ok {
		return schema.GroupVersionKind{Kind: typeName(obj)}
	}
	if gvk := o.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
		return gvk
	}
	if i.options.Scheme != nil {
		if kinds, _, err := i.options.Scheme.ObjectKinds(o); err == nil && len(kinds) > 0 {
			return kinds[0]
		}
	}
	if i.example != nil && reflect.TypeOf(i.example) == reflect.TypeOf(o) {
		if gvk := i.example.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
			return gvk
		}
	}
	return schema.GroupVersionKind{Kind: typeName(obj)}
}

func typeName(obj any) string {
	t := reflect.TypeOf(obj)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

func setDefault(fields map[string]any, name, value string) {
	if current, _ := fields[name].(string); current == "" && value != "" {
		fields[name] = value
	}
}

// redact replaces a Secret's contents by their sizes, and says whether there
// were any.
func redact(fields map[string]any) bool {
	redacted := false
	for _, part := range []string{"data", "stringData"} {
		values, ok := fields[part].(map[string]any)
		if !ok {
			continue
		}
		for name, value := range values {
			text, _ := value.(string)
			size := len(text)
			if decoded, err := base64.StdEncoding.DecodeString(text); part == "data" && err == nil {
				size = len(decoded)
			}
			values[name] = hidden(size)
			redacted = true
		}
	}
	metadata, _ := fields["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if text, ok := annotations[lastApplied].(string); ok {
		annotations[lastApplied] = hidden(len(text))
		redacted = true
	}
	return redacted
}

func hidden(size int) string { return fmt.Sprintf("<hidden: %d bytes>", size) }
