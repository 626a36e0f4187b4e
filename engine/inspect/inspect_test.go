package inspect

import (
	"encoding/json"
	"math"
	"testing"
)

func TestMatchIgnoresCaseAndInverts(t *testing.T) {
	for _, c := range []struct {
		filter, key string
		want        bool
	}{
		{"web", "default/web-0", true},
		{"WEB", "default/web-0", true},
		{"web", "default/WEB-0", true},
		{"!web", "default/web-0", false},
		{"!web", "default/api-0", true},
		{"web", "default/api-0", false},
	} {
		if got := Match(c.filter)(c.key); got != c.want {
			t.Errorf("filter %q on %q = %v, want %v", c.filter, c.key, got, c.want)
		}
	}
	if Match("") != nil || Match("!") != nil {
		t.Error("a filter without text must keep everything")
	}
}

func TestWindowLiesInsideTheMatchingRows(t *testing.T) {
	for _, c := range []struct {
		name                           string
		anchor, offset, limit, matched int
		start, end                     int
	}{
		{"from the top", 0, 0, 10, 100, 0, 10},
		{"after the anchor", 20, 5, 10, 100, 25, 35},
		{"before the anchor", 20, -5, 10, 100, 15, 25},
		{"before the first row", 3, -9, 10, 100, 0, 10},
		{"past the end", 0, math.MaxInt, 10, 100, 90, 100},
		{"past the end from an anchor", 50, math.MaxInt, 10, 100, 90, 100},
		{"anchor behind every row", 100, 0, 10, 100, 90, 100},
		{"far before the first row", 20, math.MinInt, 10, 100, 0, 10},
		{"fewer rows than fit", 2, 7, 10, 4, 0, 4},
		{"no rows", 0, 0, 10, 0, 0, 0},
		{"only counting", 5, 0, 0, 100, 5, 5},
	} {
		start, end := Window(c.anchor, c.offset, c.limit, c.matched)
		if start != c.start || end != c.end {
			t.Errorf("%s: Window = %d, %d, want %d, %d", c.name, start, end, c.start, c.end)
		}
	}
}

func TestWordsSurviveTheWire(t *testing.T) {
	for p := PhaseStarting; p <= PhaseStopped; p++ {
		text, err := json.Marshal(p)
		var back Phase
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != p {
			t.Errorf("phase %v came back as %v, %v", p, back, err)
		}
	}
	for c := CauseWatch; c <= CauseResync; c++ {
		text, err := json.Marshal(c)
		var back Cause
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != c {
			t.Errorf("cause %v came back as %v, %v", c, back, err)
		}
	}
	var p Phase
	if err := json.Unmarshal([]byte(`"dozing"`), &p); err == nil {
		t.Error("an unknown phase was accepted")
	}
}

func TestTheLargestCauseIsNamed(t *testing.T) {
	var n CauseCounts
	n.Add(CauseWatch, 3)
	n.Add(CauseResync, 40)
	n.Add(CauseRelist, 2)
	if c, count := n.Largest(); c != CauseResync || count != 40 {
		t.Errorf("largest = %v %d, want resync 40", c, count)
	}
	if n.Total() != 45 {
		t.Errorf("total = %d, want 45", n.Total())
	}
}
