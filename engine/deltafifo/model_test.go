package deltafifo_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
)

// object is what goes through the queues.
type object = metav1.PartialObjectMetadata

func obj(name string, rv int) *object {
	return &object{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: strconv.Itoa(rv)}}
}

// known is a store that lists its keys in order, so that two queues that ask
// two of them see the same.
type known struct {
	mu      sync.Mutex
	objects map[string]any
}

func newKnown(objects ...*object) *known {
	k := &known{objects: map[string]any{}}
	for _, o := range objects {
		k.objects[o.Name] = o
	}
	return k
}

func (k *known) ListKeys() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := make([]string, 0, len(k.objects))
	for key := range k.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (k *known) GetByKey(key string) (any, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.objects[key]
	return o, ok, nil
}

func (k *known) Len() int { return len(k.ListKeys()) }

// atOnce is a known that can be asked for everything at once, as the store of an
// informer can.
type atOnce struct{ *known }

func (k atOnce) Snapshot() (keys []string, objects []any) {
	for _, key := range k.ListKeys() {
		o, _, _ := k.GetByKey(key)
		keys, objects = append(keys, key), append(objects, o)
	}
	return keys, objects
}

// apply does to the store what HandleDeltas does.
func (k *known) apply(key string, d cache.Delta) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch d.Type {
	case cache.Bookmark, cache.SyncAll:
	case cache.Deleted:
		delete(k.objects, key)
	case cache.ReplacedAll:
		before := k.objects
		k.objects = map[string]any{}
		for _, o := range d.Object.(cache.ReplacedAllInfo).Objects {
			switch o := o.(type) { // in no list of a server would it be anything else
			case *object:
				k.objects[o.Name] = o
			case deltafifo.Keep:
				if kept, exists := before[o.Key]; exists {
					k.objects[o.Key] = kept
				}
			}
		}
	default:
		k.objects[key] = d.Object
	}
}

func (k *known) applyAll(batch []deltafifo.Entry) []deltafifo.Entry {
	for _, e := range batch {
		k.apply(e.Key, e.Delta)
	}
	return nil
}

// contents returns the store as name=version, in order.
func (k *known) contents() []string {
	var out []string
	for _, key := range k.ListKeys() {
		o, _, _ := k.GetByKey(key)
		out = append(out, key+"="+o.(*object).ResourceVersion)
	}
	return out
}

// text writes a delta so that equal text means equal deltas.
func text(key string, d cache.Delta) string {
	switch o := d.Object.(type) {
	case *object:
		return fmt.Sprintf("%s %s@%s", d.Type, key, o.ResourceVersion)
	case cache.DeletedFinalStateUnknown:
		if o.Obj == nil {
			return fmt.Sprintf("%s %s tombstone(%s) of nothing", d.Type, key, o.Key)
		}
		return fmt.Sprintf("%s %s tombstone(%s)@%s", d.Type, key, o.Key, o.Obj.(*object).ResourceVersion)
	case cache.BookmarkInfo:
		return fmt.Sprintf("%s@%s", d.Type, o.ResourceVersion)
	case cache.ReplacedAllInfo:
		s := fmt.Sprintf("%s@%s", d.Type, o.ResourceVersion)
		for _, o := range o.Objects {
			if o, ok := o.(*object); ok {
				s += fmt.Sprintf(" %s@%s", o.Name, o.ResourceVersion)
			}
		}
		return s
	default:
		return fmt.Sprintf("%s %s %T", d.Type, key, d.Object)
	}
}

func texts(batch []deltafifo.Entry) []string {
	var out []string
	for _, e := range batch {
		out = append(out, text(e.Key, e.Delta))
	}
	return out
}

func upTo(n int) func() int { return func() int { return n } }
