package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"
)

// wantTold fails unless a watch says exactly that before it falls silent.
func (b bench) wantTold(w watch.Interface, want string) {
	b.t.Helper()
	if got := told(w); got != want {
		b.t.Errorf("the watch said [%s], want [%s]", got, want)
	}
}

func TestAWatchReplaysWhatCameAfterItsRevision(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "a/2") // 101 102
		b.elsewhere(2)
		b.put("a/1")    // 105
		b.remove("a/2") // 106
		for _, c := range []struct{ from, want string }{
			{"100", "+a/1@101 +a/2@102 ~a/1@105 -a/2@106"},
			{"102", "~a/1@105 -a/2@106"},
			{"103", "~a/1@105 -a/2@106"},
			{"105", "-a/2@106"},
			{"106", ""},
		} {
			w := b.open(metav1.ListOptions{ResourceVersion: c.from})
			b.wantTold(w, c.want)
			w.Stop()
		}
		w := b.open(metav1.ListOptions{ResourceVersion: "105"})
		b.put("b/1") // 107
		b.wantTold(w, "-a/2@106 +b/1@107")
		b.put("b/1")
		b.wantTold(w, "~b/1@108")
		w.Stop()
		b.wantTold(w, "closed")
	})
}

func TestAWatchOfANamespaceHearsOfNoOther(t *testing.T) {
	onBench(t, func(b bench) {
		w := b.in("a").open(metav1.ListOptions{ResourceVersion: "100"})
		initial := b.in("a").open(metav1.ListOptions{})
		b.put("a/1", "a-b/1", "b/1", "a0/1", "a/2")
		b.remove("b/1")
		b.wantTold(w, "+a/1@101 +a/2@105")
		b.wantTold(initial, "+a/1@101 +a/2@105")
		again := b.in("a").open(metav1.ListOptions{})
		b.wantTold(again, "+a/1@101 +a/2@105")
	})
}

func TestAWatchFromBeforeTheHistoryIsOneError(t *testing.T) {
	onBenchWith(t, limits{history: 2, buffer: 2}, func(b bench) {
		b.put("a/1", "a/1", "a/1", "a/1") // 101..104, of which 103 and 104 are remembered
		w := b.open(metav1.ListOptions{ResourceVersion: "102"})
		b.wantTold(w, "~a/1@103 ~a/1@104")
		w = b.open(metav1.ListOptions{ResourceVersion: "101"})
		e := <-w.ResultChan()
		err := apierrors.FromObject(e.Object)
		if e.Type != watch.Error || !apierrors.IsResourceExpired(err) || err.Error() != "too old resource version: 101 (102)" {
			b.t.Errorf("the watch said %s %v, want an error: too old resource version: 101 (102)", e.Type, err)
		}
		b.wantTold(w, "closed")
		w.Stop()
	})
}

func TestAWatchWithoutARevisionBeginsWithWhatThereIs(t *testing.T) {
	for _, revision := range []string{"", "0"} {
		onBench(t, func(b bench) {
			b.put("b/1", "a/1", "b/1")
			b.server.compact(pods)
			w := b.open(metav1.ListOptions{ResourceVersion: revision, AllowWatchBookmarks: true})
			b.wantTold(w, "+a/1@102 +b/1@103")
			b.put("a/1")
			b.wantTold(w, "~a/1@104")
		})
	}
}

func TestAWatchFromARevisionToComeWaitsForWhatFollowsIt(t *testing.T) {
	onBench(t, func(b bench) {
		w := b.open(metav1.ListOptions{ResourceVersion: "103"})
		b.put("a/1", "a/2", "a/3", "a/4")
		b.wantTold(w, "+a/4@104")
	})
}

func TestAWatchWithoutATimeoutEndsAfterHalfAnHourToAnHour(t *testing.T) {
	onBench(t, func(b bench) {
		began := time.Now()
		for range b.open(metav1.ListOptions{ResourceVersion: "100"}).ResultChan() {
			b.t.Error("an event")
		}
		if lived := time.Since(began); lived < defaultTimeout || lived > 2*defaultTimeout {
			b.t.Errorf("it ended after %v", lived)
		}
	})
}

func TestAWatchEndsWithItsContext(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "a/2")
		ctx, cancel := context.WithCancel(b.t.Context())
		w, err := b.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: "100"})
		if err != nil {
			b.t.Fatal(err)
		}
		synctest.Wait() // it is about to send
		cancel()
		b.wantTold(w, "closed")
		w.Stop()
		w.Stop()
	})
}

func TestStopEndsAWatchWhoseClientTakesNothing(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "a/2", "a/3")
		for _, o := range []metav1.ListOptions{{}, {ResourceVersion: "100"}, opening("")} {
			w := b.open(o)
			synctest.Wait()
			w.Stop()
			b.wantTold(w, "closed")
		}
		b.server.streams.Wait()
	})
}

