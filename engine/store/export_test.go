package store

import (
	"errors"
	"fmt"
	"slices"
)

// CheckInvariants returns what is wrong with the store's structure, nil if it is
// sound.
func (x *Indexer) CheckInvariants() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.viewing.Lock()
	defer x.viewing.Unlock()
	n := x.objects.n
	if x.keys.n != n || x.positions.taken != n {
		return fmt.Errorf("%d objects, %d keys, %d positions", n, x.keys.n, x.positions.taken)
	}
	for pos, key := range x.keys.list() {
		if got, ok := x.positions.get(&x.keys, key); !ok || int(got) != pos {
			return fmt.Errorf("key %q at %d is looked for at %d, %v", key, pos, got, ok)
		}
		if *x.objects.at(uint32(pos)) == nil {
			return fmt.Errorf("no object at %d", pos)
		}
	}
	for pos, m := range x.marks.list() {
		if (m == unversioned) != (!hasVersion(*x.objects.at(uint32(pos)))) {
			return fmt.Errorf("object %d has the mark %d", pos, m)
		}
	}
	for _, o := range x.scratch[:cap(x.scratch)] {
		if o.values != nil || o.err != nil {
			return fmt.Errorf("scratch keeps %v", o)
		}
	}
	for _, page := range x.objects.pages {
		for _, o := range page[len(page):cap(page)] {
			if o != nil {
				return fmt.Errorf("a removed object is kept alive")
			}
		}
	}
	if err := errors.Join(x.objects.check(), x.keys.check(), x.marks.check()); err != nil {
		return err
	}
	if !slices.IsSortedFunc(x.indices, func(a, b *index) int { return cmpString(a.name, b.name) }) {
		return fmt.Errorf("indices are not in order")
	}
	for _, ix := range x.indices {
		if err := ix.checkInvariants(n); err != nil {
			return fmt.Errorf("index %s: %w", ix.name, err)
		}
		if err := ix.checkViews(x.keys.list()); err != nil {
			return fmt.Errorf("index %s: %w", ix.name, err)
		}
	}
	return nil
}

func hasVersion(obj any) bool {
	_, ok, _ := (&Indexer{}).versionOf(obj)
	return ok
}

func cmpString(a, b string) int { return compareItems(item{text: a}, item{text: b}) }

func (ix *index) checkInvariants(n int) error {
	if ix.homes.n != n {
		return fmt.Errorf("%d homes for %d objects", ix.homes.n, n)
	}
	if len(ix.heap) != ix.byValue.taken || len(ix.heap)+len(ix.idle) != ix.buckets.n {
		return fmt.Errorf("%d in heap, %d values, %d idle of %d buckets", len(ix.heap), ix.byValue.taken, len(ix.idle), ix.buckets.n)
	}
	for _, number := range ix.idle {
		if b := ix.buckets.at(number); b.members != nil || *ix.values.at(number) != "" {
			return fmt.Errorf("idle bucket %d is not empty: %v", number, b)
		}
	}
	for rank, number := range ix.heap {
		b, value := ix.buckets.at(number), *ix.values.at(number)
		if int(b.rank) != rank {
			return fmt.Errorf("bucket %q is at %d of the heap and thinks %d", value, rank, b.rank)
		}
		if rank > 0 && ix.size(uint32(rank)) > ix.size(uint32((rank-1)/2)) {
			return fmt.Errorf("bucket %q is larger than its parent", value)
		}
		if got, ok := ix.byValue.get(&ix.values, value); !ok || got != number {
			return fmt.Errorf("value %q leads to bucket %d, %v, want %d", value, got, ok, number)
		}
		if len(b.members) == 0 {
			return fmt.Errorf("bucket %q is empty", value)
		}
		if b.members[0] >= uint32(n) {
			return fmt.Errorf("bucket %q has a member %d of %d", value, b.members[0], n)
		}
	}
	return ix.checkHomes()
}

func (ix *index) checkHomes() error {
	entries, unindexed, failing, lists := 0, 0, 0, 0
	for pos, home := range ix.homes.list() {
		memberships := []member{home}
		switch home.bucket {
		case nowhere:
			unindexed++
			continue
		case refused:
			failing++
			continue
		case several:
			lists++
			memberships = *ix.lists.at(home.place)
			if len(memberships) < 2 {
				return fmt.Errorf("object %d has a list of %d", pos, len(memberships))
			}
		}
		for i, m := range memberships {
			if b := ix.buckets.at(m.bucket); int(m.place) >= len(b.members) || b.members[m.place] != uint32(pos) {
				return fmt.Errorf("object %d thinks it is at %d of %q: %v", pos, m.place, *ix.values.at(m.bucket), b.members)
			}
			if slices.ContainsFunc(memberships[:i], func(o member) bool { return o.bucket == m.bucket }) {
				return fmt.Errorf("object %d is in bucket %d twice", pos, m.bucket)
			}
			entries++
		}
	}
	// Every membership has its place, each place one object: if the sums agree
	// no bucket has a member that does not know it.
	members := 0
	for _, b := range ix.buckets.list() {
		members += len(b.members)
	}
	if entries != ix.entries || members != ix.entries || unindexed != ix.unindexed || failing != ix.failing {
		return fmt.Errorf("entries %d, members %d, unindexed %d, failing %d; counted %d, %d, %d",
			entries, members, unindexed, failing, ix.entries, ix.unindexed, ix.failing)
	}
	if lists+len(ix.idleLists) != ix.lists.n {
		return fmt.Errorf("%d lists in use, %d idle, of %d", lists, len(ix.idleLists), ix.lists.n)
	}
	return nil
}

