package deltafifo_test

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
)

// TestWhatAListKeepsStaysAsItIs: whatever the newest state of k is and wherever
// it stands, a list that keeps k neither changes nor buries it. What the list
// has besides, and what it leaves out, comes as ever.
func TestWhatAListKeepsStaysAsItIs(t *testing.T) {
	for name, c := range map[string]struct {
		stored []*object
		before func(*deltafifo.DeltaFIFO) error // k's state when the list comes
		flying bool                             // it is in flight then
		want   []string                         // popped of k, afterwards
		left   []string                         // in the store, at the end
	}{
		"unknown":      {nil, nil, false, nil, []string{"a=9"}},
		"in the store": {[]*object{obj("k", 1)}, nil, false, nil, []string{"a=9", "k=1"}},
		"update waits": {
			[]*object{obj("k", 1)},
			func(q *deltafifo.DeltaFIFO) error { return q.Update(obj("k", 2)) }, false,
			[]string{"Updated k@2"},
			[]string{"a=9", "k=2"},
		},
		"add waits": {
			nil, func(q *deltafifo.DeltaFIFO) error { return q.Add(obj("k", 2)) }, false,
			[]string{"Added k@2"},
			[]string{"a=9", "k=2"},
		},
		"deletion waits": {
			[]*object{obj("k", 1)},
			func(q *deltafifo.DeltaFIFO) error { return q.Delete(obj("k", 2)) }, false,
			[]string{"Deleted k@2"},
			[]string{"a=9"},
		},
		"add in flight": {
			nil, func(q *deltafifo.DeltaFIFO) error { return q.Add(obj("k", 2)) }, true, nil, []string{"a=9", "k=2"},
		},
		"deletion in flight": {
			[]*object{obj("k", 1)}, func(q *deltafifo.DeltaFIFO) error { return q.Delete(obj("k", 2)) }, true, nil, []string{"a=9"},
		},
		"resync waits": {
			[]*object{obj("k", 1)}, (*deltafifo.DeltaFIFO).Resync, false, []string{"Sync k@1"}, []string{"a=9", "k=1"},
		},
		"resync in flight": {[]*object{obj("k", 1)}, (*deltafifo.DeltaFIFO).Resync, true, nil, []string{"a=9", "k=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newKnown(c.stored...)
			q := deltafifo.New(deltafifo.Options{KnownObjects: store})
			relist := func() {
				items := []any{deltafifo.Keep{Key: "k"}, obj("a", 9)}
				must(t, q.Replace(items, "9"), q.CheckInvariants())
				if items[0] != (deltafifo.Keep{Key: "k"}) {
					t.Error("the caller's list was written to")
				}
			}
			if c.before != nil {
				must(t, c.before(q))
			}
			if c.flying {
				_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
					relist()
					return store.applyAll(batch)
				})
				must(t, err)
			} else {
				relist()
			}
			want(t, "popped", drain(t, q, store), append(c.want, "Replaced a@9", "Bookmark@9"))
			want(t, "left", store.contents(), c.left)
		})
	}
}

func TestAListThatKeepsIsAppliedBeforeItIsSynced(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Replace([]any{obj("a", 1), deltafifo.Keep{Key: "k"}}, "1"), q.CheckInvariants())
	if q.HasSynced() {
		t.Error("synced before a was applied")
	}
	drain(t, q, newKnown())
	if !q.HasSynced() {
		t.Error("not synced, although all there is of the list has been applied")
	}
}

func TestAnInOrderPassesOnWhatAListKeeps(t *testing.T) {
	transformed := 0
	q := deltafifo.NewInOrder(deltafifo.Options{Transformer: func(o any) (any, error) { transformed++; return o, nil }})
	must(t, q.Replace([]any{deltafifo.Keep{Key: "k"}, obj("a", 9)}, "9"), q.CheckInvariants())
	_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		got := batch[0].Object.(cache.ReplacedAllInfo).Objects
		if len(got) != 2 || got[0] != (deltafifo.Keep{Key: "k"}) {
			t.Errorf("the list is %v", got)
		}
		return nil
	})
	must(t, err)
	if transformed != 1 {
		t.Errorf("%d objects were transformed, want the one that is one", transformed)
	}
}
