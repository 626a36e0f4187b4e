package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/store"
)

// The oracle: whatever is written to the store and to client-go's, every query
// has the same answer afterwards. They may differ in
//
//	what                               client-go                 here
//	order of List, ByIndex, ...        random                    none in particular
//	GetIndexers                        its own map               a copy
//	delete of a tombstone              up to the key function    always by its key
//	a nil object that has a key        stored                    refused
//	a transaction of unknown type      ignored, success          fails
//	an index function fails            panic, half indexed       stored, left out of that index
//	a cached object is written to      stale bucket entries      none
//
// none of which the operations below do; the tests of their own do.

// valuesOf is what the "values" index makes of an object: anything from none to
// many values, empty ones and duplicates among them.
func valuesOf(obj any) ([]string, error) {
	values := obj.(*corev1.Pod).Annotations["values"]
	if values == "" {
		return nil, nil
	}
	return strings.Split(values, ","), nil
}

func nodeOf(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }

func nameOf(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Name}, nil }

func ownerOf(obj any) ([]string, error) {
	pod := obj.(*corev1.Pod)
	if len(pod.OwnerReferences) == 0 {
		return []string{}, nil
	}
	return []string{pod.OwnerReferences[0].Name}, nil
}

var allIndexers = cache.Indexers{
	"namespace": cache.MetaNamespaceIndexFunc,
	"values":    valuesOf,
	"node":      nodeOf,
	"name":      nameOf,
	"owner":     ownerOf,
}

var (
	genKey    = rapid.IntRange(0, 40)
	genValues = rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c", "D", "dd", "e1", "e2"}), 0, 5)
)

// podOf returns a new object with the key number n.
func podOf(n int, node, values, owner, rv string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace:       fmt.Sprintf("ns-%d", n%3),
		Name:            fmt.Sprintf("pod-%d", n),
		ResourceVersion: rv,
	}, Spec: corev1.PodSpec{NodeName: node}}
	if values != "" {
		pod.Annotations = map[string]string{"values": values}
	}
	if owner != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{Name: owner}}
	}
	return pod
}

func drawPod(t *rapid.T) *corev1.Pod {
	return podOf(
		genKey.Draw(t, "key"),
		rapid.SampledFrom([]string{"", "n1", "n2", "n3"}).Draw(t, "node"),
		strings.Join(genValues.Draw(t, "values"), ","),
		rapid.SampledFrom([]string{"", "o1", "o2"}).Draw(t, "owner"),
		fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "rv")),
	)
}

// pair is the store and the oracle.
type pair struct {
	ours   *store.Indexer
	theirs cache.Indexer
	counts inspect.StoreVitals // what the counters must be
}

func newPair(indexers cache.Indexers) *pair {
	p := &pair{
		ours:   store.New(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers, store.Options{}),
		theirs: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, maps.Clone(indexers)),
	}
	p.ours.SetMinLog(4)
	return p
}

// expect counts what writing obj, or deleting it, must be counted as. It is
// called before the oracle is written to.
func (p *pair) expect(obj any, isDelete bool) {
	old, exists, _ := p.theirs.Get(obj)
	pod, _ := obj.(*corev1.Pod)
	switch {
	case isDelete && exists:
		p.counts.Deleted++
	case isDelete:
	case !exists:
		p.counts.Added++
	case old.(*corev1.Pod).ResourceVersion == pod.ResourceVersion:
		p.counts.Unchanged++
	default:
		p.counts.Updated++
	}
}

func (p *pair) add(t *rapid.T) {
	pod := drawPod(t)
	p.expect(pod, false)
	sameError(t, p.ours.Add(pod), p.theirs.Add(pod))
}

func (p *pair) update(t *rapid.T) {
	pod := drawPod(t)
	p.expect(pod, false)
	sameError(t, p.ours.Update(pod), p.theirs.Update(pod))
}

func (p *pair) remove(t *rapid.T) {
	var obj any = drawPod(t)
	if rapid.Bool().Draw(t, "tombstone") {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		obj = cache.DeletedFinalStateUnknown{Key: key, Obj: obj}
	}
	p.expect(obj, true)
	sameError(t, p.ours.Delete(obj), p.theirs.Delete(obj))
}

