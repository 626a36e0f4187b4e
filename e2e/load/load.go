package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// clients is how many requests are under way at a time. Each client has a
// connection of its own, since one HTTP/2 connection would be shared otherwise
// and its lock becomes the limit.
const clients = 12

// Load is a population of pods on one server.
type Load struct {
	clients []kubernetes.Interface
	log     io.Writer

	// pods[i] is pod number i. While workers run, worker w alone reads and writes
	// the pods whose number is w modulo the number of workers.
	pods []*corev1.Pod

	done, failed atomic.Int64

	mu        sync.Mutex
	lastError error // guarded by mu
}

// New returns a Load for the server of config. Progress goes to log, a line a
// second.
func New(config *rest.Config, log io.Writer) (*Load, error) {
	l := &Load{log: log}
	for range clients {
		own := rest.CopyConfig(config)
		own.QPS = -1
		own.ContentType = runtime.ContentTypeProtobuf
		own.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
		// A dialer of its own keeps the transport from being shared.
		own.Dial = newDialer()
		client, err := kubernetes.NewForConfig(own)
		if err != nil {
			return nil, fmt.Errorf("make a client: %w", err)
		}
		l.clients = append(l.clients, client)
	}
	return l, nil
}

// Fill creates pods until there are count, and reports how large one is.
func (l *Load) Fill(ctx context.Context, count int) error {
	if err := l.adopt(ctx, count); err != nil {
		return err
	}
	if err := l.createNamespaces(ctx); err != nil {
		return err
	}
	if missing := l.missing(); missing > 0 {
		stop := l.progress("created", int64(count-missing), int64(count))
		err := l.workers(ctx, l.fill)
		stop()
		if err != nil {
			return err
		}
	}
	return l.describe(ctx)
}

// adopt lists the pods of earlier runs.
func (l *Load) adopt(ctx context.Context, count int) error {
	list, err := l.clients[0].CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: partOfLabel + "=" + partOfValue})
	if err != nil {
		return fmt.Errorf("list the pods of earlier runs: %w", err)
	}
	l.pods = make([]*corev1.Pod, max(count, len(list.Items)))
	for i := range list.Items {
		l.pods[i] = &list.Items[i]
	}
	if n := len(list.Items); n > 0 {
		fmt.Fprintf(l.log, "%d pods are there already\n", n)
	}
	return nil
}

// missing is how many pods are not created yet.
func (l *Load) missing() int {
	n := 0
	for _, pod := range l.pods {
		if pod == nil {
			n++
		}
	}
	return n
}

func (l *Load) createNamespaces(ctx context.Context) error {
	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("shop-%02d", i)}}
		_, err := l.clients[0].CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create the namespace %s: %w", namespace.Name, err)
		}
	}
	return nil
}

// workers runs work once a client, each with its own share of the pods, and
// returns the first error.
func (l *Load) workers(ctx context.Context, work func(ctx context.Context, client kubernetes.Interface, worker int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for w, client := range l.clients {
		group.Go(func() error { return work(ctx, client, w) })
	}
	return group.Wait()
}

// fill creates the missing pods of one worker's share.
func (l *Load) fill(ctx context.Context, client kubernetes.Interface, worker int) error {
	for i := worker; i < len(l.pods); i += clients {
		if l.pods[i] != nil {
			continue
		}
		if err := l.create(ctx, client, i); err != nil {
			return err
		}
		l.done.Add(1)
	}
	return nil
}

// Churn changes pods at perSecond changes a second until ctx ends.
func (l *Load) Churn(ctx context.Context, perSecond float64) error {
	if len(l.pods) == 0 {
		return errors.New("there are no pods to change: fill first")
	}
	// A burst of a tenth of a second hides that a request takes a while.
	limit := rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond/10)))
	stop := l.progress("changed", 0, 0)
	defer stop()
	return l.workers(ctx, func(ctx context.Context, client kubernetes.Interface, worker int) error {
		for limit.Wait(ctx) == nil {
			l.count(l.change(ctx, client, worker, limit))
		}
		return nil
	})
}

// change makes one change, or two, to a random pod of the worker's share.
func (l *Load) change(ctx context.Context, client kubernetes.Interface, worker int, limit *rate.Limiter) error {
	share := (len(l.pods) - worker + clients - 1) / clients
	if share <= 0 {
		return nil
	}
	i := worker + clients*rand.IntN(share)
	if rand.IntN(9) > 0 { // one in nine makes two changes, so two changes in ten
		return l.report(ctx, client, i, rand.IntN(4) > 0)
	}
	if err := l.remove(ctx, client, i); err != nil {
		return err
	}
	l.done.Add(1)
	// The pod is missing now: see it through also when the rate is low, or the
	// population would shrink at the end.
	if err := limit.Wait(ctx); err != nil {
		ctx = context.WithoutCancel(ctx)
	}
	return l.create(ctx, client, i)
}

// create makes pod number i and reports it running.
func (l *Load) create(ctx context.Context, client kubernetes.Interface, i int) error {
	pod := newPod(i)
	created, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{FieldManager: controllerManager})
	if err != nil {
		return fmt.Errorf("create the pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	l.pods[i] = created
	return l.report(ctx, client, i, true)
}

// report writes the status of pod number i as its kubelet would.
func (l *Load) report(ctx context.Context, client kubernetes.Interface, i int, ready bool) error {
	pod := l.pods[i].DeepCopy()
	pod.Status = status(pod, ready, time.Now())
	updated, err := client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: kubeletManager})
	if err != nil {
		return fmt.Errorf("report the status of %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	l.pods[i] = updated
	return nil
}

// remove deletes pod number i at once: there is no kubelet that could confirm
// its end.
func (l *Load) remove(ctx context.Context, client kubernetes.Interface, i int) error {
	pod := l.pods[i]
	now := int64(0)
	err := client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
