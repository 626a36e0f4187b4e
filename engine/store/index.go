package store

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"
)

// member is one membership: the object is in that bucket, at that place.
type member struct {
	bucket uint32
	place  uint32
}

// What member.bucket says instead of a bucket's number when the object is not
// in exactly one bucket.
const (
	nowhere = math.MaxUint32 - iota // the function returned no value
	refused                         // the function failed
	several                         // place is a slot of index.lists
)

// bucket holds the objects that share one value of an index.
type bucket struct {
	// members are positions of objects, in no order, each once. A bucket in use
	// has at least one.
	members []uint32
	// rank is the bucket's place in the index's heap.
	rank uint32
}

// index is one index of the store. Its owner's locks guard it: writers hold
// Indexer.writing and Indexer.mu, readers hold Indexer.mu for reading.
//
// What an object was filed under is remembered as the bucket itself, which knows
// its value: eight bytes an object, and nothing has to be looked up to find out
// that a value is still the same or to take an object out.
type index struct {
	name string
	fn   cache.IndexFunc
	// expr is what the index was made from, if that is an expression; contained
	// says that its failures never end the process.
	expr      string
	contained bool
	// told is Options.Refused, nil if nobody is to be told.
	told func(index, key string, err error)
	cost cost

	// byValue has the number of every bucket in use: buckets[n] is it, and
	// values[n] its value. Numbers in idle have empty buckets and values and
	// wait to be used again.
	byValue table
	values  array[string]
	buckets array[bucket]
	idle    []uint32
	// latest is the bucket that an object joined last, if it is still in use.
	latest uint32

	// homes[pos] is where the object at pos is filed, for every object of the
	// store. An object in several buckets has a list of its memberships, in the
	// order in which the function returned the values; slots of lists in
	// idleLists are nil and wait to be used again.
	homes     array[member]
	lists     array[[]member]
	idleLists []uint32

	// heap has the numbers of the buckets in use, none with more members than
	// its parent: heap[0] is the largest.
	heap []uint32

	// entries counts memberships, unindexed the objects that are nowhere and
	// failing those that are refused.
	entries, unindexed, failing int
	// lastError is the newest failure, lastErrorKey the object it was about.
	lastError, lastErrorKey string

	// What readers look at in order, see view.go.
	looked *view
	opened []openBucket
}

func newIndex(name string, fn cache.IndexFunc) *index {
	return &index{name: name, fn: fn, byValue: newTable(0)}
}

// newIndex returns an index of which failures are told.
func (x *Indexer) newIndex(name string, fn cache.IndexFunc) *index {
	ix := newIndex(name, fn)
	ix.told = x.opts.Refused
	return ix
}

// outcome is what an index function said about one object.
type outcome struct {
	values []string
	err    error
}

// fail makes the outcome that of a call that panicked. A panic becomes an error:
// foreign code fails on one object, which is no reason for its neighbours to
// suffer.
func (o *outcome) fail(panicked any) {
	*o = outcome{err: fmt.Errorf("index function panicked: %v", panicked)}
}

// contain, deferred, turns a panic into an outcome.
func (o *outcome) contain() {
	if r := recover(); r != nil {
		o.fail(r)
	}
}

// call asks the index function about obj for a reader.
func (ix *index) call(obj any) (o outcome) {
	defer o.contain()
	o.values, o.err = ix.fn(obj)
	return o
}

// ask asks the index function about obj for a write, and sometimes looks at the
// clock. It lets a panic through.
func (ix *index) ask(obj any, o *outcome) {
	if ix.cost.due() {
		defer ix.cost.record(time.Now())
	}
	o.values, o.err = ix.fn(obj)
}

// askContained asks as ask does, and contains a panic.
func (ix *index) askContained(obj any, o *outcome) {
	defer o.contain()
	ix.ask(obj, o)
}

// add files the object at pos, which is behind the last, under what the function
// said about it.
func (ix *index) add(pos uint32, key string, o *outcome) {
	var home member
	switch {
	case o.err != nil:
		home = ix.refuse(key, o.err)
	case len(o.values) == 0:
		home.bucket = nowhere
		ix.unindexed++
	case len(o.values) == 1:
		home, _ = ix.join(pos, key, o.values[0])
	default:
		home = ix.joinAll(pos, key, o.values)
	}
	ix.homes.push(home)
}

// refuse notes that the function failed on the object of that key, which is
// nowhere, and returns where it is now.
func (ix *index) refuse(key string, err error) member {
	ix.lastError, ix.lastErrorKey = err.Error(), key
	ix.failing++
	if ix.told != nil {
		ix.told(ix.name, key, err)
	}
	return member{bucket: refused}
}

// put files the object at pos anew, under what the function said about it.
func (ix *index) put(pos uint32, key string, o *outcome) {
	home := ix.homes.at(pos)
	switch {
	case o.err != nil:
		ix.takeOut(pos, key)
		*home = ix.refuse(key, o.err)
		ix.unindexed--
	case len(o.values) == 0:
		ix.takeOut(pos, key)
	case len(o.values) == 1:
		if home.bucket < several && *ix.values.at(home.bucket) == o.values[0] {
			return
		}
		ix.takeOut(pos, key)
		*home, _ = ix.join(pos, key, o.values[0])
		ix.unindexed--
	case home.bucket == several && ix.listHas(*ix.lists.at(home.place), o.values):
	default:
		ix.takeOut(pos, key)
		*home = ix.joinAll(pos, key, o.values)
		ix.unindexed--
	}
	ix.settle()
}

// listHas says whether the memberships are the values, in their order.
func (ix *index) listHas(list []member, values []string) bool {
	return slices.EqualFunc(list, values, func(m member, value string) bool {
		return *ix.values.at(m.bucket) == value
	})
}