func TestWatchesRefuseWhatContradictsItself(t *testing.T) {
	onBench(t, func(b bench) {
		notOlder := metav1.ResourceVersionMatchNotOlderThan
		for _, c := range []struct {
			options metav1.ListOptions
			code    int
			text    string
		}{
			{metav1.ListOptions{SendInitialEvents: yes()}, 422, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
			{metav1.ListOptions{SendInitialEvents: yes(), ResourceVersionMatch: "Exact"}, 422, "Unsupported value"},
			{metav1.ListOptions{ResourceVersionMatch: notOlder}, 422, "forbidden for watch unless sendInitialEvents is provided"},
			{metav1.ListOptions{SendInitialEvents: yes(), ResourceVersionMatch: notOlder, Continue: "x"}, 422, "forbidden when continue is provided"},
			{metav1.ListOptions{ResourceVersion: "-1"}, 400, "invalid resource version"},
			{metav1.ListOptions{FieldSelector: "spec.colour=red"}, 400, "field label not supported: spec.colour"},
		} {
			w, err := b.Watch(c.options)
			if err == nil {
				w.Stop()
			}
			if statusCode(err) != c.code || !strings.Contains(err.Error(), c.text) {
				b.t.Errorf("watch %s: %v; want status %d that says %q", describe(c.options), err, c.code, c.text)
			}
		}
	})
}

func TestObjectsEnterAndLeaveASelector(t *testing.T) {
	onBench(t, func(b bench) {
		byLabel := b.open(metav1.ListOptions{ResourceVersion: "100", LabelSelector: "app=x"})
		byNode := b.open(metav1.ListOptions{ResourceVersion: "100", FieldSelector: "spec.nodeName=n1"})
		b.put("a/1@n1 app=x") // 101
		b.put("a/1@n1 app=y") // 102
		b.put("a/1@n2 app=y") // 103
		b.put("a/1@n1 app=x") // 104
		b.put("a/1@n1 app=x") // 105
		b.remove("a/1")       // 106
		b.put("a/2@n3 app=z") // 107
		b.remove("a/2")
		b.wantTold(byLabel, "+a/1@101 -a/1@102 +a/1@104 ~a/1@105 -a/1@106")
		b.wantTold(byNode, "+a/1@101 ~a/1@102 -a/1@103 +a/1@104 ~a/1@105 -a/1@106")
	})
}

func TestWhatLeavesASelectorIsShownAsItLastMatched(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1 app=x", "a/2 app=x")
		w := b.open(metav1.ListOptions{ResourceVersion: "102", LabelSelector: "app=x"})
		b.put("a/1 app=y")
		b.remove("a/2")
		for range 2 {
			e := <-w.ResultChan()
			if p := e.Object.(*corev1.Pod); e.Type != watch.Deleted || p.Labels["app"] != "x" {
				b.t.Errorf("%s with labels %v, want a deletion with app=x", tell(e), p.Labels)
			}
		}
	})
}

func TestWhatIsSentBelongsToTheClient(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1 app=x")
		w := b.open(metav1.ListOptions{})
		other := b.open(metav1.ListOptions{})
		b.put("a/1 app=x")
		b.remove("a/1")
		for range 3 { // added, modified, deleted
			mine, theirs := (<-w.ResultChan()).Object.(*corev1.Pod), (<-other.ResultChan()).Object.(*corev1.Pod)
			if mine.Labels["app"] != "x" || theirs.Labels["app"] != "x" {
				b.t.Errorf("the labels are %v and %v after a client wrote to its copy", mine.Labels, theirs.Labels)
			}
			mine.Labels["app"] = "mine"
			if theirs.Labels["app"] != "x" {
				b.t.Error("two clients were given one object")
			}
		}
	})
}

func TestAClientThatCannotKeepUpIsDropped(t *testing.T) {
	onBenchWith(t, limits{history: 100, buffer: 10, bookmarks: time.Minute}, func(b bench) {
		slow := b.open(metav1.ListOptions{ResourceVersion: "100"})
		fast := b.open(metav1.ListOptions{ResourceVersion: "100"})
		// One event is in the stream's hand, ten are behind its cursor.
		for i := range 11 {
			b.put(fmt.Sprintf("a/%d", i))
			b.wantTold(fast, fmt.Sprintf("+a/%d@%d", i, 101+i))
		}
		if got := tell(<-slow.ResultChan()); got != "+a/0@101" {
			b.t.Errorf("within its bounds it said %s", got)
		}
		b.put("b/1")
		b.wantTold(slow, "closed")
		b.wantTold(fast, "+b/1@112")
		// Who goes on from what it knows misses nothing.
		again := b.open(metav1.ListOptions{ResourceVersion: "101"})
		b.wantTold(again, "+a/1@102 +a/2@103 +a/3@104 +a/4@105 +a/5@106 +a/6@107 +a/7@108 +a/8@109 +a/9@110 +a/10@111 +b/1@112")
	})
}

