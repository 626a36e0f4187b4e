package engine

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/journal"
	"github.com/informeter/informeter/engine/reflector"
)

// Snapshot implements inspect.Inspector.
func (i *Informer) Snapshot(context.Context) (inspect.Snapshot, error) {
	now := time.Now()
	s := inspect.Snapshot{
		Generation: i.generation.Current(),
		At:         now,
		Informer:   i.vitals(),
		Handle:     i.handleVitals(now),
		Store:      i.storeVitals(now),
		Indices:    i.store.IndexVitals(),
		Listeners:  i.processor.Listeners(now),
	}
	s.Handle.Quarantined, s.Quarantine = i.quarantined.vitals()
	if len(s.Quarantine) > 0 {
		s.Handle.LastKey, s.Handle.LastError = s.Quarantine[0].Key, s.Quarantine[0].Error
	}
	s.Lost.Moments = i.moments.missed()
	queue, reflector := i.stages()
	s.Queue = inspect.QueueVitals{Kind: i.options.Queue.String()}
	if queue != nil {
		s.Queue = queue.Vitals(now)
	}
	s.Queue.Gate = i.gate.vitals()
	s.Reflector.Phase, s.Reflector.Expected = inspect.PhaseStarting, -1
	if reflector != nil {
		s.Reflector = reflector.Vitals(now)
		s.Requests = reflector.RequestVitals()
		s.Lost.Requests = reflector.RequestsLost()
	}
	// A list of nothing has a version that no object brings to the store: it is
	// behind only if something is on its way.
	s.Store.Behind = s.Queue.Deltas+s.Queue.InFlight > 0 && behind(s.Store.ResourceVersion, s.Reflector.ResourceVersion)
	s.Resync = i.resyncVitals(reflector)
	s.Traffic = i.traffic(now)
	if j := i.viewers.current(); j != nil {
		s.Hot, s.Identities = j.Hot(now), j.Identities()
		vitals, lost := j.Vitals()
		s.Journal, s.Lost.History, s.Lost.Journal = &vitals, lost.History, lost.Notifications
	}
	return s, nil
}

// stages returns the queue and the reflector; nil before the informer runs.
func (i *Informer) stages() (queue, *reflector.Reflector) {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	return i.queue, i.reflector
}

func (i *Informer) vitals() inspect.InformerVitals {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	return inspect.InformerVitals{
		Name:     i.name,
		Type:     i.description(),
		Resource: i.options.Resource,
		Scope:    i.options.Scope,
		Origin:   i.options.Origin,
		State:    i.state,
		Created:  i.created,
		Started:  i.started,
		Synced:   !i.syncedAt.IsZero(),
		SyncedAt: i.syncedAt,
	}
}

func (i *Informer) handleVitals(now time.Time) inspect.HandleVitals {
	i.statsMu.Lock()
	defer i.statsMu.Unlock()
	return inspect.HandleVitals{
		Deltas: i.stats.deltas,
		Rate:   i.stats.rate.Sample(now, i.stats.deltas),
		Time:   i.stats.latency.Summary(),
	}
}

func (i *Informer) storeVitals(now time.Time) inspect.StoreVitals {
	v := i.store.Vitals()
	i.statsMu.Lock()
	defer i.statsMu.Unlock()
	v.Rate = i.stats.changes.Sample(now, v.Added+v.Updated+v.Deleted)
	return v
}

// behind says whether a resource version is older than another, such as the
// store's than the reflector's. Versions that can't be compared count as not behind
// if equal.
func behind(version, other string) bool {
	if version == other || other == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err != nil || order < 0
}

func (i *Informer) resyncVitals(r *reflector.Reflector) inspect.ResyncVitals {
	i.lifeMu.Lock()
	v := inspect.ResyncVitals{CheckPeriod: i.checkPeriod}
	i.lifeMu.Unlock()
	if r != nil {
		v.Next, v.Last, v.Rounds = r.Resync()
	}
	i.statsMu.Lock()
	defer i.statsMu.Unlock()
	v.LastObjects, v.LastListeners = i.resync.objects, i.resync.listeners
	v.Rounds += i.resync.asked
	if i.resync.lastAsked.After(v.Last) {
		v.Last = i.resync.lastAsked
	}
	return v
}

