package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// What the two queues make different for handlers, as the package's documentation
// says: client-go's informer has an InOrder's place.

// byQueue runs a script on each kind of informer, and compares what a handler was
// told after prepare with what is wanted of its queue.
func byQueue(t *testing.T, s func() *script, test func(s *script, i cache.SharedIndexInformer), inOrder, deltaFIFO []string) {
	t.Helper()
	kinds := []struct {
		name  string
		want  []string
		build func(s *script) cache.SharedIndexInformer
	}{
		{"client-go", inOrder, func(s *script) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(s, &corev1.Pod{}, 0, nil)
		}},
		{"InOrder", inOrder, func(s *script) cache.SharedIndexInformer {
			return New(s, &corev1.Pod{}, Options{Queue: InOrder})
		}},
		{"DeltaFIFO", deltaFIFO, func(s *script) cache.SharedIndexInformer {
			return New(s, &corev1.Pod{}, Options{})
		}},
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, h := s(), &recorder{}
				i := kind.build(s)
				must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(h))
				stop := run(i)
				synctest.Wait()
				h.all()
				test(s, i)
				synctest.Wait()
				if got := h.all(); !slices.Equal(got, kind.want) {
					t.Errorf("the handler was told %q, want %q", got, kind.want)
				}
				stop()
			})
		})
	}
}

func TestARelistsDeletionsComeFirstWhereEveryEventIsKept(t *testing.T) {
	byQueue(t,
		func() *script { return &script{lists: []string{"10: a@1 b@2", "20: a@11 c@12"}} },
		func(s *script, _ cache.SharedIndexInformer) {
			s.send("E410")
			time.Sleep(5 * time.Second)
		},
		[]string{"delete [b@2]", "update a@1 to a@11", "add c@12"},
		[]string{"update a@1 to a@11", "add c@12", "delete [b@2]"},
	)
}

func TestADeltaFIFOKeepsTheDeletionOfWhatTheProgramDeletedToItself(t *testing.T) {
	byQueue(t,
		func() *script { return &script{lists: []string{"10: a@1 b@2"}} },
		func(s *script, i cache.SharedIndexInformer) {
			if err := i.GetStore().Delete(parsePod("b@2")); err != nil {
				panic(err) // the test's own pod has a key
			}
			s.send("-b@11", "-a@12")
		},
		[]string{"delete b@11", "delete a@12"},
		[]string{"delete a@12"},
	)
}
