package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// The store's resource version says how far it has come: everything until then is
// in it, or was set aside. Who waits for it to be reached must not wait for what
// never comes.

func TestTheStoreReachesTheVersionOfWhatWasSetAside(t *testing.T) {
	const always = 1 << 20
	for name, c := range map[string]struct {
		list      string
		events    []string
		transform cache.TransformFunc
		want      string
		aside     string // the stages of what is set aside
	}{
		"an event cannot be applied":             {"10: a@5", []string{"+bad@11"}, touchyAt(map[string]int32{"11": always}), "11", "apply"},
		"an event is tried again":                {"10: a@5", []string{"+bad@11"}, touchyAt(map[string]int32{"11": 2}), "11", ""},
		"an event cannot be transformed":         {"10: a@5", []string{"~a@6", "+bad@11"}, spoil("error", called("bad")), "11", "transform"},
		"what it becomes has no key":             {"10: a@5", []string{"+bad@11"}, spoil("keyless", called("bad")), "11", "transform"},
		"more comes after it":                    {"10: a@5", []string{"+bad@11", "~a@12"}, spoil("error", called("bad")), "12", "transform"},
		"one of a list cannot be applied":        {"10: bad@5", nil, touchyAt(map[string]int32{"5": always}), "10", "apply"},
		"a bookmark comes between":               {"10: a@5", []string{"~a@11", "B@12", "~a@13"}, nil, "13", ""},
		"one of a list cannot be transformed":    {"10: bad@5", nil, spoil("error", called("bad")), "10", "transform"},
		"a bookmark comes after what is tried":   {"10: a@5", []string{"+bad@11", "B@15"}, touchyAt(map[string]int32{"11": 2}), "15", ""},
		"a bookmark comes after what is no good": {"10: a@5", []string{"+bad@11", "B@15"}, touchyAt(map[string]int32{"11": always}), "15", "apply"},
		"what was set aside is deleted":          {"10: a@5", []string{"+bad@11", "-bad@12"}, spoil("error", called("bad")), "12", ""},
		"it is deleted twice":                    {"10: a@5", []string{"-a@11", "-a@12"}, nil, "12", ""},
		"what is tried again is superseded":      {"10: a@5", []string{"+bad@11", "~bad@12"}, touchyAt(map[string]int32{"11": 1}), "12", ""},
		"one overtakes another":                  {"10: a@5", []string{"~a@11", "+b@12", "~a@13"}, nil, "13", ""},
	} {
		t.Run(name, func(t *testing.T) {
			eachQueue(t, func(t *testing.T, queue Queue) {
				s := &script{lists: []string{c.list}}
				onScript(t, s, Options{Queue: queue}, func(i *Informer) { _ = i.SetTransform(c.transform) }, func(t *testing.T, i *Informer) {
					_ = i.Pause(t.Context())
					s.send(c.events...)
					synctest.Wait()
					_ = i.Resume(t.Context())
					synctest.Wait()
					got, aside := snapshot(t, i), []string{}
					for _, q := range got.Quarantine {
						aside = append(aside, q.Stage)
					}
					if got.Store.ResourceVersion != c.want || got.Reflector.ResourceVersion != c.want || got.Store.Behind || strings.Join(aside, " ") != c.aside {
						t.Errorf("store at %q, behind %v, reflector at %q, want %s; set aside at %v, want %q",
							got.Store.ResourceVersion, got.Store.Behind, got.Reflector.ResourceVersion, c.want, aside, c.aside)
					}
				})
			})
		})
	}
}

// TestTheStoreReachesTheVersionOfAListOfWhichOneIsTriedAgain: an InOrder has the list
// as one entry, of which nothing is tried again.
func TestTheStoreReachesTheVersionOfAListOfWhichOneIsTriedAgain(t *testing.T) {
	s := &script{lists: []string{"10: bad@5"}}
	onScript(t, s, Options{}, func(i *Informer) { _ = i.SetTransform(touchyAt(map[string]int32{"5": 2})) }, func(t *testing.T, i *Informer) {
		if got := snapshot(t, i); got.Store.ResourceVersion != "10" || got.Store.Objects != 1 || len(got.Quarantine) > 0 {
			t.Errorf("store at %q with %d objects, set aside %+v", got.Store.ResourceVersion, got.Store.Objects, got.Quarantine)
		}
	})
}

// TestTheStoreDoesNotReachWhatStillWaits: what is set aside lets the version go no
// further than to where everything has been dealt with.
func TestTheStoreDoesNotReachWhatStillWaits(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		s := &script{lists: []string{"10: a@5"}}
		onScript(t, s, Options{Queue: queue}, func(i *Informer) { _ = i.SetTransform(touchyAt(map[string]int32{"11": 1 << 20})) }, func(t *testing.T, i *Informer) {
			_ = i.Pause(t.Context())
			s.send("+bad@11", "~a@12")
			synctest.Wait()
			for _, want := range []struct {
				version string
				aside   int
			}{{"10", 0}, {"10", 0}, {"10", 0}, {"10", 1}, {"12", 1}} {
				_ = i.Step(t.Context(), 1)
				synctest.Wait()
				got := snapshot(t, i)
				if got.Store.ResourceVersion != want.version || len(got.Quarantine) != want.aside || got.Store.Behind != (want.version != "12") {
					t.Errorf("store at %q, behind %v, %d set aside, want %+v", got.Store.ResourceVersion, got.Store.Behind, len(got.Quarantine), want)
				}
			}
		})
	})
}

