package deltafifo_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/tap"
)

func TestTheReflectorIsHeldBackOnlyWhileABatchIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{BackPressureAt: 3})
		// Nobody pops: nobody is held.
		for i := range 10 {
			must(t, q.Add(obj(fmt.Sprint(i), i)))
		}
		if v := q.Vitals(time.Now()); v.Deltas != 10 || v.Held != 0 || v.BackPressure {
			t.Fatalf("behind a closed gate %+v, want ten deltas in sight and nobody held", v)
		}
		apply := make(chan struct{})
		pop := func() {
			_, _, err := q.PopEntries(upTo(5), func([]deltafifo.Entry) []deltafifo.Entry {
				<-apply
				return nil
			})
			must(t, err)
		}
		var added bool
		go pop()
		synctest.Wait()
		go func() {
			must(t, q.Add(obj("late", 1)))
			added = true
		}()
		synctest.Wait()
		if v := q.Vitals(time.Now()); added || !v.BackPressure || v.Held != 1 || v.Deltas != 5 || v.InFlight != 5 {
			t.Fatalf("with five waiting and a batch in flight: added %v, %+v", added, v)
		}
		apply <- struct{}{}
		synctest.Wait()
		if v := q.Vitals(time.Now()); !added || v.BackPressure || v.Deltas != 6 {
			t.Fatalf("after the batch: added %v, %+v", added, v)
		}
		// Closing lets go too.
		added = false
		go pop()
		synctest.Wait()
		q2 := func() {
			must(t, q.Replace(list(obj("x", 1), obj("y", 1), obj("z", 1)), "1"))
			added = true
		}
		must(t, q.Add(obj("one", 1))) // 1 waits: below the mark
		must(t, q.Add(obj("two", 1)))
		go q2()
		synctest.Wait()
		if added {
			t.Fatal("a Replace above the mark went through while a batch was in flight")
		}
		q.Close()
		synctest.Wait()
		if !added {
			t.Fatal("closing did not let the reflector go")
		}
		apply <- struct{}{}
	})
}

func TestAListIsNeverSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{BackPressureAt: 2})
		must(t, q.Add(obj("a", 1)))
		apply := make(chan struct{})
		go func() {
			_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
				<-apply
				return nil
			})
			must(t, err)
		}()
		synctest.Wait()
		objects := make([]any, 100)
		for i := range objects {
			objects[i] = obj(fmt.Sprint(i), 2)
		}
		must(t, q.Replace(objects, "2")) // below the mark when it comes: goes through as a whole
		if v := q.Vitals(time.Now()); v.Deltas != 101 || v.Held != 0 {
			t.Errorf("%d deltas wait, %d held back; want the list and a's tombstone", v.Deltas, v.Held)
		}
		close(apply)
	})
}

func TestReadersAreWokenByChangesAndByBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g tap.Generation
		q := deltafifo.New(deltafifo.Options{BackPressureAt: 1, Generation: &g})
		changed := func(what string, do func()) {
			t.Helper()
			before := g.Current()
			do()
			synctest.Wait()
			if g.Current() == before {
				t.Errorf("%s changed nothing for readers", what)
			}
		}
		apply := make(chan struct{})
		changed("an addition", func() { must(t, q.Add(obj("a", 1)), q.Add(obj("b", 1))) })
		changed("a pop", func() {
			go func() {
				_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
					<-apply
					return nil
				})
				must(t, err)
			}()
		})
		changed("holding the reflector back", func() {
			go func() { must(t, q.Bookmark("2")) }()
		})
		changed("applying", func() { close(apply) })
		changed("closing", q.Close)
	})
}

func TestCloseLetsGoOfConsumersOnceEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Add(obj("a", 1)))
		done := make(chan error, 3)
		apply := make(chan struct{})
		for range 3 {
			go func() {
				_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
					<-apply
					return nil
				})
				done <- err
			}()
		}
		synctest.Wait()
		q.Close()
		q.Close()
		close(apply)
		synctest.Wait()
		closed := 0
		for range 3 {
			if errors.Is(<-done, cache.ErrFIFOClosed) {
				closed++
			}
		}
		if closed != 2 {
			t.Errorf("%d of 3 consumers were told that the queue is closed, want 2: one delta was left", closed)
		}
		if _, err := q.Pop(nil); !errors.Is(err, cache.ErrFIFOClosed) {
			t.Errorf("Pop of a closed queue = %v", err)
		}
	})
}

func TestConsumersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)))
		var processing, done atomic.Int32
		apply := make(chan struct{})
		for range 2 {
			go func() {
				_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
					processing.Add(1)
					<-apply
					return nil
				})
				must(t, err)
				done.Add(1)
			}()
		}
		synctest.Wait()
		if processing.Load() != 1 {
			t.Fatalf("%d batches are in flight at once", processing.Load())
		}
		close(apply)
		synctest.Wait()
		if done.Load() != 2 {
			t.Fatalf("%d of 2 consumers had their turn", done.Load())
		}
	})
}
