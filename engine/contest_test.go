package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// The contest of two informers: a script, how it is played on both, and how they
// are compared.

// oracleStep is one step of a script.
type oracleStep struct {
	op   string
	name string
}

var (
	oracleOps = []string{"add", "add", "modify", "modify", "modify", "delete", "recreate", "add unseen", "modify unseen", "delete unseen", "recreate unseen", "cut", "join", "leave", "index", "pass"}
	// oracleFaults are what a faulty server can be told to do.
	oracleFaults = []string{"list fails", "watch fails", "pages", "tokens expire", "bookmark", "expires", "breaks", "closes", "other type", "other event"}
)

func drawScript(rt *rapid.T, ops []string) []oracleStep {
	script := make([]oracleStep, rapid.IntRange(1, 25).Draw(rt, "steps"))
	for n := range script {
		script[n] = oracleStep{
			op:   rapid.SampledFrom(ops).Draw(rt, "op"),
			name: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "name"),
		}
	}
	return script
}

// contestant is one of the two informers, what it takes for the server, and the
// handlers that joined it.
type contestant struct {
	informer cache.SharedIndexInformer
	server   *faulty
	handlers []*recorder
	handles  []cache.ResourceEventHandlerRegistration
	// known holds for each handler the objects it has been told of and that
	// were not deleted since.
	known   []map[string]bool
	varying varying
}

// varying is what the contract leaves open of what handlers are told, so that a
// check does not compare it. Each has its reason where it is set.
type varying struct {
	repeats   bool // how often the same is told in a row
	strangers bool // deletions of what the handler did not know
}

// told returns what handler n was told since it was last asked, by object.
func (c *contestant) told(n int) map[string][]string {
	known := c.known[n]
	stories := byKey(c.handlers[n].all())
	for name, story := range stories {
		if c.varying.repeats {
			story = slices.Compact(story)
		}
		if c.varying.strangers {
			story = slices.DeleteFunc(story, func(line string) bool {
				was := known[name]
				known[name] = !strings.HasPrefix(line, "delete")
				return !was && !known[name]
			})
		}
		if stories[name] = story; len(story) == 0 {
			delete(stories, name)
		}
	}
	return stories
}

func (c *contestant) join() error { return c.joinWith(&recorder{}, cache.HandlerOptions{}) }

func (c *contestant) joinWith(r *recorder, o cache.HandlerOptions) error {
	handle, err := c.informer.AddEventHandlerWithOptions(r, o)
	c.handlers, c.handles = append(c.handlers, r), append(c.handles, handle)
	c.known = append(c.known, map[string]bool{})
	return err
}

// leave removes the handler that joined first of those still there.
func (c *contestant) leave() error {
	if len(c.handles) == 0 {
		return nil
	}
	handle := c.handles[0]
	c.handles = c.handles[1:]
	return c.informer.RemoveEventHandler(handle)
}

// settle gives everything time to happen: longer than the backoffs of three
// failures in a row.
func settle(yes bool) {
	if yes {
		time.Sleep(4 * time.Minute)
		synctest.Wait()
	}
}

