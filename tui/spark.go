package tui

// samples is how many seconds a sparkline remembers.
const samples = 60

// series is one value a second, the newest last. Seconds in which nobody looked
// are holes.
type series struct {
	values [samples]float64
	seen   [samples]bool
}

func (s *series) shift(n int) {
	n = min(n, samples)
	copy(s.values[:], s.values[n:])
	copy(s.seen[:], s.seen[n:])
	clear(s.values[samples-n:])
	clear(s.seen[samples-n:])
}

func (s *series) set(v float64) { s.values[samples-1], s.seen[samples-1] = v, true }

var levels = [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// most is the largest value of the newest w seconds.
func (s *series) most(w int) float64 {
	most := 0.0
	for _, v := range s.values[samples-min(w, samples):] {
		most = max(most, v)
	}
	return most
}

// spark draws the newest w seconds in rows lines, the upper one first: one cell a
// second, from 0 to the largest value in sight, which is taken to be at least
// full.
func (s *series) spark(w, rows int, full float64) []string {
	w = min(w, samples)
	most := full
	for i := samples - w; i < samples; i++ {
		most = max(most, s.values[i])
	}
	lines := make([]string, rows)
	out := make([]byte, 0, 3*w)
	for row := range rows {
		out = out[:0]
		under := (rows - 1 - row) * len(levels) // eighths that lie below this row
		for i := samples - w; i < samples; i++ {
			height := 0
			if s.values[i] > 0 && most > 0 {
				height = min(int(s.values[i]/most*float64(rows*len(levels)))+1, rows*len(levels))
			}
			switch {
			case !s.seen[i], height <= under && under > 0:
				out = append(out, ' ')
			case height <= under:
				out = append(out, levels[0]...) // zero is a line too
			default:
				out = append(out, levels[min(height-under, len(levels))-1]...)
			}
		}
		lines[row] = string(out)
	}
	return lines
}

// grown draws the newest w seconds in one line as spark does, from the first of
// them that anybody saw on: it grows to the right, until it is w cells wide.
func (s *series) grown(w int, full float64) string {
	w = max(min(w, samples), 0)
	for w > 0 && !s.seen[samples-w] {
		w--
	}
	return s.spark(w, 1, full)[0]
}

// history is what the explorer has seen of one informer, sampled once a second.
type history struct {
	second int64
	events, depth, handled, objects,
	pending series
}

// sample takes the values of a frame. Of those in the same second the largest
// stays: what a screen writes out is never above the line beside it.
func (h *history) sample(f *frame) {
	second := f.at.Unix()
	if second < h.second {
		return
	}
	passed := samples
	if h.second != 0 {
		passed = int(min(second-h.second, samples))
	}
	h.second = second
	s := &f.snapshot.value
	for _, c := range []struct {
		series *series
		value  float64
	}{
		{&h.events, s.Reflector.EventRate},
		{&h.depth, float64(s.Queue.Deltas)},
		{&h.handled, s.Handle.Rate},
		{&h.objects, float64(s.Store.Objects)},
		{&h.pending, float64(pendingInAll(s))},
	} {
		if c.series.shift(passed); passed == 0 {
			c.value = max(c.value, c.series.values[samples-1])
		}
		c.series.set(c.value)
	}
}

// bar draws part of whole in w cells, in eighths of a cell.
func bar(part, whole float64, w int) string {
	if whole <= 0 || part <= 0 || w <= 0 {
		return ""
	}
	eighths := int(part/whole*float64(w)*8 + 0.5)
	eighths = max(min(eighths, w*8), 1)
	out := make([]byte, 0, 3*w)
	for range eighths / 8 {
		out = append(out, "█"...)
	}
	if rest := eighths % 8; rest > 0 {
		out = append(out, [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}[rest]...)
	}
	return string(out)
}