// TestTheStoreDoesNotReachWhatWasOvertaken: a DeltaFIFO hands out the deltas of a key
// together, and those of a list in any order.
func TestTheStoreDoesNotReachWhatWasOvertaken(t *testing.T) {
	for name, c := range map[string]struct {
		events  []string
		options Options
		touchy  map[string]int32
		want    []string // the store's version after each delta
	}{
		"an update":              {[]string{"~a@11", "+b@12", "~a@13"}, Options{}, nil, []string{"11", "11", "13"}},
		"an update in order":     {[]string{"~a@11", "+b@12", "~a@13"}, Options{Queue: InOrder}, nil, []string{"11", "12", "13"}},
		"none":                   {[]string{"~a@11", "~a@12", "+b@13"}, Options{}, nil, []string{"11", "12", "13"}},
		"one that is compressed": {[]string{"~a@11", "+b@12", "~a@13"}, Options{Hardening: Hardening{CompressUpdates: true}}, nil, []string{"10", "13"}},
		"a deletion":             {[]string{"~a@11", "+b@12", "-a@13"}, Options{}, nil, []string{"11", "11", "13"}},
		"a list":                 {[]string{"~a@11", "E410"}, Options{}, nil, []string{"11", "11", "11", "20"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{lists: []string{"10: a@5", "20: c@19 a@15 b@17"}}
			onScript(t, s, c.options, nil, func(t *testing.T, i *Informer) {
				_ = i.Pause(t.Context())
				s.send(c.events...)
				time.Sleep(time.Minute)
				for n, want := range c.want {
					_ = i.Step(t.Context(), 1)
					synctest.Wait()
					if got := i.store.ResourceVersion(); got != want {
						t.Errorf("store at %q after %d deltas, want %s", got, n+1, want)
					}
				}
			})
		})
	}
}

// TestTheStoreDoesNotReachWhatIsTriedAgain: what is handled with it is not all.
func TestTheStoreDoesNotReachWhatIsTriedAgain(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		s := &script{lists: []string{"10: a@5"}}
		onScript(t, s, Options{Queue: queue}, func(i *Informer) { _ = i.SetTransform(touchyAt(map[string]int32{"11": 1})) }, func(t *testing.T, i *Informer) {
			_ = i.Pause(t.Context())
			s.send("+bad@11", "~a@12")
			synctest.Wait()
			for _, want := range []string{"10", "12"} {
				_ = i.Step(t.Context(), 2)
				synctest.Wait()
				if got := i.store.ResourceVersion(); got != want {
					t.Errorf("store at %q, want %s", got, want)
				}
			}
		})
	})
}

// slowToLog lets whoever logs an error take its time, such as the reflector, which
// then notes later than things are handled what it has enqueued.
func slowToLog(t *testing.T) {
	was := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(context.Context, error, string, ...any) { time.Sleep(10 * time.Second) }}
	t.Cleanup(func() { utilruntime.ErrorHandlers = was })
}

// TestTheStoreGoesBackWithItsServer: a version that was reached before must not come
// back when a reflector has not noted yet that it is gone.
func TestTheStoreGoesBackWithItsServer(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		slowToLog(t)
		s := &script{lists: []string{"100: a@90", "5: a@3 bad@4"}}
		onScript(t, s, Options{Queue: queue}, func(i *Informer) { _ = i.SetTransform(spoil("error", called("bad"))) }, func(t *testing.T, i *Informer) {
			_ = i.Pause(t.Context())
			_ = i.RelistNow(t.Context())
			synctest.Wait()
			_ = i.Resume(t.Context())
			synctest.Wait()
			if got := i.store.ResourceVersion(); got != "5" || i.LastSyncResourceVersion() != "100" {
				t.Errorf("store at %q, want 5; reflector at %q, want it not to have noted that", got, i.LastSyncResourceVersion())
			}
			time.Sleep(time.Minute)
			s.send("~a@6")
			synctest.Wait()
			if got := i.store.ResourceVersion(); got != "6" {
				t.Errorf("store at %q, want 6", got)
			}
		})
	})
}

// TestTheStoreReachesWhatIsNotedLate: everything may have been dealt with before the
// reflector says how far that is.
func TestTheStoreReachesWhatIsNotedLate(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		slowToLog(t)
		fails, touchy := spoil("error", called("bad")), touchyAt(map[string]int32{"12": 1 << 20})
		s := &script{lists: []string{"10: a@9"}}
		onScript(t, s, Options{Queue: queue}, func(i *Informer) {
			_ = i.SetTransform(func(obj any) (any, error) {
				obj, err := fails(obj)
				if err != nil {
					return nil, err
				}
				return touchy(obj)
			})
		}, func(t *testing.T, i *Informer) {
			_ = i.Pause(t.Context())
			s.send("+bad@11", "+worse@12")
			synctest.Wait()
			_ = i.Resume(t.Context())
			synctest.Wait()
			time.Sleep(time.Minute)
			if got := snapshot(t, i); got.Store.ResourceVersion != "12" || got.Store.Behind {
				t.Errorf("store at %q, behind %v, want 12", got.Store.ResourceVersion, got.Store.Behind)
			}
		})
	})
}
