package reflector

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
)

// Copying is what a large list costs most: of 100,000 pods, 130 MB, while
// everybody behind waits. So many objects are worth another goroutine.
const (
	objectsACopier = 256
	mostCopiers    = 4
)

// extract returns the objects of a list and its resource version. Objects are
// copied out of the list's array, so that one that stays doesn't keep them all.
func extract(list apiruntime.Object) ([]any, string, error) {
	about, err := meta.ListAccessor(list)
	if err != nil {
		return nil, "", fmt.Errorf("understand %T: %w", list, err)
	}
	if structs, ok := structsOf(list); ok {
		return copyStructs(structs), about.GetResourceVersion(), nil
	}
	objects, err := meta.ExtractListWithAlloc(list)
	if err != nil {
		return nil, "", fmt.Errorf("take the objects out of %T: %w", list, err)
	}
	items := make([]any, len(objects))
	for i, obj := range objects {
		items[i] = obj
	}
	return items, about.GetResourceVersion(), nil
}

var objectType = reflect.TypeFor[apiruntime.Object]()

// structsOf returns the items of a list that are structs whose pointers are
// objects: those of all typed and unstructured lists. Whatever else a list may
// hold is left to package meta.
func structsOf(list apiruntime.Object) (reflect.Value, bool) {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return reflect.Value{}, false
	}
	v := reflect.ValueOf(items)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Slice {
		return reflect.Value{}, false
	}
	v = v.Elem()
	item := v.Type().Elem()
	return v, item.Kind() == reflect.Struct && !item.Implements(objectType) && reflect.PointerTo(item).Implements(objectType)
}

// copyStructs returns a pointer to a copy of each. Many are copied by several
// goroutines; all have ended when it returns.
func copyStructs(structs reflect.Value) []any {
	objects := make([]any, structs.Len())
	copiers := max(1, min(runtime.GOMAXPROCS(0), mostCopiers, len(objects)/objectsACopier))
	var copying sync.WaitGroup
	for c := range copiers {
		from, to := c*len(objects)/copiers, (c+1)*len(objects)/copiers
		if c == copiers-1 {
			copyRange(structs, objects, from, to)
			break
		}
		copying.Go(func() { copyRange(structs, objects, from, to) })
	}
	copying.Wait()
	return objects
}

func copyRange(structs reflect.Value, objects []any, from, to int) {
	t := structs.Type().Elem()
	for i := from; i < to; i++ {
		one := reflect.New(t)
		one.Elem().Set(structs.Index(i))
		objects[i] = one.Interface()
	}
}
