package tui

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

func TestAPauseGoesBackToTheLimitThereWas(t *testing.T) {
	f := newFake(30).waiting(12).with(func(s *inspect.Snapshot) {
		s.Queue.Gate = inspect.Gate{Mode: inspect.GateLimited, Rate: 5}
	})
	newUser(t, f, 120, 30).press("2", "space", "space")
	if want := []string{"pause", "rate 5"}; !slices.Equal(f.controls, want) {
		t.Errorf("space twice on a limited queue asked for %q, want %q", f.controls, want)
	}
}

func TestRatesThatMeanNothingAreRefused(t *testing.T) {
	f := newFake(30)
	u := newUser(t, f, 120, 30)
	u.press("2")
	for text, want := range map[string]string{
		"NaN": "is not a number", "-1": "is not a number", "Inf": "is not a number", "0.0000001": "to stop the queue, pause it",
	} {
		u.press("r").types(text).press("enter").expect(want)
		u.press("esc")
	}
	if len(f.controls) > 0 {
		t.Errorf("asked for %q", f.controls)
	}
}

func TestAnObjectIsShownWhateverItHolds(t *testing.T) {
	f := newFake(30)
	key := f.rows[0].Key
	o := object(key)
	text, err := json.Marshal(map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"annotations": map[string]string{
		"del": "x\u007fy", "c1": "x\u009b31my", "nonchar": "x\ufffey", "esc": "x\x1b[31my", "plain": "x\u00e9y",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	o.JSON = text
	f.objects = map[string]inspect.Object{key: o}
	d, err := readDocument(t.Context(), f, objectQuery{key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	yaml := d.text()
	for _, want := range []string{`x\u007fy`, `x\u009b31my`, `x\ufffey`, `\e[31m`, "xéy"} {
		if !strings.Contains(yaml, want) {
			t.Errorf("%s is not in\n%s", want, yaml)
		}
	}
	newUser(t, f, 100, 30).press("3", "enter").expect(`x\u007fy`)
}
