package demo

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
	"pgregory.net/rapid"
)

func TestAListIsAsOfTheRevisionThatWasAskedFor(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/one", "a/two") // 101 102
		b.elsewhere(3)          // 103 104 105
		b.put("a/one")          // 106
		b.remove("a/two")       // 107
		b.elsewhere(1)          // 108
		now, then := "a/one@106", "a/one@101 a/two@102"
		exact := metav1.ResourceVersionMatchExact
		notOlder := metav1.ResourceVersionMatchNotOlderThan

		b.wantList(metav1.ListOptions{}, now, "108")
		b.wantList(metav1.ListOptions{ResourceVersion: "0"}, now, "108")
		b.wantList(metav1.ListOptions{ResourceVersion: "102"}, now, "108")
		b.wantList(metav1.ListOptions{ResourceVersion: "102", ResourceVersionMatch: notOlder, Limit: 5}, now, "108")
		b.wantList(metav1.ListOptions{ResourceVersion: "102", ResourceVersionMatch: exact}, then, "102")
		b.wantList(metav1.ListOptions{ResourceVersion: "104", Limit: 5}, then, "104")
		b.wantList(metav1.ListOptions{ResourceVersion: "106", Limit: 5}, "a/one@106 a/two@102", "106")
		b.wantList(metav1.ListOptions{ResourceVersion: "100", ResourceVersionMatch: exact}, "", "100")
	})
}

func TestAListFromBeforeTheHistoryIsGone(t *testing.T) {
	onBenchWith(t, limits{history: 2, buffer: 2}, func(b bench) {
		b.put("a/one", "a/one", "a/one", "a/one") // 101..104, of which 103 and 104 are remembered
		b.wantList(metav1.ListOptions{ResourceVersion: "102", ResourceVersionMatch: "Exact"}, "a/one@102", "102")
		for _, o := range []metav1.ListOptions{
			{ResourceVersion: "101", ResourceVersionMatch: "Exact"},
			{ResourceVersion: "101", Limit: 1},
		} {
			_, _, err := b.list(o)
			if !apierrors.IsResourceExpired(err) || statusCode(err) != 410 ||
				err.Error() != "The resourceVersion for the provided list is too old." {
				b.t.Errorf("list %s: %v, want 410 Expired", describe(o), err)
			}
		}
		// Not older than 101 can be had: the present.
		b.wantList(metav1.ListOptions{ResourceVersion: "101"}, "a/one@104", "104")
	})
}

func TestAListWaitsForARevisionThatIsToCome(t *testing.T) {
	onBench(t, func(b bench) {
		go func() {
			time.Sleep(2 * time.Second)
			b.elsewhere(4)
			b.put("a/one") // 105
		}()
		began := time.Now()
		b.wantList(metav1.ListOptions{ResourceVersion: "105"}, "a/one@105", "105")
		if waited := time.Since(began); waited != 2*time.Second {
			b.t.Errorf("waited %v, want 2s", waited)
		}
	})
}

func TestARevisionThatDoesNotComeIsTooLarge(t *testing.T) {
	onBench(t, func(b bench) {
		for _, o := range []metav1.ListOptions{
			{ResourceVersion: "500"},
			{ResourceVersion: "500", Limit: 2},
			{ResourceVersion: "500", ResourceVersionMatch: "Exact"},
		} {
			began := time.Now()
			_, _, err := b.list(o)
			if !apierrors.IsTimeout(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
				b.t.Fatalf("list %s: %v, want a timeout with the cause %s", describe(o), err, metav1.CauseTypeResourceVersionTooLarge)
			}
			if waited := time.Since(began); waited != freshFor {
				b.t.Errorf("list %s was refused after %v, want %v", describe(o), waited, freshFor)
			}
			if after, ok := apierrors.SuggestsClientDelay(err); !ok || after != 1 {
				b.t.Errorf("list %s: retry after %d, %v; want 1 s", describe(o), after, ok)
			}
		}
	})
}

func TestTheWaitForARevisionEndsWithTheContext(t *testing.T) {
	onBench(t, func(b bench) {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		if _, err := b.ListWithContext(ctx, metav1.ListOptions{ResourceVersion: "500"}); err != context.DeadlineExceeded {
			b.t.Errorf("list: %v, want the context's error", err)
		}
	})
}

