package demo

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Initial events and bookmarks: what a watch tells beside the changes.

func TestInitialEventsEndWithAnAnnotatedBookmark(t *testing.T) {
	for _, revision := range []string{"", "0", "101", "103"} {
		onBench(t, func(b bench) {
			b.put("b/1", "a/1") // 101 102
			b.elsewhere(1)
			w := b.open(opening(revision))
			b.put("a/1") // 104
			b.wantTold(w, "+a/1@102 +b/1@101 bookmark@103:end ~a/1@104")
			time.Sleep(61 * time.Second)
			b.wantTold(w, "bookmark@104")
		})
	}
}

func TestInitialEventsOfNothingEndAtOnce(t *testing.T) {
	onBench(t, func(b bench) {
		b.wantTold(b.open(opening("")), "bookmark@100:end")
	})
}

func TestInitialEventsWithoutBookmarksHaveNoEndMark(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1")
		o := opening("")
		o.AllowWatchBookmarks = false
		w := b.open(o)
		time.Sleep(5 * time.Minute)
		b.wantTold(w, "+a/1@101")
	})
}

func TestInitialEventsCanBeDeclined(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "a/2") // 101 102
		for from, want := range map[string]string{"": "", "0": "", "101": "+a/2@102"} {
			o := opening(from)
			o.SendInitialEvents = never()
			w := b.open(o)
			b.wantTold(w, want)
			w.Stop()
		}
	})
}

func TestInitialEventsFromARevisionThatDoesNotComeAreAnError(t *testing.T) {
	onBench(t, func(b bench) {
		began := time.Now()
		w := b.open(opening("500"))
		if waited := time.Since(began); waited != freshFor {
			b.t.Errorf("refused after %v, want %v", waited, freshFor)
		}
		e := <-w.ResultChan()
		err := apierrors.FromObject(e.Object)
		if e.Type != watch.Error || !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) ||
			!strings.Contains(err.Error(), "Too large resource version: 500, current: 100") {
			b.t.Errorf("the watch said %s %v", e.Type, err)
		}
		b.wantTold(w, "closed")

		go func() {
			time.Sleep(time.Second)
			b.put("a/1")
		}()
		b.wantTold(b.open(opening("101")), "+a/1@101 bookmark@101:end")
	})
}

func TestBookmarksComeInTheirPeriodAndBeforeTheEnd(t *testing.T) {
	onBench(t, func(b bench) {
		began := time.Now()
		w := b.open(metav1.ListOptions{ResourceVersion: "100", AllowWatchBookmarks: true, TimeoutSeconds: seconds(150)})
		go func() {
			for i := range 15 {
				time.Sleep(9 * time.Second)
				b.elsewhere(1) // what no pod shows, a bookmark does
				if i == 2 {
					b.put("a/1")
				}
			}
		}()
		var got []string
		for e := range w.ResultChan() {
			got = append(got, fmt.Sprintf("%s after %v", tell(e), time.Since(began)))
		}
		got = append(got, fmt.Sprint("closed after ", time.Since(began)))
		want := []string{
			"+a/1@104 after 27s", "bookmark@107 after 1m0s", "bookmark@114 after 2m0s",
			"bookmark@116 after 2m28s", "closed after 2m30s",
		}
		if !slices.Equal(got, want) {
			b.t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func TestBookmarksDoNotOvertakeWhatIsStillToBeTold(t *testing.T) {
	onBench(t, func(b bench) {
		bookmarks := 0
		// Which of two things that are due comes first is chance.
		for range 20 {
			from := formatRevision(b.server.revision)
			w := b.open(metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true})
			b.put("a/1", "a/2", "a/3", "a/4", "a/5", "a/6")
			time.Sleep(2 * time.Minute) // the client takes nothing, and bookmarks fall due
			known, events := b.server.revision-6, 0
			for events < 6 {
				e := <-w.ResultChan()
				revision, err := parseRevision(e.Object.(object).GetResourceVersion())
				if err != nil {
					b.t.Fatal(err)
				}
				if e.Type != watch.Bookmark {
					known, events = revision, events+1
					continue
				}
				bookmarks++
				if revision != known {
					b.t.Errorf("a bookmark says %d, but the client has been told of %d", revision, known)
				}
			}
			w.Stop()
		}
		if bookmarks == 0 {
			b.t.Error("no bookmark came between events")
		}
	})
}

func TestABookmarkIsNotOlderThanTheWatch(t *testing.T) {
	onBench(t, func(b bench) {
		w := b.open(metav1.ListOptions{ResourceVersion: "103", AllowWatchBookmarks: true})
		b.put("a/1")
		time.Sleep(2*time.Minute + time.Second)
		b.wantTold(w, "")
		b.elsewhere(3)
		time.Sleep(time.Minute)
		b.wantTold(w, "bookmark@104")
	})
}

func TestAWatchThatDidNotAskForBookmarksGetsNone(t *testing.T) {
	onBench(t, func(b bench) {
		w := b.open(metav1.ListOptions{ResourceVersion: "100"})
		time.Sleep(10 * time.Minute)
		b.wantTold(w, "")
	})
}