// play makes one step happen on the server, or to the handlers of both.
func play(s server, both []*contestant, step oracleStep, n int, exists map[string]bool) error {
	op, unseen := strings.CutSuffix(step.op, " unseen")
	p := pod(step.name, "app", fmt.Sprint(n%3))
	add, modify, remove := s.Add, s.Modify, s.Delete
	if unseen {
		add, modify, remove = s.AddDropWatch, s.ModifyDropWatch, s.DeleteDropWatch
	}
	switch op {
	case "add", "modify":
		if exists[step.name] {
			modify(p)
		} else {
			add(p)
		}
		exists[step.name] = true
	case "delete":
		if exists[step.name] {
			remove(p)
		}
		delete(exists, step.name)
	case "recreate":
		if exists[step.name] {
			remove(p.DeepCopy())
		}
		add(p)
		exists[step.name] = true
	case "cut":
		s.ResetWatch()
	case "join", "join slow", "join resync", "leave":
		for _, c := range both {
			act := c.join
			switch op {
			case "join slow":
				act = func() error { return c.joinWith(&recorder{takes: time.Second}, cache.HandlerOptions{}) }
			case "join resync":
				period := time.Duration(n%4) * 45 * time.Second // none, below, above the informer's own
				act = func() error { return c.joinWith(&recorder{}, cache.HandlerOptions{ResyncPeriod: &period}) }
			case "leave":
				act = c.leave
			}
			if err := act(); err != nil {
				return err
			}
		}
	case "index":
		for _, c := range both {
			byDay := func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Labels["app"]}, nil }
			if err := c.informer.AddIndexers(cache.Indexers{fmt.Sprint("late ", n): byDay}); err != nil {
				return err
			}
		}
	case "pass":
		time.Sleep(time.Duration(n) * 100 * time.Millisecond)
	default:
		for _, c := range both {
			c.server.fail(step.op, n)
		}
	}
	return nil
}

// sameStories compares what the handlers of both were told, key by key.
func sameStories(ours, theirs *contestant) error {
	for n := range ours.handlers {
		if diff := cmp.Diff(theirs.told(n), ours.told(n)); diff != "" {
			return fmt.Errorf("handler %d was told (-client-go +ours):\n%s", n, diff)
		}
	}
	return nil
}

// byKey sorts what a handler was told by the object's name, order kept.
func byKey(told []string) map[string][]string {
	stories := map[string][]string{}
	for _, line := range told {
		name, _, _ := strings.Cut(strings.TrimLeft(strings.Fields(line)[1], "["), "@")
		stories[name] = append(stories[name], line)
	}
	return stories
}

// checkLegal checks what the handlers still there were told: per key an add
// before any update, nothing after a delete but an add, and each update from
// the state told last. At the end a handler has been told what is in the cache.
func checkLegal(c *contestant, settled bool) error {
	if settled {
		return nil // compared line by line already
	}
	i, isOurs := c.informer.(*Informer)
	inOrder := !isOurs || i.options.Queue == InOrder
	there := c.handlers[len(c.handlers)-len(c.handles):]
	for _, r := range there {
		last := map[string]string{}
		for name, story := range byKey(r.all()) {
			for _, line := range story {
				words := strings.Fields(line)
				switch {
				case words[0] == "add" && last[name] == "":
					last[name] = words[1]
				case words[0] == "update" && last[name] == words[1]:
					last[name] = words[3]
				case words[0] == "delete" && (last[name] != "" || inOrder):
					delete(last, name)
				default:
					return fmt.Errorf("%T: illegal %q after %q in %v", c.informer, line, last[name], story)
				}
			}
		}
		cached := map[string]string{}
		for _, obj := range c.informer.GetStore().List() {
			cached[obj.(*corev1.Pod).Name] = label(obj)
		}
		if diff := cmp.Diff(cached, last); diff != "" {
			return fmt.Errorf("%T: handler's view (-cache +handler):\n%s", c.informer, diff)
		}
	}
	return nil
}

// sameCaches compares two caches and their indices.
func sameCaches(ours, theirs cache.Indexer) error {
	dump := func(x cache.Indexer) map[string]string {
		all := map[string]string{}
		for _, key := range x.ListKeys() {
			obj, _, _ := x.GetByKey(key)
			all[key] = label(obj)
		}
		for index := range x.GetIndexers() {
			for _, value := range x.ListIndexFuncValues(index) {
				keys, _ := x.IndexKeys(index, value)
				slices.Sort(keys)
				all[index+"="+value] = strings.Join(keys, " ")
			}
		}
		return all
	}
	if diff := cmp.Diff(dump(theirs), dump(ours)); diff != "" {
		return fmt.Errorf("caches (-client-go +ours):\n%s", diff)
	}
	return nil
}