func TestPagesShowOneRevision(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "a/2", "b/1", "b/2", "b/3", "c/1") // 101..106
		first := b.wantList(metav1.ListOptions{Limit: 2}, "a/1@101 a/2@102", "106")
		if n := first.GetRemainingItemCount(); n == nil || *n != 4 {
			b.t.Errorf("remaining after the first page: %v, want 4", n)
		}
		b.remove("b/1")
		b.put("b/2", "a/3", "b/9")
		second := b.wantList(metav1.ListOptions{Limit: 3, Continue: first.GetContinue()}, "b/1@103 b/2@104 b/3@105", "106")
		if n := second.GetRemainingItemCount(); n == nil || *n != 1 {
			b.t.Errorf("remaining after the second page: %v, want 1", n)
		}
		last := b.wantList(metav1.ListOptions{Limit: 3, Continue: second.GetContinue()}, "c/1@106", "106")
		if last.GetContinue() != "" || last.GetRemainingItemCount() != nil {
			b.t.Errorf("after the last page: continue %q, remaining %v; want neither", last.GetContinue(), last.GetRemainingItemCount())
		}
		b.wantList(metav1.ListOptions{}, "a/1@101 a/2@102 a/3@109 b/2@108 b/3@105 b/9@110 c/1@106", "110")
	})
}

func TestPagesKeepToTheirNamespaceAndSelector(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "b/1 x=y", "b/2", "b/3 x=y", "b/4 x=y", "b-b/1 x=y", "b0/1 x=y", "c/1 x=y")
		inB := b.in("b")
		page := inB.wantList(metav1.ListOptions{Limit: 3}, "b/1@102 b/2@103 b/3@104", "108")
		if n := page.GetRemainingItemCount(); n == nil || *n != 1 {
			b.t.Errorf("remaining in the namespace: %v, want 1", n)
		}
		inB.wantList(metav1.ListOptions{Limit: 3, Continue: page.GetContinue()}, "b/4@105", "108")
		chosen := inB.wantList(metav1.ListOptions{Limit: 2, LabelSelector: "x=y"}, "b/1@102 b/3@104", "108")
		if n := chosen.GetRemainingItemCount(); n != nil {
			b.t.Errorf("remaining with a selector: %d, want none, as it is not known", *n)
		}
		inB.wantList(metav1.ListOptions{Limit: 2, LabelSelector: "x=y", Continue: chosen.GetContinue()}, "b/4@105", "108")
	})
}

func TestAListThatAnyRevisionWillDoForIsNotPaged(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "a/2", "a/3")
		if m := b.wantList(metav1.ListOptions{ResourceVersion: "0", Limit: 1}, "a/1@101 a/2@102 a/3@103", "103"); m.GetContinue() != "" {
			b.t.Error("there is a continue token")
		}
	})
}

func TestAnExpiredTokenIsGoneAndOffersAnother(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "a/2", "a/3")
		page := b.wantList(metav1.ListOptions{Limit: 1}, "a/1@101", "103")
		b.put("a/2") // 104
		b.server.compact(pods)
		_, _, err := b.list(metav1.ListOptions{Limit: 1, Continue: page.GetContinue()})
		if !apierrors.IsResourceExpired(err) || !strings.HasPrefix(err.Error(), "The provided continue parameter is too old") {
			b.t.Fatalf("an old token: %v, want 410 Expired", err)
		}
		token := err.(*apierrors.StatusError).ErrStatus.Continue
		rest := b.wantList(metav1.ListOptions{Limit: 1, Continue: token}, "a/2@104", "104")
		b.wantList(metav1.ListOptions{Limit: 1, Continue: rest.GetContinue()}, "a/3@103", "104")
	})
}

