package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// flood is a server that has pods which change all the time.
type flood struct {
	ctx  context.Context // ends every stream
	keys int
	rate int // changes a second; 0 is as fast as they are taken
}

// IsWatchListSemanticsUnSupported says that it answers lists.
func (flood) IsWatchListSemanticsUnSupported() bool { return true }

func (f flood) pod(k, rv int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("shop-%02d", k%20), Name: fmt.Sprintf("pod-%06d", k),
			UID: "6f2b1c7e-0000-4000-8000-000000000000", ResourceVersion: strconv.Itoa(rv),
			CreationTimestamp: metav1.NewTime(time.Now()),
			Labels:            map[string]string{"app": fmt.Sprintf("app-%d", k%100)},
			ManagedFields:     []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate}},
		},
		Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%03d", k%500)},
	}
}

// List returns every pod.
func (f flood) List(metav1.ListOptions) (runtime.Object, error) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(f.keys)}}
	for k := range f.keys {
		list.Items = append(list.Items, *f.pod(k, k+1))
	}
	return list, nil
}

// Watch lets one pod after the other change.
func (f flood) Watch(metav1.ListOptions) (watch.Interface, error) {
	out := make(chan watch.Event)
	w := watch.NewProxyWatcher(out)
	go func() {
		defer close(out)
		began, sent := time.Now(), 0
		for rv := f.keys + 1; ; rv++ {
			if f.rate > 0 {
				due := began.Add(time.Duration(sent) * time.Second / time.Duration(f.rate))
				if early := time.Until(due); early > time.Millisecond { // else several at once
					time.Sleep(early)
				}
			}
			k := rv * 7919 % f.keys // neighbours in time are not neighbours in order
			select {
			case out <- watch.Event{Type: watch.Modified, Object: f.pod(k, rv)}:
				sent++
			case <-w.StopChan():
				return
			case <-f.ctx.Done():
				return
			}
		}
	}()
	return w, nil
}
