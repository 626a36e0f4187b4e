package reflector

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// abandonAfter is how long a LIST may go on after a stop until it is left.
const abandonAfter = time.Second

// list is the step of PhaseListing: one LIST in as many pages as it takes, and
// Replace with what it brought.
//
//	ok                         → becomeWatching      version = the list's
//	expired or too new         → LIST again, once    mostRecent = true
//	any other error, or stored
//	  in vain                  → becomeBackingOff    OnError
func (r *Reflector) list(ctx context.Context) {
	items, version, err := r.fetchList(ctx)
	if err == nil {
		items = r.belonging(ctx, items)
		r.delivering.Store(true)
		if err = r.store.Replace(items, version); err != nil {
			err = fmt.Errorf("store the result: %w", err)
		}
	}
	switch {
	case ctx.Err() != nil && err != nil:
		// Unlike client-go, a request that the stop cancelled is no error [stop].
	case err != nil:
		r.noted()
		r.endOpenRequest(outcomeOf(inspect.VerbList, err), err, nextRetry)
		failure := r.failed(OpList, err)
		r.report(ctx, failure)
		r.becomeBackingOff(toRound)
	default:
		r.endOpenRequest(inspect.OutcomeOK, nil, nextWatch)
		r.completed(ctx, len(items), version)
		r.becomeWatching()
	}
}

// fetchList lists, and once more for the most recent state if the server does
// not have the resource version asked for.
func (r *Reflector) fetchList(ctx context.Context) ([]any, string, error) {
	asked := r.listVersion()
	p := r.newPager(asked)
	list, paged, err := p.ListWithAlloc(ctx, metav1.ListOptions{ResourceVersion: asked})
	if isExpired(err) || isTooNew(err) {
		r.mostRecent = true
		list, paged, err = p.ListWithAlloc(ctx, metav1.ListOptions{ResourceVersion: r.listVersion()})
	}
	if err != nil {
		return nil, "", err
	}
	if u, ok := list.(*unstructured.UnstructuredList); ok && isTable(u.GroupVersionKind()) {
		return nil, "", fmt.Errorf("the server sent a %v, which holds rows and no objects; ask for the resource itself", u.GroupVersionKind())
	}
	// Pages from resource version "0" mean that the server has no cache for
	// this resource; pages from another version don't, and must not make later
	// lists bypass the cache.
	if asked == "0" && paged {
		r.paged = true
	}
	r.mostRecent = false
	return extract(list)
}

// belonging returns those of the listed objects that belong into the store, if that
// is asked for. The others are left out as they are of a watch, but in one log line.
func (r *Reflector) belonging(ctx context.Context, items []any) []any {
	foreign := func(obj any) bool { return r.expected.goType != nil && reflect.TypeOf(obj) != r.expected.goType }
	first := slices.IndexFunc(items, foreign)
	if first < 0 || !r.options.CheckLists {
		return items
	}
	err := fmt.Errorf("object is a %T, not a %v", items[first], r.expected.goType)
	all := len(items)
	items = slices.DeleteFunc(items, foreign)
	n := all - len(items)
	utilruntime.HandleErrorWithContext(ctx, err, "Listed objects not enqueued", "reflector", r.name, "objects", n)
	r.mu.Lock()
	r.vitals.Skipped += uint64(n)
	r.vitals.LastSkipped = "LISTED: " + err.Error()
	r.mu.Unlock()
	return items
}

// listVersion is the resource version a LIST asks for: at first "0", any state
// that the server's cache has; then nothing older than what was seen; and the
// most recent state if the server does not have that.
func (r *Reflector) listVersion() string {
	last := r.LastSyncResourceVersion()
	switch {
	case r.mostRecent:
		return ""
	case last == "":
		return "0"
	}
	return last
}