func (p *pair) bad(t *rapid.T) {
	bad := rapid.SampledFrom([]any{nil, 7, "text"}).Draw(t, "bad")
	sameError(t, p.ours.Add(bad), p.theirs.Add(bad))
	sameError(t, p.ours.Update(bad), p.theirs.Update(bad))
	sameError(t, p.ours.Delete(bad), p.theirs.Delete(bad))
	sameError(t, p.ours.Replace([]any{drawPod(t), bad}, "9"), p.theirs.Replace([]any{drawPod(t), bad}, "9"))
	_, _, ours := p.ours.Get(bad)
	_, _, theirs := p.theirs.Get(bad)
	sameError(t, ours, theirs)
}

func (p *pair) bookmark(t *rapid.T) {
	rv := rapid.SampledFrom([]string{"", "2", "17"}).Draw(t, "rv")
	p.ours.Bookmark(rv)
	p.theirs.Bookmark(rv)
}

func (p *pair) replace(t *rapid.T) {
	n := rapid.IntRange(0, 30).Draw(t, "n")
	objs, seen := make([]any, 0, n), map[string]bool{}
	for range n {
		pod := drawPod(t)
		if key := pod.Namespace + "/" + pod.Name; !seen[key] {
			p.expect(pod, false)
			objs, seen[key] = append(objs, pod), true
		}
	}
	for _, key := range p.theirs.ListKeys() {
		if !seen[key] {
			p.counts.Deleted++
		}
	}
	rv := rapid.SampledFrom([]string{"", "5", "12"}).Draw(t, "rv")
	sameError(t, p.ours.Replace(slices.Clone(objs), rv), p.theirs.Replace(slices.Clone(objs), rv))
}

func (p *pair) transaction(t *rapid.T) {
	var txns []cache.Transaction
	for range rapid.IntRange(0, 6).Draw(t, "n") {
		var obj any = drawPod(t)
		if rapid.IntRange(0, 9).Draw(t, "bad") == 0 {
			obj = 7
		}
		txns = append(txns, cache.Transaction{Object: obj, Type: rapid.SampledFrom([]cache.TransactionType{
			cache.TransactionTypeAdd, cache.TransactionTypeUpdate, cache.TransactionTypeDelete,
		}).Draw(t, "type")})
	}
	ours := p.ours.Transaction(txns...)
	theirs := p.theirs.(cache.TransactionStore).Transaction(txns...)
	if (ours == nil) != (theirs == nil) {
		t.Fatalf("transaction ended with %v, want %v", ours, theirs)
	}
	if theirs != nil && (!slices.Equal(ours.SuccessfulIndices, theirs.SuccessfulIndices) || ours.Error() != theirs.Error()) {
		t.Fatalf("transaction ended with %+v, want %+v", ours, theirs)
	}
	// The oracle has no counters: what a transaction counts is tested with
	// Apply, which says what became of every write.
	p.counts = p.ours.Vitals()
}

func (p *pair) addIndexers(t *rapid.T) {
	added := cache.Indexers{}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(allIndexers))), 0, 2).Draw(t, "names") {
		added[name] = allIndexers[name]
	}
	sameError(t, p.ours.AddIndexers(added), p.theirs.AddIndexers(added))
}

func sameError(t *rapid.T, ours, theirs error) {
	t.Helper()
	if (ours == nil) != (theirs == nil) {
		t.Fatalf("ours says %v, client-go %v", ours, theirs)
	}
	var keyError cache.KeyError
	if theirs != nil && errors.As(theirs, &keyError) && ours.Error() != theirs.Error() {
		t.Fatalf("ours says %v, client-go %v", ours, theirs)
	}
}

// checkStore compares every query on objects and keys.
func (p *pair) checkStore(t *rapid.T) {
	if err := p.ours.CheckInvariants(); err != nil {
		t.Fatalf("invariants: %v", err)
	}
	sameObjects(t, "List", p.ours.List(), p.theirs.List())
	sameSet(t, "ListKeys", p.ours.ListKeys(), p.theirs.ListKeys())
	keys, objs := p.ours.Snapshot()
	for i, key := range keys {
		if want, _, _ := p.theirs.GetByKey(key); objs[i] != want {
			t.Fatalf("Snapshot has another object under %s", key)
		}
	}
	probe := podOf(0, "", "", "", "")
	for n := range 42 {
		probe.Name, probe.Namespace = fmt.Sprintf("pod-%d", n), fmt.Sprintf("ns-%d", n%3)
		ours, has, err := p.ours.Get(probe)
		theirs, hasToo, _ := p.theirs.Get(probe)
		if ours != theirs || has != hasToo || err != nil {
			t.Fatalf("Get %s = %v, %v, %v, want %v, %v", probe.Name, ours, has, err, theirs, hasToo)
		}
		if got := p.ours.Objects([]string{probe.Namespace + "/" + probe.Name})[0]; got != theirs {
			t.Fatalf("Objects %s = %v, want %v", probe.Name, got, theirs)
		}
	}
	if ours, theirs := p.ours.LastStoreSyncResourceVersion(), p.theirs.LastStoreSyncResourceVersion(); ours != theirs {
		t.Fatalf("resource version %q, want %q", ours, theirs)
	}
	p.counts.Objects, p.counts.ResourceVersion = len(p.theirs.ListKeys()), p.theirs.LastStoreSyncResourceVersion()
	if diff := cmp.Diff(p.counts, p.ours.Vitals()); diff != "" {
		t.Fatalf("vitals (-want +got):\n%s", diff)
	}
}

