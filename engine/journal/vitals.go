package journal

import "github.com/informeter/informeter/engine/inspect"

const (
	// entryBytes is about what an entry takes, with its places in the map and in
	// the order of keys; rowBytes what it takes in a view.
	entryBytes, rowBytes = 165, 24
)

// Lost counts what the journal does not know: events and versions that it had to
// let go of, and notifications that it was never told of.
type Lost struct{ History, Notifications uint64 }

// Vitals returns how much the journal remembers, and what it has lost.
func (j *Journal) Vitals() (v inspect.JournalVitals, lost Lost) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writeSkipsLocked()
	v = inspect.JournalVitals{
		Keys:     j.entries.len(),
		KeyBytes: int64(j.entries.len())*entryBytes + j.text,
		Events:   j.histories.events,
		Versions: j.histories.versions,
		Bytes:    j.histories.bytes,
		Bound:    j.histories.bound,
		Since:    j.rates.began,
	}
	for _, view := range j.views {
		v.KeyBytes += int64(view.rows.Len()) * rowBytes
	}
	return v, Lost{j.histories.lost, j.lost}
}
