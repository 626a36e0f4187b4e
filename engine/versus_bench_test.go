//go:build unix

package engine_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"
)

// The machinery of BenchmarkBudgets: two sides do the same work in turn, round
// by round, in one process on the same objects, and what is compared is the
// median round of each.

// lap is one measured piece of work, or the median of several.
type lap struct {
	wall, cpu time.Duration // cpu is the whole process's, the collector's work included
	allocs    uint64
	bytes     float64 // only where memory is what is measured
}

// stopwatch measures one lap. A side sets up what it needs, calls time with what
// is to be measured, and cleans up. Work that begins by itself is bracketed with
// start and stop.
type stopwatch struct {
	lap
	began    time.Time
	cpuBegan time.Duration
	before   runtime.MemStats
}

func (s *stopwatch) time(work func()) {
	s.start()
	work()
	s.stop()
}

func (s *stopwatch) start() {
	runtime.ReadMemStats(&s.before)
	s.began, s.cpuBegan = time.Now(), cpuTime()
}

func (s *stopwatch) stop() {
	s.wall, s.cpu = time.Since(s.began), cpuTime()-s.cpuBegan
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	s.allocs = after.Mallocs - s.before.Mallocs
}

// cpuTime returns the processor time that the process has used. What other
// processes do on the machine is not in it, apart from what they do to caches.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// row is one line of the table.
type row struct {
	work string // what is measured, per operation
	// against is the other side; empty is client-go's informer.
	against string
	// budget is the largest ratio allowed, allocs the most allocations of ours;
	// 0: none.
	budget, allocs float64
	// operations are what one lap does.
	operations int
	// laps are run by each side in a round; 0 is one.
	laps         int
	ours, theirs lap // medians, per lap
	inBytes      bool
}

// race lets the two sides take turns, who goes first changing every round.
func (r *row) race(b *testing.B, theirs, ours func(*stopwatch)) {
	var laps [2][]lap
	for b.Loop() {
		for range max(1, r.laps) {
			round := takeTurns(len(laps[0]), theirs, ours)
			for side := range laps {
				laps[side] = append(laps[side], round[side])
			}
		}
	}
	r.theirs, r.ours = medianLap(laps[0]), medianLap(laps[1])
	b.ReportMetric(0, "ns/op")
	if r.inBytes {
		b.ReportMetric(r.ours.bytes/float64(r.operations), "ours-B/op")
		b.ReportMetric(r.theirs.bytes/float64(r.operations), "theirs-B/op")
		b.ReportMetric(r.ours.bytes/r.theirs.bytes, "ratio")
		return
	}
	per := func(d time.Duration) float64 { return float64(d) / float64(r.operations) }
	b.ReportMetric(per(r.ours.wall), "ours-ns/op")
	b.ReportMetric(per(r.theirs.wall), "theirs-ns/op")
	b.ReportMetric(r.wallRatio(), "ratio")
	b.ReportMetric(r.cpuRatio(), "cpu-ratio")
	b.ReportMetric(r.allocsOf(r.ours), "ours-allocs/op")
	b.ReportMetric(r.allocsOf(r.theirs), "theirs-allocs/op")
}

// takeTurns lets each side run one lap; the second begins in every other round.
func takeTurns(round int, sides ...func(*stopwatch)) []lap {
	laps := make([]lap, len(sides))
	for turn := range sides {
		side := (turn + round) % len(sides)
		var s stopwatch
		sides[side](&s)
		laps[side] = s.lap
	}
	return laps
}

// If two sides race, each runs once a round and each begins as often as the
// other: the median of one must not be a single lap, nor one that always comes
// first.
func TestBenchmarkSidesTakeTurns(t *testing.T) {
	order := ""
	for round := range 4 {
		laps := takeTurns(round,
			func(s *stopwatch) { order += "a"; s.allocs = 1 },
			func(s *stopwatch) { order += "b"; s.allocs = 2 },
		)
		if laps[0].allocs != 1 || laps[1].allocs != 2 {
			t.Errorf("round %d has the laps %v, each in the place of its side wanted", round, laps)
		}
	}
	if want := "abbaabba"; order != want {
		t.Errorf("the sides ran in the order %s, want %s", order, want)
	}
}

func (r *row) allocsOf(l lap) float64 { return float64(l.allocs) / float64(r.operations) }

func (r *row) wallRatio() float64 { return float64(r.ours.wall) / float64(r.theirs.wall) }
func (r *row) cpuRatio() float64  { return float64(r.ours.cpu) / float64(r.theirs.cpu) }

// medianLap returns the medians of everything that was measured.
func medianLap(laps []lap) lap {
	return lap{
		wall:   median(laps, func(l lap) time.Duration { return l.wall }),
		cpu:    median(laps, func(l lap) time.Duration { return l.cpu }),
		allocs: median(laps, func(l lap) uint64 { return l.allocs }),
		bytes:  median(laps, func(l lap) float64 { return l.bytes }),
	}
}

func median[N time.Duration | uint64 | float64](laps []lap, of func(lap) N) N {
	values := make([]N, len(laps))
	for i, l := range laps {
		values[i] = of(l)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// verdict says whether the row is within its budget.
func (r *row) verdict() string {
	if r.budget == 0 {
		return ""
	}
	ratios := map[string]float64{"wall": r.wallRatio(), "CPU": r.cpuRatio()}
	if r.inBytes {
		ratios = map[string]float64{"size": r.ours.bytes / r.theirs.bytes}
	}
	var missed []string
	for what, ratio := range ratios {
		if ratio > r.budget {
			missed = append(missed, what)
		}
	}
	if r.allocs > 0 && r.allocsOf(r.ours) > r.allocs {
		missed = append(missed, "allocations")
	}
	if len(missed) == 0 {
		return "met"
	}
	slices.Sort(missed)
	return "missed: " + strings.Join(missed, ", ")
}

// printTable prints the rows that were run.
func printTable(rows []*row) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	fmt.Fprintf(w, "\nper operation\tclient-go\tours\tratio\tof CPU\tallocs\tours\tbudget\t\t\n")
	for _, r := range rows {
		if r.ours == (lap{}) {
			continue
		}
		budget := ""
		if r.budget > 0 {
			budget = fmt.Sprintf("%.3g", r.budget)
		}
		if r.allocs > 0 {
			budget += fmt.Sprintf(", %.0f allocs", r.allocs)
		}
		work := r.work
		if r.against != "" {
			work += " (against " + r.against + ")"
		}
		if r.inBytes {
			fmt.Fprintf(w, "%s\t%.0f B\t%.0f B\t%.2f\t\t\t\t%s\t%s\t\n", work,
				r.theirs.bytes/float64(r.operations), r.ours.bytes/float64(r.operations), r.ours.bytes/r.theirs.bytes, budget, r.verdict())
			continue
		}
		each := func(d time.Duration) string { return inUnits(float64(d) / float64(r.operations)) }
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%.2f\t%.1f\t%.1f\t%s\t%s\t\n", work, each(r.theirs.wall), each(r.ours.wall),
			r.wallRatio(), r.cpuRatio(), r.allocsOf(r.theirs), r.allocsOf(r.ours), budget, r.verdict())
	}
}

// inUnits writes nanoseconds so that they can be compared at a glance.
func inUnits(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%.1f ms", ns/1e6)
	case ns >= 1e5:
		return fmt.Sprintf("%.0f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.0f ns", ns)
	}
}
