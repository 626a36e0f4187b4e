package store

import "hash/maphash"

// table finds numbers by text, as a map[string]uint32 would. But the texts are
// where the numbers lead to, an array that its owner has anyway, so a slot needs
// eight bytes, the garbage collector has nothing to look at, and growing hashes
// nothing again: a third of a map's memory and half its time.
//
//	text ─ hash ─▶ slots ─ number ─▶ texts[number] == text ?
//
// Collisions go to the next free slot (linear probing), and a removal moves what
// comes after it up, so that there are no graves. The number of slots is a power
// of two; at most four of five are taken.
type table struct {
	seed  maphash.Seed
	slots []slot
	taken int
}

// slot is a number and its text's hash, whose low bits say where the search for
// it begins.
type slot struct {
	hash   uint32
	number uint32
}

// vacant is the number in a slot that is not taken.
const vacant = 1<<32 - 1

// newTable returns a table with room for n numbers.
func newTable(n int) table {
	t := table{seed: maphash.MakeSeed()}
	size := 8
	for full(n, size) {
		size *= 2
	}
	t.slots = vacantSlots(size)
	return t
}

func vacantSlots(n int) []slot {
	slots := make([]slot, n)
	for i := range slots {
		slots[i].number = vacant
	}
	return slots
}

// full says whether so many slots are too few for so many numbers.
func full(taken, slots int) bool { return taken*5 > slots*4 }

// hash returns the text's hash in this table.
func (t *table) hash(text string) uint32 { return uint32(maphash.String(t.seed, text)) }

// find returns the number of the text with that hash.
func (t *table) find(texts *array[string], hash uint32, text string) (uint32, bool) {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s.number == vacant {
			return 0, false
		}
		if s.hash == hash && *texts.at(s.number) == text {
			return s.number, true
		}
	}
}

// get returns the number of the text.
func (t *table) get(texts *array[string], text string) (uint32, bool) {
	return t.find(texts, t.hash(text), text)
}

// insert adds a number whose text is not in the table.
func (t *table) insert(hash, number uint32) {
	if full(t.taken+1, len(t.slots)) {
		t.resize(2 * len(t.slots))
	}
	t.taken++
	place(t.slots, slot{hash, number})
}

// place puts the slot where the search for it will pass.
func place(slots []slot, s slot) {
	mask := uint32(len(slots) - 1)
	i := s.hash & mask
	for slots[i].number != vacant {
		i = (i + 1) & mask
	}
	slots[i] = s
}

func (t *table) resize(n int) {
	slots := vacantSlots(n)
	for _, s := range t.slots {
		if s.number != vacant {
			place(slots, s)
		}
	}
	t.slots = slots
}

// at returns where the number is, which must be there.
func (t *table) at(hash, number uint32) uint32 {
	mask := uint32(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i].number != number {
		i = (i + 1) & mask
	}
	return i
}

// rename gives a text's number another value.
func (t *table) rename(hash, from, to uint32) { t.slots[t.at(hash, from)].number = to }

// remove takes the number out.
func (t *table) remove(hash, number uint32) {
	mask := uint32(len(t.slots) - 1)
	gap := t.at(hash, number)
	// A later slot may move into the gap if the search for it, which begins at
	// its hash, passes the gap before it gets to where the slot is now.
	for i := (gap + 1) & mask; t.slots[i].number != vacant; i = (i + 1) & mask {
		if start := t.slots[i].hash & mask; (i-start)&mask >= (i-gap)&mask {
			t.slots[gap] = t.slots[i]
			gap = i
		}
	}
	t.slots[gap].number = vacant
	t.taken--
	if wasteful(t.taken, len(t.slots)) {
		t.resize(len(t.slots) / 2)
	}
}
