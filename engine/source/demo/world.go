package demo

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// world is the cluster's life: what exists, and an agenda of what happens next.
// Everything in it happens in one goroutine, in the order of the agenda, and
// draws from one random source: the same seed makes the same history, whatever
// clients do. It is not safe for concurrent use; the server is.
type world struct {
	server  *server
	options Options
	random  *rand.Rand
	agenda  agenda
	// clock is the time of what is happening now, from the beginning.
	clock time.Duration
	// booked counts the items ever put on the agenda, to order those of one
	// time.
	booked uint64

	nodes       []*node
	deployments []*deployment
	// statefulSets are there in some scenarios.
	statefulSets []*statefulSet
	pods         []*pod
	// podWrites counts the writes to pods, for the pace.
	podWrites uint64
	// nextIP counts the addresses given to pods.
	nextIP int
}

// agenda is what will happen, as a heap: the earliest first, and of one time
// what was booked first.
type agenda []item

type item struct {
	at    time.Duration
	order uint64
	do    func()
}

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a agenda) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	return a[i].order < a[j].order
}
func (a *agenda) Push(x any) { *a = append(*a, x.(item)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last] = item{}
	*a = (*a)[:last]
	return x
}

// after books do for d from now.
func (w *world) after(d time.Duration, do func()) {
	w.booked++
	heap.Push(&w.agenda, item{w.clock + d, w.booked, do})
}

// repeat does step after first, and again after whatever step returns, for
// ever.
func (w *world) repeat(first time.Duration, step func() time.Duration) {
	w.after(first, func() { w.repeat(step(), step) })
}

// late is how far the world may be behind the clock before it stops catching up:
// after a machine has slept, life goes on instead of racing.
const late = time.Second

// run lives until the context ends.
func (w *world) run(ctx context.Context) {
	began := time.Now().Add(-w.clock)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil && len(w.agenda) > 0 {
		wait := time.Until(began.Add(w.agenda[0].at))
		if wait < -late {
			began = began.Add(-wait)
		}
		if wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		}
		w.step()
	}
}

// step does what is next on the agenda.
func (w *world) step() {
	next := heap.Pop(&w.agenda).(item)
	w.clock = next.at
	next.do()
}

// between returns a random duration, low <= d < high.
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.random.Int64N(int64(high-low)))
}

// about returns a random duration whose mean is d: many shorter ones, few much
// longer.
func (w *world) about(d time.Duration) time.Duration {
	return time.Duration(float64(d) * min(w.random.ExpFloat64(), 5))
}

// wave is a factor that gently goes up and down around 1.
func (w *world) wave() float64 {
	t := w.clock.Seconds()
	return 1 + 0.35*math.Sin(2*math.Pi*t/37) + 0.15*math.Sin(2*math.Pi*t/11)
}

// nameAlphabet has no vowels and nothing that looks like another character, as
// in generated names.
const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789"

// suffix returns n random characters for a generated name.
func (w *world) suffix(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = nameAlphabet[w.random.IntN(len(nameAlphabet))]
	}
	return string(b)
}

// hex returns n random hexadecimal digits.
func (w *world) hex(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[w.random.IntN(len(digits))]
	}
	return string(b)
}

func (w *world) uid() types.UID {
	return types.UID(fmt.Sprintf("%s-%s-4%s-%x%s-%s",
		w.hex(8), w.hex(4), w.hex(3), 8+w.random.IntN(4), w.hex(3), w.hex(12)))
}

// now is the present in the precision of the wire, one second.
func (w *world) now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }

// ago is a time before the present.
func (w *world) ago(d time.Duration) metav1.Time {
	return metav1.NewTime(time.Now().Add(-d).Truncate(time.Second))
}
