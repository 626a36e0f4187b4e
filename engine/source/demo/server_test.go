package demo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// statusCode returns the HTTP status of an error of the server, 0 for others.
func statusCode(err error) int {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

// firstRevision is the revision of a bench's server before anything is written.
const firstRevision = 100

// bench is a server on which only the test writes.
type bench struct {
	*endpoint
	t *testing.T
}

// onBench calls test with a bench in a bubble.
func onBench(t *testing.T, test func(b bench)) {
	t.Helper()
	onBenchWith(t, limits{history: 1000, buffer: 100, bookmarks: time.Minute}, test)
}

func onBenchWith(t *testing.T, l limits, test func(b bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(l, firstRevision)
		defer s.shutDown()
		test(bench{&endpoint{server: s, table: s.tables[pods]}, t})
	})
}

// in narrows the bench to a namespace.
func (b bench) in(namespace string) bench {
	e := *b.endpoint
	e.namespace = namespace
	b.endpoint = &e
	return b
}

// put creates or updates pods given as namespace/name, with labels behind it
// after a space (a=b,c=d) and @node.
func (b bench) put(texts ...string) {
	for _, text := range texts {
		putPod(b.server, text)
	}
}

func putPod(s *server, text string) {
	text, labels, _ := strings.Cut(text, " ")
	text, node, _ := strings.Cut(text, "@")
	namespace, name, _ := strings.Cut(text, "/")
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	p.Spec.NodeName = node
	if labels != "" {
		p.Labels = map[string]string{}
		for _, l := range strings.Split(labels, ",") {
			k, v, _ := strings.Cut(l, "=")
			p.Labels[k] = v
		}
	}
	s.mu.Lock()
	_, exists := s.tables[pods].objects.Get(text)
	s.mu.Unlock()
	if exists {
		s.update(pods, p)
	} else {
		s.create(pods, p)
	}
}

func (b bench) remove(key string) { b.server.remove(pods, key) }

// elsewhere writes to another type.
func (b bench) elsewhere(n int) { b.server.elsewhere(n) }

// list lists and returns the keys with their resource versions, and the list's
// own resource version.
func (b bench) list(o metav1.ListOptions) (string, metav1.ListInterface, error) {
	b.t.Helper()
	list, err := b.List(o)
	if err != nil {
		return "", nil, err
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		b.t.Fatal(err)
	}
	var texts []string
	for _, p := range list.(*corev1.PodList).Items {
		texts = append(texts, keyOf(&p)+"@"+p.ResourceVersion)
	}
	return strings.Join(texts, " "), m, nil
}

// wantList fails unless the list is the wanted one, at the wanted revision.
func (b bench) wantList(o metav1.ListOptions, want, revision string) metav1.ListInterface {
	b.t.Helper()
	got, m, err := b.list(o)
	if err != nil {
		b.t.Fatalf("list %s: %v", describe(o), err)
	}
	if got != want || m.GetResourceVersion() != revision {
		b.t.Errorf("list %s is [%s] as of %s, want [%s] as of %s", describe(o), got, m.GetResourceVersion(), want, revision)
	}
	return m
}

func describe(o metav1.ListOptions) string {
	return fmt.Sprintf("rv=%q match=%q limit=%d continue=%q", o.ResourceVersion, o.ResourceVersionMatch, o.Limit, o.Continue)
}

// open opens a watch that the test must end.
func (b bench) open(o metav1.ListOptions) watch.Interface {
	b.t.Helper()
	w, err := b.Watch(o)
	if err != nil {
		b.t.Fatalf("watch %s: %v", describe(o), err)
	}
	return w
}

// told returns everything that a watch says before it falls silent, and
// " closed" if it ends.
func told(w watch.Interface) string {
	var texts []string
	for {
		synctest.Wait()
		select {
		case e, open := <-w.ResultChan():
			if !open {
				return strings.Join(append(texts, "closed"), " ")
			}
			texts = append(texts, tell(e))
		default:
			return strings.Join(texts, " ")
		}
	}
}

func tell(e watch.Event) string {
	switch o := e.Object.(type) {
	case *metav1.Status:
		return fmt.Sprintf("error:%d:%s", o.Code, o.Reason)
	case *corev1.Pod:
		if e.Type == watch.Bookmark {
			end := ""
			if o.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
				end = ":end"
			}
			return "bookmark@" + o.ResourceVersion + end
		}
		return fmt.Sprintf("%s%s@%s", map[watch.EventType]string{
			watch.Added: "+", watch.Modified: "~", watch.Deleted: "-",
		}[e.Type], keyOf(o), o.ResourceVersion)
	}
	return fmt.Sprintf("%s of %T", e.Type, e.Object)
}

func yes() *bool   { v := true; return &v }
func never() *bool { v := false; return &v }

func seconds(n int64) *int64 { return &n }

// opening are the options with which a reflector asks for initial events.
func opening(revision string) metav1.ListOptions {
	return metav1.ListOptions{
		ResourceVersion: revision, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		SendInitialEvents: yes(), AllowWatchBookmarks: true,
	}
}
