package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

// TestAFilterThatIsWrongStaysToBeCorrected: nothing is filtered by it, and the
// filter before stays; enter does not leave it.
func TestAFilterThatIsWrongStaysToBeCorrected(t *testing.T) {
	u := newUser(t, newFake(60), 120, 36)
	u.m.options.CheckFilter = func(text string) error {
		if strings.Contains(text, "(") && !strings.Contains(text, ")") {
			return &inspect.FilterError{Filter: text, Reason: "not a label selector: it does not end"}
		}
		return nil
	}
	for _, wrong := range []struct{ screen, text, why string }{
		{"3", "-l app in (a", "not a label selector: it does not end"},
		{"3", "/web-(", "missing closing )"},
		{"2", "-l app=web", "labels are of objects, and these rows are none"},
		{"4", "-l app=web", "labels are of objects, and these rows are none"},
		{"5", "-l app=web", "labels are of objects, and these rows are none"},
	} {
		u.press(wrong.screen, "/").types(wrong.text).press("enter").expect("✗ ", wrong.why, "/"+wrong.text)
		if u.m.prompt == nil {
			t.Fatalf("the prompt is gone, and %q with it", wrong.text)
		}
		if f := u.m.page().(filtered).filter(); f == wrong.text {
			t.Errorf("screen %s is filtered by %q", wrong.screen, f)
		}
		u.press("esc")
	}
	u.press("3", "/").types("-l app in (a)").press("enter")
	if f := u.m.page().(filtered).filter(); f != "-l app in (a)" || u.m.prompt != nil {
		t.Errorf("filtered by %q, want what was typed", f)
	}
	u.m.options.CheckFilter = func(string) error { return errors.New("out of order") }
	u.press("/", "x").press("enter").expect("✗ out of order")
}

// TestAnExpressionFiltersWhileItIsTyped: the slash behind it may come or not.
func TestAnExpressionFiltersWhileItIsTyped(t *testing.T) {
	u := newUser(t, newFake(60), 120, 36)
	u.press("3", "/").types("/^ns-1/").expect("20 of 60 match")
	u.press("backspace").expect("20 of 60 match")
	u.types("/web-000(1").expect("✗ not a regular expression: missing closing ): `^ns-1/web-000(1`", "20 of 60 match")
	u.press("esc")
	u.press("/").types("^ns-1").press("enter").expect("no key matches ^ns-1", "behind a slash it is a regular", "expression: /^ns-1.", "esc takes it away")
}
