package reflector

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	v1 "k8s.io/api/core/v1"

	"github.com/informeter/informeter/engine/inspect"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

func TestMain(m *testing.M) {
	flag.Parse()
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	// The default handlers sleep between errors, which would shift the times
	// that tests compare.
	utilruntime.ErrorHandlers = nil
	os.Exit(m.Run())
}

// TestScripts runs testdata/*.txt. A script is blocks of commands, each followed
// by ---- and by what the commands made the reflector do: the requests it made,
// what it called on the store, what it told OnError, and its phase at the end if
// that is not what it was. See (*script).run for the commands.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got, many string
			synctest.Test(t, func(t *testing.T) { got = play(t, string(text), false) })
			synctest.Test(t, func(t *testing.T) { many = play(t, string(text), true) })
			if diff := cmp.Diff(got, many); diff != "" {
				t.Errorf("a store that takes many events at once is treated differently (-one +many):\n%s", diff)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("-want +got (after reading the difference, rewrite with -update):\n%s", diff)
			}
		})
	}
}

// play runs a script, with a store that takes one event at a time or many, and
// returns it with the output it should have had.
func play(t *testing.T, text string, many bool) string {
	s := &script{t: t, many: many, trace: &trace{began: time.Now()}}
	s.server = newServer(s.trace)
	var out strings.Builder
	expected := false
	for line := range strings.Lines(text) {
		switch line := strings.TrimRight(line, "\n"); {
		case line == "----":
			expected = true
			fmt.Fprintln(&out, line)
			for _, l := range s.take() {
				fmt.Fprintln(&out, l)
			}
		case line == "":
			expected = false
			fmt.Fprintln(&out)
		case expected:
		default:
			fmt.Fprintln(&out, line)
			if !strings.HasPrefix(line, "#") {
				s.run(line)
				synctest.Wait()
			}
		}
	}
	s.stop()
	if n := s.server.stopLeaked(); n > 0 {
		t.Errorf("%d watches were not stopped", n)
	}
	return out.String()
}

// script is one reflector and all that it talks to.
type script struct {
	t         *testing.T
	many      bool // the store takes many events at once
	trace     *trace
	server    *server
	reflector *Reflector
	failing   sync.Map // by store call; the error it returns, once
	phase     string
	cancel    context.CancelFunc
	ended     chan struct{}
}

func (s *script) run(line string) {
	words := strings.Fields(line)
	command, args := words[0], words[1:]
	switch command {
	case "start":
		s.start(args)
	case "stop":
		s.stop()
	case "list":
		s.list(args)
	case "watch":
		a := watchAnswer{}
		if args[0] == "error" {
			a.err = failure(args[1])
		}
		s.server.watches <- a
	case "add", "modify", "delete", "unknown", "other", "bookmark", "error":
		s.server.current().send(scriptEvent(command, args))
	case "eof":
		s.server.current().close()
	case "advance":
		d, err := time.ParseDuration(args[0])
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(d)
	case "relist":
		s.reflector.Relist()
	case "fail": // fail CALL TEXT: the next such call of the store fails
		s.failing.Store(args[0], strings.Join(args[1:], " "))
	case "requests":
		s.printRequests()
	case "vitals":
		s.printVitals()
	default:
		s.t.Fatalf("unknown command %q", line)
	}
}

