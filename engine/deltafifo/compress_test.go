package deltafifo_test

import (
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