func TestAClientMayTakeItsTimeWithTheInitialEvents(t *testing.T) {
	onBenchWith(t, limits{history: 30, buffer: 5, bookmarks: time.Minute}, func(b bench) {
		b.put("a/1", "a/2")
		w, late := b.open(opening("")), b.open(opening(""))
		synctest.Wait()
		for range 30 {
			b.put("a/1")
		}
		got := told(w)
		if !strings.HasPrefix(got, "+a/1@101 +a/2@102 bookmark@102:end ~a/1@103 ") || !strings.HasSuffix(got, "~a/1@132") {
			b.t.Errorf("the watch said [%s]", got)
		}
		b.put("a/1") // now what the other would need has left the history
		b.wantTold(late, "closed")
	})
}

func TestACompactionUnderAWatchIsAnError(t *testing.T) {
	onBench(t, func(b bench) {
		w := b.open(metav1.ListOptions{ResourceVersion: "100"})
		b.put("a/1")
		b.wantTold(w, "+a/1@101")
		b.server.expire(pods)
		b.wantTold(w, "error:410:Expired closed")
		b.wantTold(b.open(metav1.ListOptions{ResourceVersion: "100"}), "error:410:Expired closed")
		b.wantTold(b.open(metav1.ListOptions{ResourceVersion: "101"}), "")
	})
}

func TestACutConnectionIsClosedWithoutAWord(t *testing.T) {
	onBench(t, func(b bench) {
		w := b.open(metav1.ListOptions{ResourceVersion: "100"})
		b.put("a/1", "a/2")
		synctest.Wait()
		b.server.cut(pods)
		b.wantTold(w, "closed")
		b.wantTold(b.open(metav1.ListOptions{ResourceVersion: "100"}), "+a/1@101 +a/2@102")
	})
}

// TestAListAndItsWatchMakeTheNextList is the contract of informers: whoever
// applies to a list what a watch from its revision says has the present list,
// whatever the namespace and the selectors; and is told nothing that makes no
// sense.
func TestAListAndItsWatchMakeTheNextList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		history := rapid.IntRange(1, 60).Draw(rt, "history")
		before := rapid.SliceOfN(rapid.Custom(drawStep), 0, 30).Draw(rt, "before")
		between := rapid.SliceOfN(rapid.Custom(drawStep), 0, 30).Draw(rt, "between")
		during := rapid.SliceOfN(rapid.Custom(drawStep), 0, 30).Draw(rt, "during")
		namespace := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "namespace")
		labels := rapid.SampledFrom([]string{"", "app=x", "!tier"}).Draw(rt, "labels")
		fields := rapid.SampledFrom([]string{"", "spec.nodeName=n1", "metadata.name!=2"}).Draw(rt, "fields")
		stream := rapid.Bool().Draw(rt, "stream")
		var err error
		synctest.Test(t, func(*testing.T) {
			s := newServer(limits{history: history, buffer: history, bookmarks: time.Minute}, firstRevision)
			defer s.shutDown()
			b := bench{&endpoint{server: s, table: s.tables[pods], namespace: namespace, labels: labels, fields: []string{fields}}, t}
			err = follow(b, before, between, during, stream)
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// follow makes the steps and follows them as an informer does, with initial
// events or with a list.
func follow(b bench, before, between, during []step, stream bool) error {
	do := func(steps []step) {
		for _, st := range steps {
			st.apply(b.server)
		}
	}
	do(before)
	known := map[string]string{}
	options := opening("")
	if !stream {
		text, m, err := b.list(metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, one := range strings.Fields(text) {
			key, revision, _ := strings.Cut(one, "@")
			known[key] = revision
		}
		options = metav1.ListOptions{ResourceVersion: m.GetResourceVersion()}
		do(between)
	}
	w, err := b.Watch(options)
	if err != nil {
		return err
	}
	if stream {
		do(between)
	}
	for round := range 2 {
		if err := apply(known, told(w)); err != nil {
			return err
		}
		if _, gone := known["gone"]; gone {
			return nil
		}
		text, _, err := b.list(metav1.ListOptions{})
		if err != nil {
			return err
		}
		var have []string
		for _, key := range slices.Sorted(maps.Keys(known)) {
			have = append(have, key+"@"+known[key])
		}
		want := strings.Fields(text)
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(have, want) {
			return fmt.Errorf("round %d: the client has %v, the server %v", round, have, want)
		}
		do(during)
	}
	return nil
}

// apply does what a watch said. A watch that ended, because the history is too
// short for it, is marked as gone.
func apply(known map[string]string, said string) error {
	for _, one := range strings.Fields(said) {
		key, revision, _ := strings.Cut(one[1:], "@")
		_, exists := known[key]
		switch {
		case one == "closed" || strings.HasPrefix(one, "error:410"):
			known["gone"] = one
		case strings.HasPrefix(one, "bookmark"):
		case one[0] == '+' && exists, one[0] != '+' && !exists:
			return fmt.Errorf("%s, when the client has %v", one, known)
		case one[0] == '-':
			delete(known, key)
		default:
			known[key] = revision
		}
	}
	return nil
}
