package inspect

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFiltersKeepWhatTheyAreWrittenFor(t *testing.T) {
	for _, c := range []struct {
		filter, key string
		keep        bool
	}{
		{"web", "shop/Web-0", true},
		{"web", "shop/db-0", false},
		{"!web", "shop/web-0", false},
		{"!web", "shop/db-0", true},
		{"/p/w", "shop/p/w", true},
		{"/^checkout", "checkout/web-0", true}, // as it is being typed
		{"/^checkout", "shop/checkout", false},
		{"!/^checkout", "shop/checkout", true},
		{"/", "anything", true},
		{"//", "anything", true},
		{"/web-[0-3]$/", "shop/web-2", true},
		{"/web-[0-3]$/", "shop/web-4", false},
		{"/WEB/", "shop/web", false},
		{"/web/", "shop/WEB", true},
		{"!/web-[0-3]$/", "shop/web-4", true},
		{"-f shw0", "Shop/Web-0", true},
		{"-f 0w", "shop/web-0", false},
		{"!-f 0w", "shop/web-0", true},
		{"-l app=web", "anything", true},
		{"-f", "anything", true},
		{"!", "anything", true},
		{"", "anything", true},
	} {
		f, err := ParseFilter(c.filter)
		if err != nil {
			t.Errorf("%q: %v", c.filter, err)
			continue
		}
		if got := f.Keep(c.key); got != c.keep {
			t.Errorf("%q keeps %q: %v, want %v", c.filter, c.key, got, c.keep)
		}
	}
}

func TestAFilterThatDoesNotParseSaysWhy(t *testing.T) {
	_, err := ParseFilter("/web-[/")
	var bad *FilterError
	if !errors.As(err, &bad) {
		t.Fatalf("error = %v, want a FilterError", err)
	}
	if got, want := err.Error(), `filter "/web-[/": not a regular expression: missing closing ]: `+"`[`"; got != want {
		t.Errorf("error = %s, want %s", got, want)
	}
	_, err = ParseFilter("/(a|b/")
	if got, want := err.Error(), `filter "/(a|b/": not a regular expression: missing closing ): `+"`(a|b`"; got != want {
		t.Errorf("error = %s, want %s: nobody has typed more than that", got, want)
	}
	if Match("/web-[/")("web-[") {
		t.Error("a filter that does not parse matches something")
	}
}

func TestHighlightsAreWhatTheFilterFound(t *testing.T) {
	for _, c := range []struct {
		filter, key string
		want        [][2]int
	}{
		{"web", "a/Web-web", [][2]int{{2, 5}, {6, 9}}},
		{"!web", "a/db", nil},
		{"/b+/", "abbab", [][2]int{{1, 3}, {4, 5}}},
		{"/x*/", "ab", nil},
		{"-f awb", "a/web", [][2]int{{0, 1}, {2, 3}, {4, 5}}},
		{"-f we", "a/web", [][2]int{{2, 4}}},
		{"-l a=b", "a/b", nil},
	} {
		f, err := ParseFilter(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Highlights(c.key); !slices.Equal(got, c.want) {
			t.Errorf("%q in %q = %v, want %v", c.filter, c.key, got, c.want)
		}
	}
}

// TestHighlightsLieInsideTheKey: whatever is typed and whatever keys there are.
func TestHighlightsLieInsideTheKey(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, err := ParseFilter(rapid.String().Draw(rt, "filter"))
		if err != nil {
			return
		}
		key := rapid.String().Draw(rt, "key")
		end := 0
		for _, h := range f.Highlights(key) {
			if h[0] < end || h[1] <= h[0] || h[1] > len(key) {
				rt.Fatalf("highlight %v of %q", h, key)
			}
			end = h[1]
		}
		if found := len(f.Highlights(key)) > 0; found && !f.Keep(key) {
			rt.Fatalf("%q is highlighted and not kept", key)
		}
	})
}
