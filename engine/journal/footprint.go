package journal

import "reflect"

// footprints estimates how much memory objects take, from how long they are on
// the wire: it measures one now and then, to learn how the two are related in
// the objects of this informer. The journal's mu guards it.
type footprints struct {
	asked int
	ratio float64 // memory for a byte on the wire
}

// measureEvery is how many objects are estimated for one that is measured.
const measureEvery = 64

func (f *footprints) of(obj any) int64 {
	wire := float64(wireSize(obj))
	if wire == 0 {
		return deepSize(reflect.ValueOf(obj))
	}
	f.asked++
	if f.ratio == 0 || f.asked%measureEvery == 0 {
		measured := deepSize(reflect.ValueOf(obj))
		ratio := float64(measured) / wire
		if f.ratio == 0 {
			f.ratio = ratio
		}
		f.ratio += (ratio - f.ratio) / 8
		return measured
	}
	return int64(f.ratio * wire)
}

// deepSize returns about how much memory hangs on a value, the value itself not
// counted.
func deepSize(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		return allocated(v.Elem().Type().Size()) + deepSize(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return 0
		}
		if k := v.Elem().Kind(); k == reflect.Pointer || k == reflect.Map {
			return deepSize(v.Elem()) // the interface holds the pointer itself
		}
		return allocated(v.Elem().Type().Size()) + deepSize(v.Elem())
	case reflect.String:
		return allocated(uintptr(v.Len()))
	case reflect.Slice:
		return deepList(v)
	case reflect.Map:
		return deepMap(v)
	case reflect.Struct:
		n := int64(0)
		for i := range v.NumField() {
			n += deepSize(v.Field(i))
		}
		return n
	}
	return 0
}

func deepList(v reflect.Value) int64 {
	if v.Cap() == 0 {
		return 0
	}
	n := allocated(uintptr(v.Cap()) * v.Type().Elem().Size())
	if k := v.Type().Elem().Kind(); k >= reflect.Bool && k <= reflect.Complex128 {
		return n
	}
	for i := range v.Len() {
		n += deepSize(v.Index(i))
	}
	return n
}

func deepMap(v reflect.Value) int64 {
	if v.IsNil() {
		return 0
	}
	// Maps have slots in groups of eight with eight bytes beside them; larger ones
	// are about three quarters full.
	slot := int64(v.Type().Key().Size() + v.Type().Elem().Size())
	groups := int64(1)
	if v.Len() > 8 {
		groups = int64(v.Len())*4/3/8 + 1
	}
	n := 48 + groups*(8+8*slot)
	for it := v.MapRange(); it.Next(); {
		n += deepSize(it.Key()) + deepSize(it.Value())
	}
	return n
}

// allocated rounds up to what an allocation of n bytes takes, about.
func allocated(n uintptr) int64 {
	switch {
	case n == 0:
		return 0
	case n <= 128:
		return int64(n+15) &^ 15
	}
	return int64(n+n/16+63) &^ 63
}