// newPager returns a pager that leaves its trace in the request log. A list
// from a certain resource version is asked for in one page, since servers answer
// only that from their cache; client-go does so.
func (r *Reflector) newPager(version string) *pager.ListPager {
	p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if o.Continue == "" {
			// The first page; or, after a continue token or a resource version
			// has expired, the first page of another LIST.
			r.openRequest(inspect.Request{
				Verb:            inspect.VerbList,
				Started:         time.Now(),
				ResourceVersion: o.ResourceVersion,
				Match:           string(o.ResourceVersionMatch),
				Limit:           o.Limit,
			})
		}
		list, err := r.page(ctx, o)
		if err != nil {
			if ctx.Err() == nil {
				r.endRequest(outcomeOf(inspect.VerbList, err), err, nextRetry)
			}
			return nil, err
		}
		r.receivedPage(list)
		return list, nil
	})
	switch {
	case r.options.PageSize != 0:
		p.PageSize = r.options.PageSize
	case r.paged:
	case version != "" && version != "0":
		p.PageSize = 0
	}
	return p
}

// page asks for one page of a list. One that takes no notice of a stop, because
// nobody has handed the context on, is left after abandonAfter; what it still
// brings is forgotten.
func (r *Reflector) page(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errNoAnswer} // of one that ends its goroutine
		defer func() { answers <- a }()
		a = ask(ctx, r.source, o)
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		patience := time.NewTimer(abandonAfter)
		defer patience.Stop()
		select {
		case a = <-answers:
		case <-patience.C:
			klog.FromContext(ctx).Info("Warning: a LIST goes on after the stop; hand its context on to the client", "reflector", r.name)
			return nil, ctx.Err()
		}
	}
	if a.panicked != nil {
		panic(a.panicked)
	}
	return a.list, a.err
}

// answer is what became of a request for a page.
type answer struct {
	list     runtime.Object
	err      error
	panicked any
}

// ask makes the request. A panic is for the reflector's goroutine to pass on,
// which does not know where it comes from.
func ask(ctx context.Context, source cache.ListerWithContext, o metav1.ListOptions) (a answer) {
	defer func() {
		if a.panicked = recover(); a.panicked != nil {
			klog.FromContext(ctx).Error(nil, "LIST panicked", "panic", a.panicked, "stacktrace", string(debug.Stack()))
		}
	}()
	a.list, a.err = source.ListWithContext(ctx, o)
	return a
}

// receivedPage notes the progress of a LIST.
func (r *Reflector) receivedPage(list runtime.Object) {
	r.mu.Lock()
	q := r.requests.newest()
	q.Pages++
	q.Unanswered = false
	q.Items += meta.LenList(list)
	r.vitals.Received = q.Items
	if about, err := meta.ListAccessor(list); err == nil {
		q.Returned = about.GetResourceVersion()
		if left := about.GetRemainingItemCount(); left != nil {
			r.vitals.Expected = q.Items + int(*left)
		}
	}
	r.mu.Unlock()
	r.generation.Bump()
}

// endOpenRequest ends the newest request unless it has ended: a LIST that fails
// ends where it fails, one that succeeds when its result is stored.
func (r *Reflector) endOpenRequest(outcome inspect.Outcome, err error, next string) {
	r.mu.Lock()
	open := r.requests.made > 0 && r.requests.newest().Ended.IsZero()
	r.mu.Unlock()
	if open {
		r.endRequest(outcome, err, next)
	}
}

// completed notes that the store was given a complete list.
func (r *Reflector) completed(ctx context.Context, objects int, version string) {
	if r.resyncing != nil {
		select {
		case <-r.resyncing.failed: // made good by the list
		default:
		}
	}
	r.mu.Lock()
	if r.listed >= 0 {
		r.vitals.Relists++
	}
	r.listed = objects
	r.vitals.ResourceVersion = version
	r.recoveredFromListingLocked()
	r.mu.Unlock()
	r.noted()
	klog.FromContext(ctx).V(2).Info("Caches populated", "type", r.typeDescription, "reflector", r.name)
	r.generation.Bump()
}
