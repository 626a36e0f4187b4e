package engine

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// handlerNamer is implemented by handlers that know what they are called.
type handlerNamer interface{ InformerHandlerName() string }

// handlerName says what a handler is called when nobody gave it a name: what it
// calls itself, else the first function of a set of functions, else what it
// adapts, else its type.
func handlerName(h cache.ResourceEventHandler) string {
	switch h := h.(type) {
	case handlerNamer:
		return h.InformerHandlerName()
	case cache.ResourceEventHandlerFuncs:
		return funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerFuncs:
		return funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case cache.ResourceEventHandlerDetailedFuncs:
		return funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerDetailedFuncs:
		return funcsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case cache.FilteringResourceEventHandler:
		return handlerName(h.Handler)
	case *cache.FilteringResourceEventHandler:
		return handlerName(h.Handler)
	case nil: // of a filter that lets nothing through
		return "no handler"
	}
	return adapted(reflect.ValueOf(h))
}

// isNil says whether a handler is nil, or a nil pointer to one of client-go's
// sets of functions, which can't be called either.
func isNil(h cache.ResourceEventHandler) bool {
	switch h := h.(type) {
	case nil:
		return true
	case *cache.ResourceEventHandlerFuncs:
		return h == nil
	case *cache.ResourceEventHandlerDetailedFuncs:
		return h == nil
	case *cache.FilteringResourceEventHandler:
		return h == nil
	}
	return false
}

// adapted names what is in an adapter: controller-runtime and client-go's typed
// informers add handlers of one private type each, in whose field "handler" is
// what a reader would recognise. That value can be looked at and not be used, so
// it is not asked what it calls itself.
//
//	&internal.EventHandler[...]{handler: MapFunc(o.sites)}   →  main.operator.sites
//	&internal.EventHandler[...]{handler: &EnqueueRequest{}}  →  handler.EnqueueRequest
func adapted(v reflect.Value) string {
	for (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() {
		v = v.Elem()
	}
	if inner := ownField(v, "handler"); isHandler(inner) {
		return adapted(inner)
	}
	for _, name := range []string{"AddFunc", "CreateFunc", "UpdateFunc", "DeleteFunc", "toRequests"} {
		f := ownField(v, name)
		if f.Kind() != reflect.Func || f.IsNil() {
			continue
		}
		if fn := runtime.FuncForPC(f.Pointer()); fn != nil {
			return shortFunc(fn.Name())
		}
	}
	name, _, _ := strings.Cut(v.Type().String(), "[") // type arguments come with their paths
	return strings.TrimLeft(name, "*")
}

// ownField returns a struct's field of that name, and no embedded one's; the
// zero Value if there is none.
func ownField(v reflect.Value, name string) reflect.Value {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	f, there := v.Type().FieldByName(name)
	if !there || len(f.Index) > 1 {
		return reflect.Value{}
	}
	return v.Field(f.Index[0])
}

// isHandler says whether a field holds a handler, client-go's or
// controller-runtime's: "handler" is a name for many things.
func isHandler(v reflect.Value) bool {
	if v.Kind() != reflect.Interface || v.IsNil() {
		return false
	}
	_, ofClientGo := v.Type().MethodByName("OnAdd")
	_, ofControllerRuntime := v.Type().MethodByName("Generic")
	return ofClientGo || ofControllerRuntime
}

// funcsName names a set of handler functions after the first there is.
func funcsName(funcs ...any) string {
	for _, f := range funcs {
		v := reflect.ValueOf(f)
		if v.IsNil() {
			continue
		}
		if fn := runtime.FuncForPC(v.Pointer()); fn != nil {
			return shortFunc(fn.Name())
		}
	}
	return "no functions"
}

// shortFunc cuts a function's full name down to what a reader recognises:
//
//	example.com/x/y.(*Controller).onAdd-fm  →  y.Controller.onAdd
//	example.com/x/y.New.func1               →  y.New
//	example.com/x/y.Handle[...]             →  y.Handle
func shortFunc(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimSuffix(name, "-fm")
	name = strings.NewReplacer("(*", "", "(", "", ")", "", "[...]", "").Replace(name)
	for {
		i := strings.LastIndexByte(name, '.')
		if i < 0 || !isClosure(name[i+1:]) {
			return name
		}
		name = name[:i]
	}
}

// isClosure says whether a part of a function's name is one that the compiler
// gives to function literals: func1, gowrap2, 3.
func isClosure(part string) bool {
	part = strings.TrimPrefix(strings.TrimPrefix(part, "func"), "gowrap")
	if part == "" {
		return false
	}
	return strings.Trim(part, "0123456789") == ""
}

// unique returns name, or name#2, name#3 ... if it is taken.
func unique(name string, taken func(string) bool) string {
	if !taken(name) {
		return name
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s#%d", name, n); !taken(next) {
			return next
		}
	}
}
