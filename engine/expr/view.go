package expr

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// view reads typed objects as their JSON would be, without making it: only what
// is asked for is looked at. The zero value is ready. Safe for concurrent use.
type view struct {
	types sync.Map // reflect.Type → *shape; as many as types were looked at
}

// shape is how a type is written as JSON.
type shape struct {
	// convert makes the JSON value of types that say themselves how; nil for all
	// others.
	convert func(reflect.Value) (any, error)
	// fields are those of a struct by their JSON names, embedded ones included.
	fields map[string]field
}

// field is a struct's field.
type field struct {
	index     []int
	omitempty bool
	omitzero  bool
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	// converter is what apimachinery's types implement that have a quicker way.
	converter = reflect.TypeFor[interface{ ToUnstructured() any }]()
)

// root is where the reading of an object begins.
func (v *view) root(obj any) (reflect.Value, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return reflect.ValueOf(u.Object), nil
	}
	return v.resolve(reflect.ValueOf(obj))
}

// resolve follows pointers and interfaces, and converts what says itself how it is
// written. The result is invalid for null.
func (v *view) resolve(rv reflect.Value) (reflect.Value, error) {
	for rv.IsValid() {
		switch rv.Kind() {
		case reflect.Pointer, reflect.Interface:
			rv = rv.Elem() // invalid if nil
			continue
		}
		convert := v.shapeOf(rv.Type()).convert
		if convert == nil {
			return rv, nil
		}
		value, err := convert(rv)
		if err != nil {
			return reflect.Value{}, err
		}
		return reflect.ValueOf(value), nil
	}
	return rv, nil
}

// shapeOf returns how a type is written.
func (v *view) shapeOf(t reflect.Type) *shape {
	if known, ok := v.types.Load(t); ok {
		return known.(*shape)
	}
	s := &shape{}
	switch p := reflect.PointerTo(t); {
	case p.Implements(converter):
		s.convert = func(rv reflect.Value) (any, error) {
			return plainOf(addressable(rv).Interface().(interface{ ToUnstructured() any }).ToUnstructured()), nil
		}
	case p.Implements(jsonMarshaler):
		s.convert = func(rv reflect.Value) (any, error) { return throughJSON(addressable(rv).Interface()) }
	case t.Kind() == reflect.Struct:
		s.fields = map[string]field{}
		collect(s.fields, t, nil)
	}
	known, _ := v.types.LoadOrStore(t, s)
	return known.(*shape)
}

// plainOf makes the integers of a converted value those of decoded JSON.
func plainOf(value any) any {
	switch n := value.(type) {
	case int:
		return int64(n)
	case int32:
		return int64(n)
	}
	return value
}

// addressable returns a pointer to the value, or to a copy.
func addressable(rv reflect.Value) reflect.Value {
	if rv.CanAddr() {
		return rv.Addr()
	}
	p := reflect.New(rv.Type())
	p.Elem().Set(rv)
	return p
}

// throughJSON returns a value as it is decoded from its JSON.
func throughJSON(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, fmt.Errorf("decode %T: %w", value, err)
	}
	return numbers(decoded), nil
}

// numbers makes int64 and float64 of a decoded value's numbers, as apimachinery
// does.
func numbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if n, err := value.Int64(); err == nil {
			return n
		}
		f, _ := value.Float64() // too large is infinite
		return f
	case []any:
		for i := range value {
			value[i] = numbers(value[i])
		}
	case map[string]any:
		for k := range value {
			value[k] = numbers(value[k])
		}
	}
	return value
}

// collect adds the fields of a struct, which lies at index of the outer one.
func collect(fields map[string]field, t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int{}, index...), i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case name == "" && f.Type.Kind() == reflect.Struct && (f.Anonymous || strings.Contains(options, "inline")):
			collect(fields, f.Type, at)
			continue
		case name == "":
			name = f.Name
		}
		if outer, taken := fields[name]; taken && len(outer.index) <= len(at) {
			continue
		}
		fields[name] = field{at, strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero")}
	}
}

