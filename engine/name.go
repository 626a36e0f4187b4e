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
// calls itself, else the first function of a set of functions, else its type.
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
	}
	return strings.TrimLeft(fmt.Sprintf("%T", h), "*")
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
func shortFunc(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimSuffix(name, "-fm")
	name = strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name)
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