func TestListsRefuseWhatContradictsItself(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1", "a/2")
		page := b.wantList(metav1.ListOptions{Limit: 1}, "a/1@101", "102")
		for _, c := range []struct {
			options metav1.ListOptions
			code    int
			text    string
		}{
			{metav1.ListOptions{ResourceVersion: "102", Continue: page.GetContinue()}, 400, "not allowed when using continue"},
			{metav1.ListOptions{Continue: "gibberish!"}, 400, "invalid continue token"},
			{metav1.ListOptions{Continue: encodeContinue(102, "../secrets")}, 400, "invalid continue token"},
			{metav1.ListOptions{ResourceVersion: "one"}, 400, "invalid resource version"},
			{metav1.ListOptions{ResourceVersionMatch: "Exact"}, 422, "forbidden unless resourceVersion is provided"},
			{metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: "Exact"}, 422, `forbidden for resourceVersion "0"`},
			{metav1.ListOptions{ResourceVersion: "5", ResourceVersionMatch: "Nearly"}, 422, "Unsupported value"},
			{metav1.ListOptions{ResourceVersionMatch: "Exact", Continue: page.GetContinue()}, 422, "forbidden when continue is provided"},
			{metav1.ListOptions{SendInitialEvents: yes()}, 422, "sendInitialEvents is forbidden for list"},
			{metav1.ListOptions{LabelSelector: "a in b"}, 400, "unable to parse requirement"},
			{metav1.ListOptions{FieldSelector: "metadata.name"}, 400, "invalid selector"},
			{metav1.ListOptions{FieldSelector: "spec.colour=red"}, 400, "field label not supported: spec.colour"},
		} {
			_, _, err := b.list(c.options)
			if statusCode(err) != c.code || !strings.Contains(err.Error(), c.text) {
				b.t.Errorf("list %s: %v; want status %d that says %q", describe(c.options), err, c.code, c.text)
			}
		}
		deployments := &endpoint{server: b.server, table: b.server.tables[deployments]}
		_, err := deployments.List(metav1.ListOptions{FieldSelector: "spec.replicas=1"})
		if statusCode(err) != 400 || !strings.Contains(err.Error(), `"spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"`) {
			b.t.Errorf("deployments by an unknown field: %v", err)
		}
	})
}

func TestSelectorsChooseWhatIsListed(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1@n1 app=x,tier=web", "a/2@n2 app=x", "b/1@n1 app=y,tier=web", "b/2")
		for _, c := range []struct{ labels, fields, want string }{
			{"", "", "a/1@101 a/2@102 b/1@103 b/2@104"},
			{"app=x", "", "a/1@101 a/2@102"},
			{"app in (x,y),tier", "", "a/1@101 b/1@103"},
			{"!tier", "", "a/2@102 b/2@104"},
			{"", "spec.nodeName=n1", "a/1@101 b/1@103"},
			{"", "spec.nodeName!=n1,metadata.namespace=a", "a/2@102"},
			{"", "metadata.name=2", "a/2@102 b/2@104"},
			{"app=x", "spec.nodeName=n1", "a/1@101"},
			{"", "status.phase=Running", ""},
		} {
			b.wantList(metav1.ListOptions{LabelSelector: c.labels, FieldSelector: c.fields}, c.want, "104")
		}
		// The endpoint's own selectors and a request's must both match.
		b.labels, b.fields = "app=x", []string{"metadata.name=1", ""}
		b.wantList(metav1.ListOptions{}, "a/1@101", "104")
		b.wantList(metav1.ListOptions{LabelSelector: "!tier"}, "", "104")
		b.wantList(metav1.ListOptions{FieldSelector: "metadata.name=2"}, "", "104")
	})
}

func TestWhatIsListedBelongsToTheClient(t *testing.T) {
	onBench(t, func(b bench) {
		b.put("a/1 app=x")
		for range 2 {
			list, err := b.List(metav1.ListOptions{})
			if err != nil {
				b.t.Fatal(err)
			}
			p := &list.(*corev1.PodList).Items[0]
			if p.Labels["app"] != "x" {
				b.t.Errorf("the labels are %v after a client wrote to its copy", p.Labels)
			}
			p.Labels["app"] = "mine"
		}
	})
}

func TestClientGosPagerReadsEveryObjectOnce(t *testing.T) {
	onBench(t, func(b bench) {
		for i := range 95 {
			b.put(fmt.Sprintf("ns-%d/pod-%d", i%7, i))
		}
		p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			b.put("ns-0/new") // between pages, and not to be seen
			return b.ListWithContext(ctx, o)
		})
		p.PageSize = 10
		seen := map[string]int{}
		err := p.EachListItem(b.t.Context(), metav1.ListOptions{}, func(o runtime.Object) error {
			seen[keyOf(o.(object))]++
			return nil
		})
		if err != nil {
			b.t.Fatal(err)
		}
		// The first page is read after the first write of it.
		if len(seen) != 96 {
			b.t.Errorf("%d objects, want 96", len(seen))
		}
		for key, n := range seen {
			if n != 1 {
				b.t.Errorf("%s was listed %d times", key, n)
			}
		}
	})
}