// there says whether a field is written.
func (f *field) there(rv reflect.Value) bool {
	if f.omitzero {
		if z, ok := rv.Interface().(interface{ IsZero() bool }); ok && (rv.Kind() != reflect.Pointer || !rv.IsNil()) {
			return !z.IsZero()
		}
		return !rv.IsZero()
	}
	if !f.omitempty {
		return true
	}
	switch rv.Kind() {
	case reflect.Map, reflect.Slice, reflect.String, reflect.Array:
		return rv.Len() > 0
	case reflect.Struct:
		return true
	default:
		return !rv.IsZero()
	}
}

// field returns what an object, struct or map, has under a name; invalid if there
// is nothing, or null.
func (v *view) field(rv reflect.Value, name string) (reflect.Value, error) {
	switch rv.Kind() {
	case reflect.Struct:
		f, ok := v.shapeOf(rv.Type()).fields[name]
		if !ok {
			return reflect.Value{}, nil
		}
		if rv = rv.FieldByIndex(f.index); !f.there(rv) {
			return reflect.Value{}, nil
		}
	case reflect.Map:
		if rv.Type().Key().Kind() != reflect.String {
			return reflect.Value{}, nil
		}
		rv = rv.MapIndex(reflect.ValueOf(name).Convert(rv.Type().Key()))
	default:
		return reflect.Value{}, nil
	}
	return v.resolve(rv)
}

// element returns an element of a list; invalid for null.
func (v *view) element(rv reflect.Value, i int) (reflect.Value, error) { return v.resolve(rv.Index(i)) }

// isList says whether a resolved value is a list.
func isList(rv reflect.Value) bool {
	return (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array) && !isBytes(rv)
}

// isBytes says whether a value is written in base64.
func isBytes(rv reflect.Value) bool {
	return rv.Kind() == reflect.Slice && rv.Type().Elem().Kind() == reflect.Uint8
}

// isObject says whether a resolved value is an object.
func isObject(rv reflect.Value) bool {
	return rv.Kind() == reflect.Struct || rv.Kind() == reflect.Map
}

// each calls the function with the values of a list or an object, until it fails.
func (v *view) each(rv reflect.Value, call func(name string, value reflect.Value) error) error {
	visit := func(name string, value reflect.Value) error {
		value, err := v.resolve(value)
		if err != nil {
			return err
		}
		return call(name, value)
	}
	switch {
	case isList(rv):
		for i := range rv.Len() {
			if err := visit("", rv.Index(i)); err != nil {
				return err
			}
		}
	case rv.Kind() == reflect.Map:
		for it := rv.MapRange(); it.Next(); {
			if err := visit(it.Key().String(), it.Value()); err != nil {
				return err
			}
		}
	case rv.Kind() == reflect.Struct:
		for name, f := range v.shapeOf(rv.Type()).fields {
			if value := rv.FieldByIndex(f.index); f.there(value) {
				if err := visit(name, value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// plain returns a resolved value as it is decoded from JSON: nil, bool, int64,
// float64, string, []any or map[string]any.
func (v *view) plain(rv reflect.Value) (any, error) {
	switch {
	case !rv.IsValid():
		return nil, nil
	case isBytes(rv):
		if rv.IsNil() {
			return nil, nil
		}
		return base64.StdEncoding.EncodeToString(rv.Bytes()), nil
	case isList(rv):
		if rv.Kind() == reflect.Slice && rv.IsNil() {
			return nil, nil
		}
		list := make([]any, 0, rv.Len())
		err := v.each(rv, func(_ string, element reflect.Value) error {
			value, err := v.plain(element)
			list = append(list, value)
			return err
		})
		return list, err
	case isObject(rv):
		if rv.Kind() == reflect.Map && rv.IsNil() {
			return nil, nil
		}
		object := map[string]any{}
		err := v.each(rv, func(name string, element reflect.Value) (err error) {
			object[name], err = v.plain(element)
			return err
		})
		return object, err
	}
	return scalar(rv)
}

// scalar returns a string, number or bool.
func scalar(rv reflect.Value) (any, error) {
	switch rv.Kind() {
	case reflect.String:
		return rv.String(), nil
	case reflect.Bool:
		return rv.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return rv.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return int64(rv.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return rv.Float(), nil
	}
	return nil, fmt.Errorf("a %v has no place in JSON", rv.Type())
}
