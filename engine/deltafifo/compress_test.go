package deltafifo_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/deltafifo"
)

func TestAdjacentUpdatesAreCompressedOnDemand(t *testing.T) {
	for compress, popped := range map[bool][]string{
		false: {"Added a@1", "Updated a@2", "Updated a@3", "Updated a@4", "Deleted a@5", "Added a@6", "Updated a@7"},
		true:  {"Added a@1", "Updated a@4", "Deleted a@5", "Added a@6", "Updated a@7"},
	} {
		store := newKnown()
		q := deltafifo.New(deltafifo.Options{KnownObjects: store, Compress: compress})
		must(t, q.Add(obj("a", 1)), q.Update(obj("a", 2)), q.Update(obj("a", 3)), q.Update(obj("a", 4)))
		must(t, q.Delete(obj("a", 5)), q.Add(obj("a", 6)), q.Update(obj("a", 7)), q.CheckInvariants())
		if got := q.Vitals(time.Now()); got.Deltas != len(popped) || got.Compressed != uint64(7-len(popped)) {
			t.Errorf("compress %v: %d deltas wait, %d took another's place", compress, got.Deltas, got.Compressed)
		}
		want(t, "popped", drain(t, q, store), popped)
	}
}

func TestADeltaCountsThoseItStandsFor(t *testing.T) {
	store := newKnown(obj("a", 1), obj("b", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: store, Compress: true})
	must(t, q.Replace(list(obj("a", 1)), "")) // and a tombstone for b
	must(t, q.Update(obj("a", 2)), q.Update(obj("a", 3)), q.Update(obj("a", 4)))
	must(t, q.Replace(list(obj("a", 5)), ""), q.Replace(list(obj("a", 6)), ""))
	must(t, q.Delete(obj("b", 7)), q.Delete(obj("b", 8)), q.Add(obj("b", 9)))
	var got []string
	_, _, err := q.PopEntries(upTo(10), func(batch []deltafifo.Entry) (failed []deltafifo.Entry) {
		for _, e := range batch {
			got = append(got, fmt.Sprintf("%s for %d more", text(e.Key, e.Delta), e.Merged))
		}
		return batch[2:3]
	})
	must(t, err, q.CheckInvariants())
	want(t, "popped", got, []string{
		"Replaced a@1 for 0 more", "Updated a@4 for 2 more", "Replaced a@6 for 1 more", "Deleted b@7 for 2 more", "Added b@9 for 0 more",
	})
	if v := q.Vitals(time.Now()); v.Deltas != 1 {
		t.Fatalf("%d deltas wait, want the one that failed", v.Deltas)
	}
	_, _, err = q.PopEntries(upTo(10), func(batch []deltafifo.Entry) []deltafifo.Entry {
		if batch[0].Merged != 1 {
			t.Errorf("put back, it stands for %d more, want still 1", batch[0].Merged)
		}
		return nil
	})
	must(t, err)
}

func TestWhatIsInFlightIsNotCompressed(t *testing.T) {
	store := newKnown(obj("a", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: store, Compress: true})
	must(t, q.Update(obj("a", 2)))
	_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Update(obj("a", 3)), q.Update(obj("a", 4)))
		return store.applyAll(batch)
	})
	must(t, err, q.CheckInvariants())
	want(t, "popped", drain(t, q, store), []string{"Updated a@4"})
}

// TestCompressionChangesNoOutcome runs one script through a queue that
// compresses and one that does not: both stores end up the same.
func TestCompressionChangesNoOutcome(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		stores := []*known{newKnown(), newKnown()}
		var queues []*deltafifo.DeltaFIFO
		for n, store := range stores {
			queues = append(queues, deltafifo.New(deltafifo.Options{KnownObjects: store, Compress: n == 1}))
		}
		for rv := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			op := rapid.IntRange(0, 6).Draw(rt, "op")
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "name")
			for n, q := range queues {
				switch op {
				case 0:
					must(rt, q.Add(obj(name, rv)))
				case 1, 2, 3:
					must(rt, q.Update(obj(name, rv)))
				case 4:
					must(rt, q.Delete(obj(name, rv)))
				case 5:
					must(rt, q.Replace(list(obj(name, rv)), ""))
				case 6:
					if q.Vitals(time.Now()).Deltas == 0 {
						continue // nothing to pop would be waited for
					}
					_, _, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) []deltafifo.Entry {
						return stores[n].applyAll(batch)
					})
					must(rt, err)
				}
				must(rt, q.CheckInvariants())
			}
		}
		for n, q := range queues {
			q.Close()
			for {
				if _, _, err := q.PopEntries(upTo(100), func(batch []deltafifo.Entry) []deltafifo.Entry {
					return stores[n].applyAll(batch)
				}); err != nil {
					break
				}
			}
		}
		want(t, "store", stores[1].contents(), stores[0].contents())
	})
}