// TestEveryRevisionInTheHistoryCanBeListed writes at random and compares a list
// as of each revision with what was there then.
func TestEveryRevisionInTheHistoryCanBeListed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		history := rapid.IntRange(1, 40).Draw(rt, "history")
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 60).Draw(rt, "steps")
		page := rapid.IntRange(0, 4).Draw(rt, "page")
		s := newServer(limits{history: history, buffer: history}, firstRevision)
		e := bench{&endpoint{server: s, table: s.tables[pods]}, t}
		was := map[uint64]string{firstRevision: ""}
		writes := []uint64{}
		for _, step := range steps {
			if step.apply(s) {
				writes = append(writes, s.revision)
			}
			text, _, err := e.list(metav1.ListOptions{})
			if err != nil {
				rt.Fatal(err)
			}
			was[s.revision] = text
		}
		// Everything after floor is remembered.
		floor := uint64(firstRevision)
		if n := len(writes); n > history {
			floor = writes[n-history] - 1
		}
		for revision, want := range was {
			got, err := allPages(e, formatRevision(revision), int64(page))
			switch {
			case revision < floor && !apierrors.IsResourceExpired(err):
				rt.Fatalf("as of %d, before the history's floor %d: [%s], %v", revision, floor, got, err)
			case revision >= floor && (err != nil || got != want):
				rt.Fatalf("as of %d: [%s], %v; it was [%s]", revision, got, err, want)
			}
		}
	})
}

// allPages lists as of a revision, page by page.
func allPages(b bench, revision string, limit int64) (string, error) {
	o := metav1.ListOptions{ResourceVersion: revision, ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: limit}
	var pages []string
	for {
		text, m, err := b.list(o)
		if err != nil {
			return "", err
		}
		if text != "" {
			pages = append(pages, text)
		}
		if m.GetContinue() == "" {
			return strings.Join(pages, " "), nil
		}
		o = metav1.ListOptions{Limit: limit, Continue: m.GetContinue()}
	}
}

// step is one random write.
type step struct {
	kind      int // 0..6 put, 7 8 remove, 9 elsewhere
	namespace string
	name      string
	labels    string
	node      string
}

func drawStep(rt *rapid.T) step {
	return step{
		kind:      rapid.IntRange(0, 9).Draw(rt, "kind"),
		namespace: rapid.SampledFrom([]string{"a", "b", "b-b"}).Draw(rt, "namespace"),
		name:      rapid.SampledFrom([]string{"1", "2", "3"}).Draw(rt, "name"),
		labels:    rapid.SampledFrom([]string{"", " app=x", " app=y", " app=x,tier=web"}).Draw(rt, "labels"),
		node:      rapid.SampledFrom([]string{"", "n1", "n2"}).Draw(rt, "node"),
	}
}

// apply makes the write and reports whether it was one to pods.
func (st step) apply(s *server) bool {
	key := st.namespace + "/" + st.name
	switch {
	case st.kind == 9:
		s.elsewhere(1)
		return false
	case st.kind >= 7:
		if _, exists := s.tables[pods].objects.Get(key); !exists {
			return false
		}
		s.remove(pods, key)
	default:
		putPod(s, key+"@"+st.node+st.labels)
	}
	return true
}

func TestEveryAnswerTakesTheLatency(t *testing.T) {
	onBenchWith(t, limits{history: 10, buffer: 10, latency: 15 * time.Millisecond}, func(b bench) {
		began := time.Now()
		b.wantList(metav1.ListOptions{}, "", "100")
		if took := time.Since(began); took != 15*time.Millisecond {
			b.t.Errorf("a LIST took %v", took)
		}
		b.open(metav1.ListOptions{}).Stop()
		if took := time.Since(began); took != 30*time.Millisecond {
			b.t.Errorf("a LIST and a WATCH took %v", took)
		}
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Millisecond)
		defer cancel()
		if _, err := b.ListWithContext(ctx, metav1.ListOptions{}); err != context.DeadlineExceeded {
			b.t.Errorf("a LIST given up: %v", err)
		}
		if _, err := b.WatchWithContext(ctx, metav1.ListOptions{}); err != context.DeadlineExceeded {
			b.t.Errorf("a WATCH given up: %v", err)
		}
		synctest.Wait()
	})
}