// joinAll puts the object at pos, which is in no bucket, into those of the
// values. Values that come again count once.
func (ix *index) joinAll(pos uint32, key string, values []string) member {
	var list []member
	for i, value := range values {
		m, ok := ix.join(pos, key, value)
		switch {
		case !ok:
		case list == nil && i == len(values)-1:
			return m
		case list == nil:
			list = append(make([]member, 0, len(values)-i), m)
		default:
			list = append(list, m)
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	if n := len(ix.idleLists); n > 0 {
		slot := ix.idleLists[n-1]
		ix.idleLists = ix.idleLists[:n-1]
		*ix.lists.at(slot) = list
		return member{several, slot}
	}
	ix.lists.push(list)
	return member{several, uint32(ix.lists.n - 1)}
}

// takeOut takes the object at pos out of every bucket and leaves it nowhere.
func (ix *index) takeOut(pos uint32, key string) {
	home := ix.homes.at(pos)
	switch home.bucket {
	case nowhere:
		return
	case refused:
		ix.failing--
	case several:
		for _, m := range *ix.lists.at(home.place) {
			ix.leave(m, key)
		}
		*ix.lists.at(home.place) = nil
		ix.idleLists = append(ix.idleLists, home.place)
	default:
		ix.leave(*home, key)
	}
	*home = member{bucket: nowhere}
	ix.unindexed++
}

// remove takes the object at pos out of the index. The last object moves into
// its position.
func (ix *index) remove(pos uint32, key string) {
	ix.takeOut(pos, key)
	ix.unindexed--
	last := uint32(ix.homes.n - 1)
	if pos != last {
		home := *ix.homes.at(last)
		switch home.bucket {
		case nowhere, refused:
		case several:
			for _, m := range *ix.lists.at(home.place) {
				ix.buckets.at(m.bucket).members[m.place] = pos
			}
		default:
			ix.buckets.at(home.bucket).members[home.place] = pos
		}
		*ix.homes.at(pos) = home
	}
	ix.homes.pop()
	ix.settle()
}

// join puts the object at pos into the bucket of the value, which is made if
// there is none. It returns false if the object is in it already, provided that
// nothing else has joined in between: then it is the newest member.
func (ix *index) join(pos uint32, key, value string) (member, bool) {
	n := ix.bucketOf(value)
	b := ix.buckets.at(n)
	place := uint32(len(b.members))
	if place > 0 && b.members[place-1] == pos {
		return member{}, false
	}
	b.members = append(b.members, pos)
	ix.entries++
	ix.siftUp(b.rank)
	ix.noteMember(n, key, true)
	return member{n, place}, true
}

// bucketOf returns the number of the value's bucket, which is made if there is
// none. Lists come in the order of their keys, so neighbours share namespaces and
// owners: the bucket asked for last is tried first.
func (ix *index) bucketOf(value string) uint32 {
	if n := ix.latest; int(n) < ix.values.n && *ix.values.at(n) == value && len(ix.buckets.at(n).members) > 0 {
		return n
	}
	hash := ix.byValue.hash(value)
	n, ok := ix.byValue.find(&ix.values, hash, value)
	if !ok {
		n = ix.open(hash, value)
	}
	ix.latest = n
	return n
}

// leave ends one membership. The bucket's last member takes the place, and a
// bucket without members goes.
func (ix *index) leave(m member, key string) {
	b := ix.buckets.at(m.bucket)
	last := uint32(len(b.members) - 1)
	if m.place != last {
		moved := b.members[last]
		b.members[m.place] = moved
		ix.membership(moved, m.bucket).place = m.place
	}
	b.members = b.members[:last]
	ix.entries--
	ix.noteMember(m.bucket, key, false)
	if last == 0 {
		ix.close(m.bucket)
		return
	}
	b.members = tightened(b.members)
	ix.siftDown(b.rank)
}

// membership returns the membership of the object at pos in the bucket.
func (ix *index) membership(pos, bucket uint32) *member {
	home := ix.homes.at(pos)
	if home.bucket == bucket {
		return home
	}
	list := *ix.lists.at(home.place)
	for i := range list {
		if list[i].bucket == bucket {
			return &list[i]
		}
	}
	panic(fmt.Sprintf("bug: index %s: object %d is in bucket %d and does not know it", ix.name, pos, bucket))
}

// open makes a bucket for the value, which has that hash.
func (ix *index) open(hash uint32, value string) uint32 {
	b := bucket{rank: uint32(len(ix.heap))}
	var n uint32
	if last := len(ix.idle) - 1; last >= 0 {
		n = ix.idle[last]
		ix.idle = ix.idle[:last]
		*ix.buckets.at(n), *ix.values.at(n) = b, value
	} else {
		n = uint32(ix.buckets.n)
		ix.buckets.push(b)
		ix.values.push(value)
	}
	ix.byValue.insert(hash, n)
	ix.heap = append(ix.heap, n)
	ix.noteValue(n, value, true)
	return n
}

// close removes an empty bucket, so that values which come and go leave nothing
// behind.
func (ix *index) close(n uint32) {
	b := ix.buckets.at(n)
	value := *ix.values.at(n)
	ix.noteValue(n, value, false)
	ix.byValue.remove(ix.byValue.hash(value), n)
	rank, last := b.rank, uint32(len(ix.heap)-1)
	if rank != last {
		ix.heap[rank] = ix.heap[last]
		ix.buckets.at(ix.heap[rank]).rank = rank
	}
	ix.heap = ix.heap[:last]
	if rank != last {
		// What took the place came from the bottom and may be larger than its
		// new parent, which is from another branch.
		ix.siftUp(rank)
		ix.siftDown(rank)
	}
	*b, *ix.values.at(n) = bucket{}, ""
	ix.idle = append(ix.idle, n)
}
