package tui

import (
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

func TestEscGoesBackToWhereARowLedFrom(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		then []string // each is one step back from there
	}{
		{"a handler of the pipeline", []string{"1", "enter"}, []string{"pods › Handlers", "pods › Pipeline"}},
		{"a handler's resync", []string{"6", "j", "enter"}, []string{"pods › Handlers", "pods › Resync"}},
		{"what waits for it", []string{"6", "j", "enter", "enter"}, []string{"pods › Handlers › audit", "pods › Handlers", "pods › Resync"}},
		{"a filter first", []string{"6", "enter", "/", "a", "enter"}, []string{"match a", "pods › Handlers", "pods › Resync"}},
		{
			"an object's bucket",
			[]string{"3", "enter", "i", "enter"},
			[]string{"pods › Indices › namespace › default", "pods › Store › ns-0/web-00000 › Buckets", "pods › Store"},
		},
		{"the bucket's neighbours", []string{"3", "i", "enter", "left"}, []string{"pods › Indices › namespace", "pods › Indices", "web-00000 › Buckets"}},
		{"the number of a screen", []string{"6", "enter", "4", "5"}, []string{"pods › Handlers", "pods › Handlers"}},
	} {
		u := newUser(t, newFake(20), 120, 40).press(c.keys...)
		for i, want := range c.then {
			if i > 0 {
				u.press("esc")
			}
			u.expect(want)
		}
		if t.Failed() {
			t.Fatalf("after %s", c.name)
		}
	}
}

func TestAFindingCanBeComeBackTo(t *testing.T) {
	u := newUser(t, newFake(1).with(lonely).with(func(s *inspect.Snapshot) { s.Indices[1].Errors = 1 }), 120, 40)
	u.watch()
	u.press("8", "enter").expect("pods › Indices")
	u.press("esc").expect("pods › Findings")
}

func TestAnotherInformerForgetsWhereOneWas(t *testing.T) {
	u := newUser(t, several(), 120, 40).press("6", "enter")
	u.m.look("services")
	if u.m.back() || u.m.current != screenHandlers {
		t.Error("esc leads to a screen of another informer")
	}
}
