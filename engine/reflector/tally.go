package reflector

import (
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// observe notes an event that was looked at.
func (r *Reflector) observe(s *stream, kind watch.EventType, version string) {
	var seen tally
	seen.add(kind)
	s.advance(version)
	r.observeAll(s, seen)
}

// tally counts events by kind.
type tally struct{ added, modified, deleted, bookmarks, others int }

func (t *tally) add(kind watch.EventType) {
	switch kind {
	case watch.Added:
		t.added++
	case watch.Modified:
		t.modified++
	case watch.Deleted:
		t.deleted++
	case watch.Bookmark:
		t.bookmarks++
	default:
		t.others++
	}
}

// advance says that an event has come with that version.
func (s *stream) advance(version string) {
	s.events++
	if s.ordered {
		s.version = version
	}
}

// observeAll notes events that were looked at.
func (r *Reflector) observeAll(s *stream, seen tally) {
	now := time.Now()
	if !s.ordered {
		s.quietSince = now
	}
	objects := seen.added + seen.modified + seen.deleted + seen.others
	r.mu.Lock()
	v, q := &r.vitals, r.requests.newest()
	if seen.bookmarks > 0 {
		v.Bookmarks += uint64(seen.bookmarks)
		v.LastBookmark = now
		q.Bookmarks += seen.bookmarks
	}
	if objects > 0 {
		v.LastEvent = now
		q.Items += objects
	}
	if s.ordered {
		q.Returned = s.version
	}
	if s.initial != nil {
		v.Received = len(s.initial.positions)
	} else {
		r.observeWatchedLocked(s, seen)
	}
	r.mu.Unlock()
	if s.initial == nil && s.ordered && r.versions != nil {
		r.versions.UpdateResourceVersion(s.version)
	}
	if s.initial == nil {
		r.noted()
	}
	r.generation.Bump()
}

func (r *Reflector) observeWatchedLocked(s *stream, seen tally) {
	r.vitals.Added += uint64(seen.added)
	r.vitals.Updated += uint64(seen.modified)
	r.vitals.Deleted += uint64(seen.deleted)
	if s.ordered {
		r.vitals.ResourceVersion = s.version
	}
	if r.failure != nil {
		r.recoveredLocked()
	}
}