// start runs a reflector with the options named key=value. Its backoff has no
// jitter: 1 s, 2 s, 4 s and so on.
func (s *script) start(args []string) {
	o := Options{
		Name:            "test",
		TypeDescription: "pods",
		Backoff:         &wait.Backoff{Duration: time.Second, Factor: 2, Cap: 30 * time.Second, Steps: 10},
		OnError:         func(_ context.Context, err error) { s.trace.add("  OnError: %v", err) },
	}
	store := &recorder{trace: s.trace, fail: func(call string) error {
		text, ok := s.failing.LoadAndDelete(call)
		if !ok {
			return nil
		}
		return errors.New(text.(string))
	}}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		duration, _ := time.ParseDuration(value)
		switch key {
		case "list-only":
			s.server.noStreaming = true
		case "transform":
			store.transform = mark
		case "page":
			o.PageSize, _ = strconv.ParseInt(value, 10, 64)
		case "resync":
			o.ResyncPeriod = duration
		case "steady":
			o.SteadyResync = true
		case "spacing":
			o.WatchSpacing = duration
		case "marker":
			o.EndMarkerDeadline = duration
		case "grace":
			o.WatchGrace = duration
		case "internal":
			o.MaxInternalErrorRetry = duration
		default:
			s.t.Fatalf("unknown option %q", arg)
		}
	}
	s.reflector = New(s.server, &v1.Pod{}, store, o)
	if s.many {
		s.reflector = New(s.server, &v1.Pod{}, manyRecorder{store}, o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.ended = cancel, make(chan struct{})
	go func() {
		defer close(s.ended)
		s.reflector.Run(ctx)
	}()
}

// stop ends the reflector; a bubble in which something goes on then fails.
func (s *script) stop() {
	if s.cancel == nil {
		return
	}
	s.cancel()
	synctest.Wait()
	select {
	case <-s.ended:
	default:
		s.t.Error("Run goes on although its context ended")
	}
}

// list ok rv=5 [continue=TOKEN] [remaining=N] a@1 b@2, or list error WORD.
func (s *script) list(args []string) {
	if args[0] == "error" {
		s.server.lists <- listAnswer{err: failure(args[1])}
		return
	}
	list := &v1.PodList{}
	for _, arg := range args[1:] {
		switch key, value, _ := strings.Cut(arg, "="); key {
		case "rv":
			list.ResourceVersion = value
		case "continue":
			list.Continue = value
		case "remaining":
			n, _ := strconv.ParseInt(value, 10, 64)
			list.RemainingItemCount = &n
		default:
			list.Items = append(list.Items, *pod(arg))
		}
	}
	s.server.lists <- listAnswer{list: list}
}

// take returns what happened since the last call, and the phase if it changed.
func (s *script) take() []string {
	lines := s.trace.take()
	if s.reflector == nil {
		return lines
	}
	v := s.reflector.Vitals(time.Now())
	phase := fmt.Sprintf("%v rv=%q", v.Phase, v.ResourceVersion)
	if !v.NextAttempt.IsZero() {
		phase += fmt.Sprintf(" for %v", time.Until(v.NextAttempt))
	}
	if v.Phase == inspect.PhaseListing || v.Phase == inspect.PhaseStreamingList || v.Received != 0 || v.Expected != -1 {
		phase += fmt.Sprintf(" received %d of %d", v.Received, v.Expected)
	}
	if v.Failures > 0 {
		phase += fmt.Sprintf(" failures=%d", v.Failures)
	}
	if phase != s.phase {
		s.phase = phase
		lines = append(lines, phase)
	}
	return lines
}

func (s *script) printRequests() {
	requests := s.reflector.Requests()
	for i := len(requests) - 1; i >= 0; i-- {
		q := requests[i]
		line := fmt.Sprintf("#%d %s rv=%q", q.ID, q.Verb, q.ResourceVersion)
		if q.Match != "" {
			line += " " + q.Match
		}
		if q.Limit != 0 {
			line += fmt.Sprintf(" limit=%d", q.Limit)
		}
		line += fmt.Sprintf(" → %s", q.Outcome)
		if q.Code != 0 {
			line += fmt.Sprintf(" %d", q.Code)
		}
		if q.Error != "" {
			line += fmt.Sprintf(" (%s)", q.Error)
		}
		line += fmt.Sprintf(" rv=%q items=%d", q.Returned, q.Items)
		if !q.Marked.IsZero() {
			line += fmt.Sprintf(" initial=%d marked after %v", q.Initial, q.Marked.Sub(q.Started))
		}
		if q.Pages != 0 {
			line += fmt.Sprintf(" pages=%d", q.Pages)
		}
		if q.Bookmarks != 0 {
			line += fmt.Sprintf(" bookmarks=%d", q.Bookmarks)
		}
		line += fmt.Sprintf(" in %v", q.Lifetime)
		if q.Next != "" {
			line += ", next: " + q.Next
		}
		if !q.NextAt.IsZero() {
			line += fmt.Sprintf(" after %v", q.NextAt.Sub(q.Ended))
		}
		s.trace.add("%s", line)
	}
	v := s.reflector.RequestVitals()
	s.trace.add("%d lists, %d watch-lists, %d watches, %d failed", v.Lists, v.WatchLists, v.Watches, v.Failed)
}

func (s *script) printVitals() {
	v := s.reflector.Vitals(time.Now())
	s.trace.add("A %d U %d D %d bookmarks %d relists %d skipped %d", v.Added, v.Updated, v.Deleted, v.Bookmarks, v.Relists, v.Skipped)
	if v.LastSkipped != "" {
		s.trace.add("skipped: %s", v.LastSkipped)
	}
	if v.Error != "" {
		s.trace.add("error: %s (op %s, reason %q)", v.Error, v.ErrorOp, v.ErrorReason)
	}
	next, last, rounds := s.reflector.Resync()
	if !next.IsZero() || rounds > 0 {
		since := "never"
		if !last.IsZero() {
			since = fmt.Sprintf("%v ago", time.Since(last))
		}
		due := "not running"
		if !next.IsZero() {
			due = fmt.Sprintf("in %v", time.Until(next))
		}
		s.trace.add("resync: %d rounds, last %s, next %s", rounds, since, due)
	}
}

// mark is a transform that can be seen, and seen twice.
func mark(obj any) (any, error) {
	p, ok := obj.(*v1.Pod)
	if !ok {
		return obj, nil
	}
	if p.Name == "bad" {
		return nil, errors.New("bad object")
	}
	p = p.DeepCopy()
	p.Labels = map[string]string{"transformed": p.Labels["transformed"] + "t"}
	return p, nil
}
