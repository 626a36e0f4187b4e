package journal

import "hash/maphash"

// keys has an entry for every key, as a map[string]*entry would. But the text is
// in the entry, so a slot takes twelve bytes; and a search is split in two, so
// that many can be under way at once: each waits for memory, not for the others.
//
//	text ─ hash ─▶ hashes ─ same hash ─▶ entries ─▶ key == text ?
//
// Collisions go to the next free slot, and a removal moves up what comes after
// it. The number of slots is a power of two; at most four of five are taken.
type keys struct {
	seed maphash.Seed
	// A slot is free where hashes has 0.
	hashes  []uint32
	entries []*entry
	taken   int
	// changes grows with every entry that comes or goes.
	changes uint64
}

func newKeys() keys {
	const slots = 16
	return keys{seed: maphash.MakeSeed(), hashes: make([]uint32, slots), entries: make([]*entry, slots)}
}

func (k *keys) len() int { return k.taken }

// hash returns the text's hash, which is not 0.
func (k *keys) hash(text string) uint32 { return max(uint32(maphash.String(k.seed, text)), 1) }

// find returns the entry of the text with that hash, or nil.
func (k *keys) find(hash uint32, text string) *entry {
	mask := uint32(len(k.hashes) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch k.hashes[i] {
		case hash:
			if e := k.entries[i]; e.key == text {
				return e
			}
		case 0:
			return nil
		}
	}
}

// likely returns an entry whose text has that hash, or nil, without looking at
// it: nearly always the only one.
func (k *keys) likely(hash uint32) *entry {
	mask := uint32(len(k.hashes) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch k.hashes[i] {
		case hash:
			return k.entries[i]
		case 0:
			return nil
		}
	}
}

// get returns the entry of the text, or nil.
func (k *keys) get(text string) *entry { return k.find(k.hash(text), text) }

// add adds an entry whose key is not there. There must be room for it.
func (k *keys) add(hash uint32, e *entry) {
	place(k.hashes, k.entries, hash, e)
	k.taken++
	k.changes++
}

// place puts an entry where the search for it will pass.
func place(hashes []uint32, entries []*entry, hash uint32, e *entry) {
	mask := uint32(len(entries) - 1)
	i := hash & mask
	for hashes[i] != 0 {
		i = (i + 1) & mask
	}
	hashes[i], entries[i] = hash, e
}

// grown returns slots with room for n more entries, and whether they are not
// those there are. It changes nothing: whoever holds the lock puts them in place.
func (k *keys) grown(n int) (hashes []uint32, entries []*entry, larger bool) {
	slots := len(k.entries)
	for (k.taken+n)*5 > slots*4 {
		slots *= 2
	}
	if slots == len(k.entries) {
		return nil, nil, false
	}
	hashes, entries = make([]uint32, slots), make([]*entry, slots)
	for i, hash := range k.hashes {
		if hash != 0 {
			place(hashes, entries, hash, k.entries[i])
		}
	}
	return hashes, entries, true
}

// remove takes out an entry that is there.
func (k *keys) remove(e *entry) {
	mask := uint32(len(k.entries) - 1)
	gap := k.hash(e.key) & mask
	for k.entries[gap] != e {
		gap = (gap + 1) & mask
	}
	// A later entry may move into the gap if the search for it, which begins at
	// its hash, passes the gap before it gets to where the entry is now.
	for i := (gap + 1) & mask; k.hashes[i] != 0; i = (i + 1) & mask {
		if start := k.hashes[i] & mask; (i-start)&mask >= (i-gap)&mask {
			k.hashes[gap], k.entries[gap] = k.hashes[i], k.entries[i]
			gap = i
		}
	}
	k.hashes[gap], k.entries[gap] = 0, nil
	k.taken--
	k.changes++
}
