package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/informeter/informeter/e2e/terminal"
)

const (
	// limit is how long the process may take for anything that is not measured.
	limit = time.Minute
	// look is how often the screen is looked at for the answer to a key.
	look = 500 * time.Microsecond
)

// latencies are how long it took from a key to its answer on the screen.
type latencies []time.Duration

// quantile returns the duration that the fraction q did not exceed.
func (l latencies) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l))
	return sorted[min(int(float64(len(sorted))*q), len(sorted)-1)]
}

// measure runs the process that is measured, in a terminal. With keys it presses
// some while it runs, and notes how long their answers took.
func measure(ctx context.Context, o options, rate int, screen bool, keys *latencies) (r report, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, fmt.Errorf("find this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "informeter-pace-")
	if err != nil {
		return r, fmt.Errorf("make a folder for the report: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "report.json")
	cmd := exec.CommandContext(ctx, self, subjectMode, "--keys", strconv.Itoa(o.keys), "--rate", strconv.Itoa(rate),
		"--seconds", strconv.Itoa(o.seconds), "--keymap", o.keymap, "--screen="+strconv.FormatBool(screen), "--report", file,
		"--profile", o.profileOf(rate, screen))
	term, err := terminal.Start(cmd, 200, 60)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, term.Close()) }()
	began, used := time.Now(), cpuTime()
	if screen {
		if err := toStore(term); err != nil {
			return r, err
		}
	}
	if keys != nil {
		if err := press(ctx, term, o.length(), keys); err != nil {
			return r, err
		}
	}
	if _, err := term.Wait(limit + o.length()); err != nil {
		return r, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("read the report (on the screen was:\n%s): %w", term.Screen(), err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read the report: %w", err)
	}
	r.Terminal = (cpuTime() - used).Seconds() / time.Since(began).Seconds()
	return r, nil
}

// profileOf returns where a run writes its CPU profile; empty if nowhere.
func (o options) profileOf(rate int, screen bool) string {
	switch {
	case o.profile == "":
		return ""
	case rate > 0:
		return o.profile + "-steady"
	case screen:
		return o.profile + "-with"
	}
	return o.profile + "-without"
}

// toStore goes to the screen that has the most to draw.
func toStore(term *terminal.Terminal) error {
	if err := term.WaitFor("the first screen", has("Store"), limit); err != nil {
		return err
	}
	if err := term.Send("3"); err != nil {
		return err
	}
	return term.WaitFor("rows", has("shop-00/pod-"), limit)
}

func has(text string) func(string) bool {
	return func(screen string) bool { return strings.Contains(screen, text) }
}

// helpText is on the help screen and nowhere else.
const helpText = "half a page"

// press opens and closes the help until the time is over, or the program ends,
// whose time began earlier.
func press(ctx context.Context, term *terminal.Terminal, length time.Duration, keys *latencies) error {
	if err := sleep(ctx, warmUp); err != nil {
		return err
	}
	end := time.Now().Add(length - time.Second)
	for open := true; time.Now().Before(end) && !term.Ended(); open = !open {
		began := time.Now()
		if err := term.Send("?"); err != nil {
			return err
		}
		answered, err := awaitHelp(term, open, began)
		if err != nil || !answered {
			return err
		}
		*keys = append(*keys, time.Since(began))
		// No rhythm that could keep step with the frames.
		if err := sleep(ctx, time.Duration(20+len(*keys)*37%33)*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// awaitHelp waits for the answer to a key: that the help is there, or gone. It
// returns false if the program's time was over before. Between two writes it does
// not look: to read the whole screen every millisecond takes much of a processor,
// just while the program needs it.
func awaitHelp(term *terminal.Terminal, open bool, began time.Time) (answered bool, err error) {
	for seen := term.Written() - 1; ; time.Sleep(look) {
		if now := term.Written(); now != seen {
			seen = now
			if strings.Contains(term.Screen(), helpText) == open {
				return true, nil
			}
		}
		if term.Ended() {
			return false, nil
		}
		if time.Since(began) > limit {
			return false, fmt.Errorf("a key had no answer for %v; the screen:\n%s", limit, term.Screen())
		}
	}
}

func writeTable(out io.Writer, o options, bare, shown []report, paced report, keys latencies) error {
	events := func(r report) float64 { return r.Events }
	without, with := median(bare, events), median(shown, events)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d keys, Store screen at 200x60\tmeasured\tbudget\t\n", o.keys)
	fmt.Fprintf(w, "events to a handler without the screen\t%.0f/s\t\t\n", without)
	fmt.Fprintf(w, "with the screen\t%.0f/s\t\t\n", with)
	fmt.Fprintf(w, "lost to the screen\t%.1f %%\t10 %%\t\n", 100*(1-with/without))
	cpu := func(r report) float64 { return r.CPU }
	fmt.Fprintf(w, "processor time an event, without and with\t%.1f, %.1f µs\t\t\n", median(bare, cpu), median(shown, cpu))
	fmt.Fprintf(w, "writes to the terminal meanwhile\t%.0f/s\t\t\n", median(shown, func(r report) float64 { return r.Writes }))
	fmt.Fprintf(w, "of a core, for the terminal and who looks at it\t%.1f %%\t\t\n", 100*median(shown, func(r report) float64 { return r.Terminal }))
	fmt.Fprintf(w, "skipped by the journal meanwhile\t%.0f\t\t\n", median(shown, func(r report) float64 { return float64(r.LostJournal) }))
	if o.rate > 0 {
		writeSteady(w, o, paced, keys)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

func writeSteady(w io.Writer, o options, paced report, keys latencies) {
	fmt.Fprintf(w, "at %d events a second: handled\t%.0f/s\t\t\n", o.rate, paced.Events)
	fmt.Fprintf(w, "writes to the terminal\t%.0f/s\t\t\n", paced.Writes)
	fmt.Fprintf(w, "bytes to the terminal\t%.0f kB/s\t\t\n", paced.Bytes/1000)
	fmt.Fprintf(w, "key to frame, median of %d\t%.1f ms\t\t\n", len(keys), ms(keys.quantile(0.5)))
	fmt.Fprintf(w, "99 %%\t%.1f ms\t16 ms\t\n", ms(keys.quantile(0.99)))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(reports []report, pick func(report) float64) float64 {
	values := make([]float64, len(reports))
	for i, r := range reports {
		values[i] = pick(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