// checkViews compares what the views would show with what there is.
func (ix *index) checkViews(keys []string) error {
	check := func(v *view, want []string) error {
		if v.stale || len(v.log) > v.limit {
			return fmt.Errorf("stale %v with %d of %d changes", v.stale, len(v.log), v.limit)
		}
		v.merge()
		for _, it := range v.spare[:cap(v.spare)] {
			if it != (item{}) {
				return fmt.Errorf("%q is kept alive", it.text)
			}
		}
		slices.Sort(want)
		if !slices.EqualFunc(v.sorted, want, func(it item, text string) bool { return it.text == text }) {
			return fmt.Errorf("view has %v, want %v", v.sorted, want)
		}
		var filtered []string
		for _, text := range want {
			if v.match == nil || v.match(text) {
				filtered = append(filtered, text)
			}
		}
		if !slices.EqualFunc(v.shown(), filtered, func(it item, text string) bool { return it.text == text }) {
			return fmt.Errorf("view filtered by %q has %v, want %v", v.filter, v.shown(), filtered)
		}
		return nil
	}
	if ix.looked != nil {
		var values []string
		for _, n := range ix.heap {
			values = append(values, *ix.values.at(n))
		}
		if err := check(ix.looked, values); err != nil {
			return fmt.Errorf("values: %w", err)
		}
		for _, it := range ix.looked.sorted {
			if n, _ := ix.byValue.get(&ix.values, it.text); n != it.number {
				return fmt.Errorf("view has %q as bucket %d, want %d", it.text, it.number, n)
			}
		}
	}
	for _, o := range ix.opened {
		b := ix.buckets.at(o.number)
		in := make([]string, 0, len(b.members))
		for _, pos := range b.members {
			in = append(in, keys[pos])
		}
		if err := check(o.view, in); err != nil {
			return fmt.Errorf("keys of %q: %w", *ix.values.at(o.number), err)
		}
	}
	return nil
}

// SetMinLog makes the logs of small views shorter.
func (x *Indexer) SetMinLog(n int) { x.minLog = n }

// Capacity returns how many objects the arrays have room for, and how many
// buckets the largest index has had at a time.
func (x *Indexer) Capacity() (objects, buckets int) {
	for _, ix := range x.indices {
		buckets = max(buckets, ix.buckets.n)
	}
	return x.objects.room(), buckets
}

// room returns how many elements the pages have room for.
func (a *array[T]) room() (n int) {
	for _, page := range a.pages {
		n += cap(page)
	}
	return n
}

// check returns what is wrong with the array's structure.
func (a *array[T]) check() error {
	n := 0
	for i, page := range a.pages {
		if n += len(page); len(page) < pageSize && n < a.n {
			return fmt.Errorf("page %d has %d of %d elements", i, len(page), a.n)
		}
	}
	if n != a.n {
		return fmt.Errorf("%d elements, counted %d", a.n, n)
	}
	if used := (n + pageMask) / pageSize; len(a.pages) > used+1 {
		return fmt.Errorf("%d pages for %d elements", len(a.pages), n)
	}
	return nil
}

// Array is an array of numbers.
type Array struct{ a array[int] }

// NewArray returns an empty array.
func NewArray() *Array { return &Array{} }

// Push is push.
func (x *Array) Push(v int) { x.a.push(v) }

// Pop is pop.
func (x *Array) Pop() { x.a.pop() }

// At is at.
func (x *Array) At(i int) *int { return x.a.at(uint32(i)) }

// List is list.
func (x *Array) List() []int { return x.a.list() }

// Room returns how many elements there is room for.
func (x *Array) Room() int { return x.a.room() }

// Check returns what is wrong with the array.
func (x *Array) Check() error { return x.a.check() }

// SmallestBetween is smallestBetween.
var SmallestBetween = smallestBetween

// LookWhileWritersOverflow looks at an index's values for the first time, and
// lets more change than a log can hold while they are sorted. It returns what is
// seen, and whether writers were kept out the second time.
func (x *Indexer) LookWhileWritersOverflow(name string, write func()) (seen []string, keptOut bool) {
	x.look("", func() *view { return nil }, func() *view {
		ix := x.indexLocked(name)
		v := x.newView(ix.listValues())
		if ix.looked == nil && seen == nil {
			seen = []string{}
			x.mu.RUnlock()
			ix.looked = v
			write()
			x.mu.RLock()
			return v
		}
		keptOut = !x.mu.TryLock()
		return v
	}, func(v *view) {
		for _, it := range v.shown() {
			seen = append(seen, it.text)
		}
	})
	return seen, keptOut
}

// Opened returns how many views of buckets the index has.
func (x *Indexer) Opened(name string) int { return len(x.indexLocked(name).opened) }

// Lists returns how many lists of memberships the largest index has room for.
func (x *Indexer) Lists() (lists int) {
	for _, ix := range x.indices {
		lists = max(lists, ix.lists.room())
	}
	return lists
}

// Table is a table with hashes of the test's choice.
type Table struct{ t table }

// NewTable is newTable.
func NewTable(n int) *Table { return &Table{newTable(n)} }

// Insert is insert.
func (t *Table) Insert(hash, number uint32) { t.t.insert(hash, number) }

// Remove is remove.
func (t *Table) Remove(hash, number uint32) { t.t.remove(hash, number) }

// Rename is rename.
func (t *Table) Rename(hash, from, to uint32) { t.t.rename(hash, from, to) }

// Find is find.
func (t *Table) Find(texts []string, hash uint32, text string) (uint32, bool) {
	var a array[string]
	for _, text := range texts {
		a.push(text)
	}
	return t.t.find(&a, hash, text)
}

// Slots returns how many slots there are.
func (t *Table) Slots() int { return len(t.t.slots) }

// Taken returns how many numbers there are.
func (t *Table) Taken() int { return t.t.taken }
