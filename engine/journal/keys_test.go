package journal

import (
	"testing"

	"pgregory.net/rapid"
)

// TestKeysAreFoundLikeThoseOfAMap draws from few hashes, so that searches pass
// the entries of others.
func TestKeysAreFoundLikeThoseOfAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k, model := newKeys(), map[string]*entry{}
		text := rapid.StringMatching(`[a-e]{1,3}`)
		for range rapid.IntRange(1, 200).Draw(rt, "steps") {
			key := text.Draw(rt, "key")
			e, changes := model[key], k.changes
			if got := k.get(key); got != e {
				rt.Fatalf("get %s = %v, want %v", key, got, e)
			}
			if e != nil {
				k.remove(e)
				delete(model, key)
			} else {
				if hashes, entries, larger := k.grown(1); larger {
					k.hashes, k.entries = hashes, entries
				}
				model[key] = &entry{key: key}
				k.add(k.hash(key), model[key])
			}
			if k.len() != len(model) || k.changes == changes {
				rt.Fatalf("%d keys, want %d; %d changes after %d", k.len(), len(model), k.changes, changes)
			}
			for key, e := range model {
				if k.get(key) != e {
					rt.Fatalf("%s is not found any more", key)
				}
			}
		}
	})
}