// summary is the informer in one line.
func (i *Informer) summary(now time.Time) inspect.Summary {
	life := i.vitals()
	s := inspect.Summary{
		Name:    life.Name,
		Type:    life.Type,
		Scope:   life.Scope,
		State:   life.State,
		Synced:  life.Synced,
		Objects: i.store.Len(),
		Paused:  i.gate.vitals().Mode == inspect.GatePaused,
	}
	if queue, reflector := i.stages(); queue != nil {
		s.Deltas = queue.Vitals(now).Deltas
		r := reflector.Vitals(now)
		s.Phase, s.Error, s.EventRate = r.Phase, r.Error, r.EventRate
	}
	for _, l := range i.processor.Listeners(now) {
		if l.Explorer {
			continue
		}
		s.Handlers++
		if s.Slowest == "" || l.Pending > s.SlowestPending {
			s.Slowest, s.SlowestPending = l.Name, l.Pending
		}
	}
	return s
}

// Queue implements inspect.Inspector.
func (i *Informer) Queue(_ context.Context, q inspect.QueueQuery) (inspect.QueuePage, error) {
	if err := filterKeys(q.Filter, "what waits in a queue"); err != nil {
		return inspect.QueuePage{}, err
	}
	switch q.Sort {
	case "", inspect.SortPosition, inspect.SortKey, inspect.SortAge, inspect.SortDeltas, inspect.SortCause:
	default:
		return inspect.QueuePage{}, fmt.Errorf("sort a queue by %s: %w", q.Sort, inspect.ErrUnsupported)
	}
	generation := i.generation.Current()
	queue, _ := i.stages()
	if queue == nil {
		return inspect.QueuePage{Generation: generation}, nil
	}
	page := queue.Page(time.Now(), q)
	page.Generation = generation
	return page, nil
}

// Store implements inspect.Inspector.
func (i *Informer) Store(ctx context.Context, q inspect.Query) (inspect.Page, error) {
	generation := i.generation.Current()
	page, err := i.storePage(ctx, q)
	if err != nil {
		return page, fmt.Errorf("read the store: %w", err)
	}
	page.Generation = generation
	i.fillWaiting(page.Rows)
	return page, nil
}

func (i *Informer) storePage(ctx context.Context, q inspect.Query) (inspect.Page, error) {
	if j := i.viewers.current(); j != nil {
		return j.Page(ctx, q)
	}
	return i.sortedPage(q)
}

// sortedPage answers without a journal: it sorts all keys for one window.
func (i *Informer) sortedPage(q inspect.Query) (inspect.Page, error) {
	if q.Sort != "" && q.Sort != inspect.SortKey {
		return inspect.Page{}, fmt.Errorf("sort by %s while nobody looks: %w", q.Sort, inspect.ErrUnsupported)
	}
	filter, err := journal.ParseFilter(q.Filter)
	if err != nil {
		return inspect.Page{}, err
	}
	keys, objects := i.store.Snapshot()
	return i.windowPage(keys, objects, &filter, q), nil
}

// windowPage sorts and filters objects for one window.
func (i *Informer) windowPage(keys []string, objects []any, f *journal.Filter, q inspect.Query) inspect.Page {
	total := len(keys)
	matched := keysOf(keys, objects, f)
	shown, start := windowOf(matched, q)
	return inspect.Page{Total: total, Matched: len(matched), Scanned: total, Start: start, Rows: i.rows(shown)}
}

// rows describes the objects under keys as the store has them.
func (i *Informer) rows(keys []string) []inspect.Row {
	rows := make([]inspect.Row, len(keys))
	for n, obj := range i.store.Objects(keys) {
		rows[n] = journal.Describe(keys[n], obj)
	}
	return rows
}

