package expr

import (
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// adapter gives CEL the values of the view.
type adapter struct {
	view *view
	// base knows what JSON is made of.
	base types.Adapter
}

func newAdapter(v *view) *adapter {
	base, err := types.NewRegistry()
	if err != nil {
		panic("bug: " + err.Error()) // it was given no types
	}
	return &adapter{v, base}
}

// object returns an object, or nil, as a variable's value.
func (a *adapter) object(obj any) (any, error) {
	if obj == nil {
		return types.NullValue, nil
	}
	rv, err := a.view.root(obj)
	if err != nil {
		return nil, err
	}
	return a.wrap(rv), nil
}

// NativeToValue implements types.Adapter.
func (a *adapter) NativeToValue(value any) ref.Val {
	switch value := value.(type) {
	case ref.Val:
		return value
	case nil, string, bool, int64, float64, []any, map[string]any, map[string]string, []string:
		return a.base.NativeToValue(value)
	}
	rv := reflect.ValueOf(value)
	for rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Interface {
		rv = rv.Elem()
	}
	if !rv.IsValid() {
		return types.NullValue
	}
	switch rv.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.String, reflect.Bool:
	default:
		return a.base.NativeToValue(value) // numbers, and what is CEL's own
	}
	rv, err := a.view.resolve(rv)
	if err != nil {
		return types.NewErrFromString(err.Error())
	}
	return a.wrap(rv)
}

// wrap returns a resolved value. Structs stay what they are, and are looked into
// when CEL asks; so do lists of them.
func (a *adapter) wrap(rv reflect.Value) ref.Val {
	switch {
	case !rv.IsValid():
		return types.NullValue
	case rv.Kind() == reflect.Struct:
		return &object{adapter: a, rv: rv}
	case rv.Kind() == reflect.Map && rv.IsNil(), rv.Kind() == reflect.Slice && rv.IsNil():
		return types.NullValue
	case isList(rv) && rv.Type().Elem().Kind() == reflect.Struct:
		return types.NewDynamicList(a, rv.Interface())
	case rv.Kind() == reflect.Map && rv.Type() == stringMap, rv.Kind() == reflect.Map && rv.Type() == anyMap:
		return a.base.NativeToValue(rv.Interface())
	}
	value, err := a.view.plain(rv)
	if err != nil {
		return types.NewErrFromString(err.Error())
	}
	return a.base.NativeToValue(value)
}

var (
	stringMap = reflect.TypeFor[map[string]string]()
	anyMap    = reflect.TypeFor[map[string]any]()
)

// object is a struct as a map from its JSON names. What is asked of it as a whole
// is answered by a map that is made then.
type object struct {
	adapter *adapter
	rv      reflect.Value // a resolved struct
}

var _ traits.Mapper = (*object)(nil)

// Find implements traits.Mapper.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	f, known := o.adapter.view.shapeOf(o.rv.Type()).fields[string(name)]
	if !known {
		return nil, false
	}
	rv := o.rv.FieldByIndex(f.index)
	if !f.there(rv) {
		return nil, false
	}
	rv, err := o.adapter.view.resolve(rv)
	if err != nil {
		return types.NewErrFromString(err.Error()), false
	}
	return o.adapter.wrap(rv), true
}

// Get implements traits.Indexer.
func (o *object) Get(key ref.Val) ref.Val {
	value, found := o.Find(key)
	if !found {
		return types.ValOrErr(value, "no such key: %v", key)
	}
	return value
}

// Contains implements traits.Container.
func (o *object) Contains(key ref.Val) ref.Val {
	value, found := o.Find(key)
	if value != nil && types.IsUnknownOrError(value) {
		return value
	}
	return types.Bool(found)
}

// whole returns the object as a map; or an error.
func (o *object) whole() ref.Val {
	value, err := o.adapter.view.plain(o.rv)
	if err != nil {
		return types.NewErrFromString(err.Error())
	}
	return o.adapter.base.NativeToValue(value)
}

// mapper returns the object as a map, an empty one if it cannot be converted.
func (o *object) mapper() traits.Mapper {
	if m, ok := o.whole().(traits.Mapper); ok {
		return m
	}
	return types.NewStringInterfaceMap(o.adapter.base, nil)
}

// Iterator implements traits.Iterable.
func (o *object) Iterator() traits.Iterator { return o.mapper().Iterator() }

// Size implements traits.Sizer.
func (o *object) Size() ref.Val { return o.mapper().Size() }

// ConvertToNative implements ref.Val.
func (o *object) ConvertToNative(t reflect.Type) (any, error) { return o.whole().ConvertToNative(t) }

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(t ref.Type) ref.Val { return o.whole().ConvertToType(t) }

// Equal implements ref.Val.
func (o *object) Equal(other ref.Val) ref.Val {
	if same, ok := other.(*object); ok {
		other = same.whole()
	}
	return o.whole().Equal(other)
}

// Type implements ref.Val.
func (o *object) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (o *object) Value() any { return o.whole().Value() }
