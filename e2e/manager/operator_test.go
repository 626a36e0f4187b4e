package manager_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

const (
	configIndex = "spec.config"
	siteIndex   = "metadata.labels.site"
	ownerIndex  = "controlledBy"

	// What a deployment says of the site that it was made for.
	contentNote, secretsNote = "e2e.informeter.example/content", "e2e.informeter.example/secrets"
)

// operator reconciles Websites. Everything it reads comes from the caches.
type operator struct {
	client client.Client

	mu         sync.Mutex
	reconciled map[string]int // guarded by mu: how often, by controller and key
	broken     []string       // guarded by mu: what a cache may not do
}

// setUp adds the operator's two controllers and its field indices, one of each
// projection, to the manager.
func (o *operator) setUp(ctx context.Context, mgr ctrl.Manager) error {
	o.client, o.reconciled = mgr.GetClient(), map[string]int{}
	indexer := mgr.GetFieldIndexer()
	if err := indexer.IndexField(ctx, website(), configIndex, configOf); err != nil {
		return fmt.Errorf("index websites: %w", err)
	}
	if err := indexer.IndexField(ctx, secretMetadata(), siteIndex, siteOf); err != nil {
		return fmt.Errorf("index secrets: %w", err)
	}
	if err := indexer.IndexField(ctx, &appsv1.Deployment{}, ownerIndex, ownerOf); err != nil {
		return fmt.Errorf("index deployments: %w", err)
	}
	err := ctrl.NewControllerManagedBy(mgr).Named("websites").
		For(website()).
		Owns(&appsv1.Deployment{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(o.sitesWithConfig)).
		Watches(secretMetadata(), handler.EnqueueRequestsFromMapFunc(sitesOfSecret), builder.OnlyMetadata).
		Complete(o)
	if err != nil {
		return fmt.Errorf("make the controller of websites: %w", err)
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("auditor").
		For(&appsv1.Deployment{}).
		Complete(auditor{o})
	if err != nil {
		return fmt.Errorf("make the auditor: %w", err)
	}
	return nil
}

func configOf(obj client.Object) []string {
	config, _, _ := unstructured.NestedString(obj.(*unstructured.Unstructured).Object, "spec", "config")
	return []string{config}
}

func siteOf(obj client.Object) []string {
	if site := obj.GetLabels()["site"]; site != "" {
		return []string{site}
	}
	return nil
}

func ownerOf(obj client.Object) []string {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return []string{owner.Name}
	}
	return nil
}

// sitesWithConfig asks the index which sites use a config.
func (o *operator) sitesWithConfig(ctx context.Context, config client.Object) []ctrl.Request {
	sites := websiteList()
	err := o.client.List(ctx, sites, client.InNamespace(config.GetNamespace()), client.MatchingFields{configIndex: config.GetName()})
	if err != nil {
		o.complain("list the sites of %s: %v", config.GetName(), err)
	}
	var requests []ctrl.Request
	for n := range sites.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&sites.Items[n])})
	}
	return requests
}

func sitesOfSecret(_ context.Context, secret client.Object) []ctrl.Request {
	var requests []ctrl.Request
	for _, name := range siteOf(secret) {
		requests = append(requests, ctrl.Request{NamespacedName: types.NamespacedName{Namespace: secret.GetNamespace(), Name: name}})
	}
	return requests
}

// Reconcile makes a site's deployment what the site, its config and its secrets
// say, or removes it with the site.
func (o *operator) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	o.count("websites", r)
	site := website()
	if err := o.client.Get(ctx, r.NamespacedName, site); apierrors.IsNotFound(err) {
		return ctrl.Result{}, o.removeDeployments(ctx, r)
	} else if err != nil {
		return ctrl.Result{}, err
	}
	config := &corev1.ConfigMap{}
	if err := o.client.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: configOf(site)[0]}, config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) // its watch will tell
	}
	secrets := secretMetadataList()
	err := o.client.List(ctx, secrets, client.InNamespace(r.Namespace), client.MatchingFields{siteIndex: r.Name})
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, o.deploy(ctx, site, config.Data["content"], len(secrets.Items))
}

// removeDeployments asks the index for what a site that is gone has left.
func (o *operator) removeDeployments(ctx context.Context, site ctrl.Request) error {
	var left appsv1.DeploymentList
	err := o.client.List(ctx, &left, client.InNamespace(site.Namespace), client.MatchingFields{ownerIndex: site.Name})
	if err != nil {
		return err
	}
	for n := range left.Items {
		if err := o.client.Delete(ctx, &left.Items[n]); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// deploy creates or updates the deployment of a site, and looks whether the
// cache shows what was written.
func (o *operator) deploy(ctx context.Context, site *unstructured.Unstructured, content string, secrets int) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.GetNamespace(), Name: site.GetName()}}
	replicas, _, _ := unstructured.NestedInt64(site.Object, "spec", "replicas")
	result, err := controllerutil.CreateOrUpdate(ctx, o.client, deployment, func() error {
		shape(deployment, int32(replicas), content, secrets)
		return controllerutil.SetControllerReference(site, deployment, o.client.Scheme())
	})
	if err != nil || result == controllerutil.OperationResultNone {
		return err
	}
	seen := &appsv1.Deployment{}
	if err := o.client.Get(ctx, client.ObjectKeyFromObject(deployment), seen); err != nil {
		o.complain("%s %s is not in the cache: %v", result, deployment.Name, err)
		return nil
	}
	order, err := resourceversion.CompareResourceVersion(seen.ResourceVersion, deployment.ResourceVersion)
	if err != nil || order < 0 {
		o.complain("%s %s at %s, the cache has it at %s", result, deployment.Name, deployment.ResourceVersion, seen.ResourceVersion)
	}
	return nil
}

func shape(d *appsv1.Deployment, replicas int32, content string, secrets int) {
	labels := map[string]string{"site": d.Name}
	d.Annotations = map[string]string{contentNote: content, secretsNote: fmt.Sprint(secrets)}
	d.Spec.Replicas = &replicas
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	if len(d.Spec.Template.Spec.Containers) == 0 {
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "example.com/web:1"}}
	}
}

// auditor is the second controller: it only reads.
type auditor struct{ *operator }

func (a auditor) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	a.count("auditor", r)
	return ctrl.Result{}, client.IgnoreNotFound(a.client.Get(ctx, r.NamespacedName, &appsv1.Deployment{}))
}

func (o *operator) count(controller string, r ctrl.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reconciled[controller+" "+r.String()]++
}

func (o *operator) complain(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = append(o.broken, fmt.Sprintf(format, args...))
}

// complaints returns what a cache did that it may not do.
func (o *operator) complaints() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.broken)
}

// calls counts all reconciliations.
func (o *operator) calls() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, times := range o.reconciled {
		n += times
	}
	return n
}

// take returns what was reconciled since it was last asked.
func (o *operator) take() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	reconciled := o.reconciled
	o.reconciled = map[string]int{}
	return reconciled
}
