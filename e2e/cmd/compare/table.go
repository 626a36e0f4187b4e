package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// writeTable prints the medians of both, how they relate, and the budget.
func writeTable(out io.Writer, pods int, stock, ours []sample) error {
	both := func(pick func(sample) float64) (float64, float64) {
		return median(stock, pick), median(ours, pick)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d pods, medians of %d\tclient-go\tinformeter\tratio\tdifference\tbudget\t\n", pods, len(stock))
	for _, row := range []struct {
		what, unit, budget string
		pick               func(sample) float64
	}{
		{"first rows (stock: synced)", "ms", "+150 ms", func(s sample) float64 { return float64(s.first.Milliseconds()) }},
		{"all pods counted", "ms", "", func(s sample) float64 { return float64(s.all.Milliseconds()) }},
		{"processor time until then", "ms", "", func(s sample) float64 { return float64(s.work.Milliseconds()) }},
		{"resident memory", "MB", "+60 MB", func(s sample) float64 { return float64(s.resident) / 1e6 }},
		{"peak memory", "MB", "", func(s sample) float64 { return float64(s.peak) / 1e6 }},
		{"of a core while idle", "%", "1 %", func(s sample) float64 { return s.idle * 100 }},
	} {
		a, b := both(row.pick)
		ratio := "–"
		if a > 0 {
			ratio = fmt.Sprintf("%.2f", b/a)
		}
		fmt.Fprintf(w, "%s\t%.1f %s\t%.1f %s\t%s\t%+.1f %s\t%s\t\n", row.what, a, row.unit, b, row.unit, ratio, b-a, row.unit, row.budget)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

func median(samples []sample, pick func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = pick(s)
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