// checkIndices compares every query on indices.
func (p *pair) checkIndices(t *rapid.T) {
	sameSet(t, "GetIndexers", slices.Collect(maps.Keys(p.ours.GetIndexers())), slices.Collect(maps.Keys(p.theirs.GetIndexers())))
	for name := range allIndexers {
		ours, theirs := p.ours.ListIndexFuncValues(name), p.theirs.ListIndexFuncValues(name)
		sameSet(t, "ListIndexFuncValues "+name, ours, theirs)
		for _, value := range append(theirs, "", "nobody") {
			oursBy, err := p.ours.ByIndex(name, value)
			theirsBy, theirErr := p.theirs.ByIndex(name, value)
			sameError(t, err, theirErr)
			sameObjects(t, "ByIndex "+name+" "+value, oursBy, theirsBy)
			oursKeys, err := p.ours.IndexKeys(name, value)
			theirsKeys, theirErr := p.theirs.IndexKeys(name, value)
			sameError(t, err, theirErr)
			if !slices.Equal(oursKeys, theirsKeys) || (oursKeys == nil) != (theirsKeys == nil) {
				t.Fatalf("IndexKeys %s %q = %q, want %q", name, value, oursKeys, theirsKeys)
			}
		}
		for _, values := range []string{"", "a", "a,b,a", "nobody,,c"} {
			probe := podOf(1, "n1", values, "o1", "")
			ours, err := p.ours.Index(name, probe)
			theirs, theirErr := p.theirs.Index(name, probe)
			sameError(t, err, theirErr)
			sameObjects(t, "Index "+name, ours, theirs)
		}
	}
}

func sameSet(t *rapid.T, what string, ours, theirs []string) {
	t.Helper()
	if (ours == nil) != (theirs == nil) || !slices.Equal(slices.Sorted(slices.Values(ours)), slices.Sorted(slices.Values(theirs))) {
		t.Fatalf("%s = %q, want %q", what, ours, theirs)
	}
}

// sameObjects compares two lists of objects by identity, whatever their order.
func sameObjects(t *rapid.T, what string, ours, theirs []any) {
	t.Helper()
	counts := map[any]int{}
	for _, obj := range theirs {
		counts[obj]++
	}
	for _, obj := range ours {
		counts[obj]--
	}
	for obj, n := range counts {
		if n != 0 {
			t.Fatalf("%s: %d objects, client-go %d; %v is in one only", what, len(ours), len(theirs), obj)
		}
	}
	if (ours == nil) != (theirs == nil) {
		t.Fatalf("%s: nil is %v, want %v", what, ours == nil, theirs == nil)
	}
}

func oracle(t *rapid.T) {
	p := newPair(cache.Indexers{"namespace": cache.MetaNamespaceIndexFunc, "values": valuesOf})
	t.Repeat(map[string]func(*rapid.T){
		"Add":         p.add,
		"Update":      p.update,
		"Delete":      p.remove,
		"Bad":         p.bad,
		"Bookmark":    p.bookmark,
		"Replace":     p.replace,
		"Transaction": p.transaction,
		"AddIndexers": p.addIndexers,
		"Look":        p.look,
		"": func(t *rapid.T) {
			p.checkStore(t)
			p.checkIndices(t)
			p.checkPages(t)
		},
	})
}

func TestEveryQueryHasClientGosAnswer(t *testing.T) { rapid.Check(t, oracle) }

func FuzzEveryQueryHasClientGosAnswer(f *testing.F) { f.Fuzz(rapid.MakeFuzz(oracle)) }