func (i *Informer) fillWaiting(rows []inspect.Row) {
	queue, _ := i.stages()
	if queue == nil || len(rows) == 0 {
		return
	}
	keys := make([]string, len(rows))
	for n := range rows {
		keys[n] = rows[n].Key
	}
	for n, waiting := range queue.Waiting(keys) {
		rows[n].Waiting = waiting
	}
}

// Indices implements inspect.Inspector.
func (i *Informer) Indices(context.Context) ([]inspect.IndexVitals, error) {
	return i.store.IndexVitals(), nil
}

// Buckets implements inspect.Inspector.
func (i *Informer) Buckets(_ context.Context, index string, q inspect.BucketQuery) (inspect.BucketPage, error) {
	if err := filterKeys(q.Filter, "buckets"); err != nil {
		return inspect.BucketPage{}, err
	}
	generation := i.generation.Current()
	page, err := i.store.Buckets(index, q)
	page.Generation = generation
	return page, err
}

// Bucket implements inspect.Inspector.
func (i *Informer) Bucket(ctx context.Context, index, value string, q inspect.Query) (inspect.Page, error) {
	generation := i.generation.Current()
	page, err := i.bucketPage(ctx, index, value, q)
	if err != nil {
		return inspect.Page{}, fmt.Errorf("read bucket %q: %w", value, err)
	}
	page.Generation = generation
	if j := i.viewers.current(); j != nil {
		j.Annotate(page.Rows)
	}
	i.fillWaiting(page.Rows)
	return page, nil
}

func (i *Informer) bucketPage(ctx context.Context, index, value string, q inspect.Query) (inspect.Page, error) {
	if j := i.viewers.current(); j != nil && q.Sort != "" && q.Sort != inspect.SortKey {
		w, err := j.Members(ctx, index+"\x00"+value, q, func() ([]string, error) {
			keys, _, err := i.store.BucketObjects(index, value)
			return keys, err
		})
		if err != nil {
			return inspect.Page{}, err
		}
		return inspect.Page{Total: w.Total, Matched: w.Matched, Scanned: w.Total, Start: w.Start, Rows: i.rows(w.Keys)}, nil
	}
	filter, err := journal.ParseFilter(q.Filter)
	if err != nil {
		return inspect.Page{}, err
	}
	if filter.ByObject() && (q.Sort == "" || q.Sort == inspect.SortKey) {
		keys, objects, err := i.store.BucketObjects(index, value)
		if err != nil {
			return inspect.Page{}, err
		}
		return i.windowPage(keys, objects, &filter, q), nil
	}
	keys, start, matched, total, err := i.store.BucketKeys(index, value, q)
	if err != nil {
		return inspect.Page{}, err
	}
	return inspect.Page{Total: total, Matched: matched, Scanned: total, Start: start, Rows: i.rows(keys)}, nil
}

// Object implements inspect.Inspector.
func (i *Informer) Object(_ context.Context, r inspect.ObjectRequest) (inspect.Object, error) {
	if r.Reveal && !i.options.AllowReveal {
		return inspect.Object{}, fmt.Errorf("reveal %s: %w", r.Key, inspect.ErrReadOnly)
	}
	obj, err := i.version(r.Key, r.Version)
	if err != nil {
		return inspect.Object{}, err
	}
	result, err := i.describe(obj, r.Reveal)
	if err != nil {
		return inspect.Object{}, fmt.Errorf("describe %s: %w", r.Key, err)
	}
	result.Key = r.Key
	if r.Version == 0 {
		result.Indices = i.store.IndexValues(r.Key)
	}
	return result, nil
}

// Requests implements inspect.Inspector.
func (i *Informer) Requests(context.Context) ([]inspect.Request, error) {
	if _, reflector := i.stages(); reflector != nil {
		return reflector.Requests(), nil
	}
	return nil, nil
}

// Wait implements inspect.Inspector.
func (i *Informer) Wait(ctx context.Context, since uint64) (uint64, error) {
	return i.generation.Wait(ctx, since)
}
