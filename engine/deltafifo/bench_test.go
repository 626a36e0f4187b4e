package deltafifo_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

// benchQueues are the queues that are compared; drain pops and forgets
// everything.
var benchQueues = []struct {
	name  string
	make  func(cache.KeyListerGetter) cache.Queue
	drain func(b *testing.B, q cache.Queue, n int)
}{
	{"client-go-delta", func(k cache.KeyListerGetter) cache.Queue {
		return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: k, EmitDeltaTypeReplaced: true})
	}, drainByPop},
	{"deltafifo", func(k cache.KeyListerGetter) cache.Queue {
		return deltafifo.New(deltafifo.Options{KnownObjects: k})
	}, drainByEntries},
	{"client-go-real", func(cache.KeyListerGetter) cache.Queue {
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})
	}, drainByPop},
	{"inorder", func(k cache.KeyListerGetter) cache.Queue {
		return deltafifo.NewInOrder(deltafifo.Options{KnownObjects: k})
	}, drainByEntries},
}

func drainByPop(b *testing.B, q cache.Queue, n int) {
	for range n {
		if _, err := q.Pop(func(any, bool) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func drainByEntries(b *testing.B, q cache.Queue, n int) {
	for n > 0 {
		taken, _, err := q.(queue).PopEntries(upTo(512), succeed)
		if err != nil {
			b.Fatal(err)
		}
		n -= taken
	}
}

func benchObjects(n int) []any {
	objects := make([]any, n)
	for i := range objects {
		o := obj(fmt.Sprintf("pod-%07d", i), i)
		o.Namespace = "default"
		objects[i] = o
	}
	return objects
}

// BenchmarkAddPop is one watch event through the queue. batch is how many come
// before the consumer is there.
func BenchmarkAddPop(b *testing.B) {
	objects := benchObjects(1024)
	for _, c := range benchQueues {
		for _, batch := range []int{1, 64} {
			b.Run(fmt.Sprintf("queue=%s/batch=%d", c.name, batch), func(b *testing.B) {
				q := c.make(newKnown())
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					if err := q.Update(objects[n%len(objects)]); err != nil {
						b.Fatal(err)
					}
					if n++; n%batch == 0 {
						c.drain(b, q, batch)
					}
				}
			})
		}
	}
}

// BenchmarkReplace is a first list and taking it out again, an object.
func BenchmarkReplace(b *testing.B) {
	const keys = 100_000
	objects := benchObjects(keys)
	for _, c := range benchQueues[:2] {
		b.Run(fmt.Sprintf("queue=%s/keys=%d", c.name, keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q := c.make(newKnown())
				if err := q.Replace(objects, "1"); err != nil {
					b.Fatal(err)
				}
				c.drain(b, q, keys)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/object")
		})
	}
}

// BenchmarkResync is a round over a store that can be asked for all it holds,
// and taking it out again, an object.
func BenchmarkResync(b *testing.B) {
	const keys = 100_000
	store := &listed{}
	for _, o := range benchObjects(keys) {
		store.objects = append(store.objects, o)
		store.keys = append(store.keys, "default/"+o.(*object).Name)
	}
	store.byKey = make(map[string]any, keys)
	for i, key := range store.keys {
		store.byKey[key] = store.objects[i]
	}
	for _, c := range benchQueues[:2] {
		b.Run(fmt.Sprintf("queue=%s/keys=%d", c.name, keys), func(b *testing.B) {
			q := c.make(store)
			b.ReportAllocs()
			for b.Loop() {
				if err := q.Resync(); err != nil {
					b.Fatal(err)
				}
				c.drain(b, q, keys)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/object")
		})
	}
}

// listed is a store that never changes.
type listed struct {
	keys    []string
	objects []any
	byKey   map[string]any
}

func (l *listed) ListKeys() []string                     { return l.keys }
func (l *listed) Snapshot() ([]string, []any)            { return l.keys, l.objects }
func (l *listed) GetByKey(key string) (any, bool, error) { o, ok := l.byKey[key]; return o, ok, nil }

// BenchmarkLook is what a screen asks of a queue that holds this many keys.
func BenchmarkLook(b *testing.B) {
	const keys = 1_000_000
	holding := func(objects []any) *deltafifo.DeltaFIFO {
		q := deltafifo.New(deltafifo.Options{})
		if err := q.Replace(objects, "1"); err != nil {
			b.Fatal(err)
		}
		return q
	}
	objects := benchObjects(keys)
	q := holding(slices.Clone(objects))
	rand.New(rand.NewPCG(1, 2)).Shuffle(keys, func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	mixed := holding(objects)
	for _, c := range []struct {
		name string
		look func(now time.Time)
	}{
		{"vitals", func(now time.Time) { q.Vitals(now) }},
		{"page/filter=none", func(now time.Time) { q.Page(now, inspect.QueueQuery{Offset: keys / 2, Limit: 60}) }},
		{"page/filter=few", func(now time.Time) { q.Page(now, inspect.QueueQuery{Filter: "pod-0999", Limit: 60}) }},
		{"page/sort=key", func(now time.Time) { q.Page(now, inspect.QueueQuery{Sort: inspect.SortKey, Desc: true, Limit: 60}) }},
		{"page/sort=deltas", func(now time.Time) { q.Page(now, inspect.QueueQuery{Sort: inspect.SortDeltas, Desc: true, Limit: 60}) }},
		{"page/sort=key/deep", func(now time.Time) {
			q.Page(now, inspect.QueueQuery{Sort: inspect.SortKey, Offset: keys / 2, Limit: 60})
		}},
		{"page/sort=key/deep/mixed", func(now time.Time) {
			mixed.Page(now, inspect.QueueQuery{Sort: inspect.SortKey, Offset: keys / 2, Limit: 60})
		}},
	} {
		b.Run(fmt.Sprintf("keys=%d/%s", keys, c.name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.look(time.Now())
			}
		})
	}
}

// BenchmarkWaitingKey is the memory of a key that waits with one delta, in
// B/key; its object and key are not counted.
func BenchmarkWaitingKey(b *testing.B) {
	const keys = 200_000
	objects := benchObjects(keys)
	byKey := func(o any) (string, error) { return o.(*object).Name, nil }
	for b.Loop() {
		q := deltafifo.New(deltafifo.Options{KeyFunc: byKey})
		before := heap()
		for _, o := range objects {
			if err := q.Add(o); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/keys, "B/key")
		runtime.KeepAlive(q)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
