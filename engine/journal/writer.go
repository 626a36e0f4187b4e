package journal

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// write is one entry of an object's managed fields: a manager, when it wrote
// last, and what it owns.
type write struct {
	manager string
	at      time.Time
	fields  any // *metav1.FieldsV1, or a tree of maps
}

// owned returns how long the list of what the manager owns is.
func (w *write) owned() int {
	if f, ok := w.fields.(*metav1.FieldsV1); ok {
		if f == nil {
			return 0
		}
		return f.Size()
	}
	return jsonSize(w.fields)
}

// writerOf returns the field manager that wrote obj last, after before, which
// may be nil; empty if the object does not say.
//
// Managed fields have their times in whole seconds. Of several managers in the
// newest second it is one that before did not have in that second, else one that
// owns more than it did, else the last of them.
func writerOf(obj, before any) string {
	newest, several := newestWrite(obj)
	if !several || before == nil {
		return newest.manager
	}
	had := map[string]int{}
	eachWrite(before, func(w write) {
		if w.at.Equal(newest.at) {
			had[w.manager] = w.owned()
		}
	})
	gained, fresh := "", ""
	eachWrite(obj, func(w write) {
		if !w.at.Equal(newest.at) {
			return
		}
		if owned, known := had[w.manager]; !known {
			fresh = w.manager
		} else if w.owned() > owned {
			gained = w.manager
		}
	})
	switch {
	case fresh != "":
		return fresh
	case gained != "":
		return gained
	}
	return newest.manager
}

// newestWrite returns the last write and whether other managers wrote in the
// same second.
func newestWrite(obj any) (newest write, several bool) {
	eachWrite(obj, func(w write) {
		switch {
		case newest.manager == "" || w.at.After(newest.at):
			newest, several = w, false
		case w.at.Equal(newest.at):
			several = several || w.manager != newest.manager
			newest = w
		}
	})
	return newest, several
}

// eachWrite calls the function with the entries of an object's managed fields.
func eachWrite(obj any, each func(write)) {
	defer forgive()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		// Its own GetManagedFields makes typed copies.
		entries, _ := nested(u.Object, "metadata")["managedFields"].([]any)
		for _, e := range entries {
			fields, _ := e.(map[string]any)
			manager, _ := fields["manager"].(string)
			text, _ := fields["time"].(string)
			at, _ := time.Parse(time.RFC3339, text) // the zero time if there is none
			each(write{manager, at, fields["fieldsV1"]})
		}
		return
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	for _, e := range m.GetManagedFields() {
		w := write{manager: e.Manager, fields: e.FieldsV1}
		if e.Time != nil {
			w.at = e.Time.Time
		}
		each(w)
	}
}
