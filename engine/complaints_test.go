package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// listenToErrors returns what is reported as client-go reports errors, a line
// each, since it was last asked.
func listenToErrors(t *testing.T) (heard func() []string) {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	was := runtime.ErrorHandlers
	runtime.ErrorHandlers = []runtime.ErrorHandler{func(_ context.Context, err error, msg string, values ...any) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, runtime.ErrorToString(err, msg, values...))
	}}
	t.Cleanup(func() { runtime.ErrorHandlers = was })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { lines = nil }()
		return lines
	}
}

// expectLines checks that there are as many lines as texts, each with its text.
func expectLines(t *testing.T, lines []string, texts ...string) {
	t.Helper()
	if !slices.EqualFunc(lines, texts, strings.Contains) {
		t.Errorf("logged:\n%s\nwant %d lines with: %q", strings.Join(lines, "\n"), len(texts), texts)
	}
}

func TestWhatIsSetAsideIsLoggedOnceForEachReason(t *testing.T) {
	heard := listenToErrors(t)
	s := &script{lists: []string{"10: good@4 bad@6"}}
	reason := "cannot strip it"
	onScript(t, s, Options{Name: "pods"}, func(i *Informer) {
		_ = i.SetTransform(func(obj any) (any, error) {
			if strings.HasPrefix(label(obj), "bad") && reason != "" {
				return nil, errors.New(reason)
			}
			return obj, nil
		})
	}, func(t *testing.T, i *Informer) {
		step := func(after time.Duration, event string) []string {
			time.Sleep(after)
			s.send(event)
			synctest.Wait()
			return heard()
		}
		expectLines(t, heard(), `key="ns/bad" resourceVersion="6"`)
		expectLines(t, step(time.Second, "~bad@11"))
		reason = "has no annotations"
		expectLines(t, step(time.Second, "~bad@12"), "has no annotations")
		expectLines(t, step(time.Second, "~bad@13"))
		expectLines(t, step(complainAgain, "~bad@14"), "notLogged=1")
		reason = "" // it is well again
		expectLines(t, step(time.Second, "~bad@15"))
		reason = "has no annotations" // which is news then
		expectLines(t, step(time.Second, "~bad@16"), `"Object set aside" err="has no annotations" informer="pods" stage="transform" key="ns/bad" resourceVersion="16"`)
	})
}

func TestABadTransformDoesNotFillTheLog(t *testing.T) {
	heard := listenToErrors(t)
	s := &script{lists: []string{"10: " + numbered(5000, "")}}
	onScript(t, s, Options{}, func(i *Informer) {
		_ = i.SetTransform(func(any) (any, error) { return nil, errors.New("no") })
	}, func(t *testing.T, i *Informer) {
		if lines := heard(); len(lines) != complaintsAtOnce {
			t.Errorf("%d lines for 5000 objects, want %d", len(lines), complaintsAtOnce)
		}
		time.Sleep(3 * time.Second)
		s.send("+late@6000", "+later@6001", "+latest@6002", "+last@6003")
		synctest.Wait()
		lines := heard()
		if len(lines) != 3 || !strings.Contains(lines[0], fmt.Sprint("notLogged=", 5000-complaintsAtOnce)) {
			t.Errorf("a line a second is allowed, and says what was left out: %q", lines)
		}
	})
}

func TestAnIndexThatLeavesObjectsOutIsLogged(t *testing.T) {
	heard := listenToErrors(t)
	failing := func(obj any) ([]string, error) {
		if strings.HasPrefix(label(obj), "bad") {
			return nil, errors.New("no idea")
		}
		return nil, nil
	}
	s := &script{lists: []string{"10: good@4 bad1@5 bad2@6"}}
	onScript(t, s, Options{Indexers: cache.Indexers{"app": failing}}, nil, func(t *testing.T, i *Informer) {
		expectLines(t, heard(), `index="app" key="ns/bad1"`)
		s.send("~bad1@11", "~bad2@12")
		synctest.Wait()
		expectLines(t, heard())
		if err := i.AddIndexers(cache.Indexers{"late": failing}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		expectLines(t, heard(), `index="late"`)
		if err := i.store.AddIndex(t.Context(), "typed", "x", failing); err != nil { // somebody looks at it
			t.Fatal(err)
		}
		s.send("~bad1@13")
		time.Sleep(2 * complainAgain)
		synctest.Wait()
		if lines := heard(); slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "typed") }) {
			t.Errorf("an expression's index is complained of: %q", lines)
		}
	})
}

// TestWhatIsContainedIsLoggedWhereTheContextSays: the logger is that of the
// context that the informer runs with, as with client-go.
func TestWhatIsContainedIsLoggedWhereTheContextSays(t *testing.T) {
	was := runtime.ErrorHandlers
	runtime.ErrorHandlers = []runtime.ErrorHandler{func(ctx context.Context, err error, msg string, values ...any) {
		klog.FromContext(ctx).Error(err, msg, values...)
	}}
	t.Cleanup(func() { runtime.ErrorHandlers = was })
	for _, given := range []bool{true, false} {
		var out bytes.Buffer
		klog.SetOutput(&out)
		synctest.Test(t, func(t *testing.T) {
			i := New(&script{lists: []string{"10: bad@6"}}, pod(""), Options{})
			_ = i.SetTransform(refuseBad("error"))
			ctx, cancel := context.WithCancel(context.Background())
			if given {
				ctx = klog.NewContext(ctx, klog.NewKlogr().WithName("mine").WithValues("who", "me"))
			}
			go i.RunWithContext(ctx)
			synctest.Wait()
			cancel()
			synctest.Wait()
		})
		klog.Flush()
		klog.SetOutput(io.Discard)
		if got := out.String(); !strings.Contains(got, "ns/bad") || strings.Contains(got, `who="me"`) != given {
			t.Errorf("logger given %v: %s", given, got)
		}
	}
}
