package engine

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

type named struct {
	cache.ResourceEventHandlerFuncs
}

func (named) InformerHandlerName() string { return "my-controller" }

type unnamed struct {
	cache.ResourceEventHandlerFuncs
}

// adapter is what libraries make to bring handlers of theirs to an informer.
type adapter[T any] struct {
	cache.ResourceEventHandlerFuncs
	handler cache.ResourceEventHandler
	_       T
}

// busy has a field of that name, too.
type busy struct {
	cache.ResourceEventHandlerFuncs
	handler any
}

type controller struct{}

func (*controller) onAdd(any) {}

func onAnything(any) {}

func onAny[T any](any) {}

func TestHandlersAreNamedAfterWhatTheirAuthorWouldRecognise(t *testing.T) {
	for _, c := range []struct {
		handler cache.ResourceEventHandler
		want    string
	}{
		{named{}, "my-controller"},
		{unnamed{}, "engine.unnamed"},
		{&unnamed{}, "engine.unnamed"},
		{cache.ResourceEventHandlerFuncs{AddFunc: onAnything}, "engine.onAnything"},
		{cache.ResourceEventHandlerFuncs{AddFunc: onAny[corev1.Pod]}, "engine.onAny"},
		{cache.ResourceEventHandlerFuncs{DeleteFunc: onAnything}, "engine.onAnything"},
		{&cache.ResourceEventHandlerFuncs{AddFunc: (&controller{}).onAdd}, "engine.controller.onAdd"},
		{cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(any, bool) {}}, "engine.TestHandlersAreNamedAfterWhatTheirAuthorWouldRecognise"},
		{cache.FilteringResourceEventHandler{Handler: named{}}, "my-controller"},
		{cache.ResourceEventHandlerFuncs{}, "no functions"},
		{adapter[string]{handler: unnamed{}}, "engine.unnamed"},
		{&adapter[string]{handler: &cache.ResourceEventHandlerFuncs{AddFunc: onAnything}}, "engine.onAnything"},
		{&adapter[corev1.Pod]{}, "engine.adapter"},
		{&busy{handler: t}, "engine.busy"},
	} {
		if got := handlerName(c.handler); got != c.want {
			t.Errorf("%T is called %q, want %q", c.handler, got, c.want)
		}
	}
}

func TestASecondOfAKindGetsANumber(t *testing.T) {
	taken := map[string]bool{"audit": true, "audit#2": true}
	for name, want := range map[string]string{"audit": "audit#3", "other": "other"} {
		if got := unique(name, func(s string) bool { return taken[s] }); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
