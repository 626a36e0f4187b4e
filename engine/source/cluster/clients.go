package cluster

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// protobufType is the encoding in which built-in types are fetched.
const protobufType = "application/vnd.kubernetes.protobuf"

// open returns what lists and watches a target, and an example of its objects.
func (c *Cluster) open(t *target) (*metered, runtime.Object, error) {
	var lw *cache.ListWatch
	var example runtime.Object
	var err error
	received := newTraffic(t, c.warn)
	switch {
	case c.projection == Metadata:
		lw, err = c.metadataOf(t, received)
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(t.gvk)
		example = m
	case c.projection == Typed && t.typed():
		example, err = scheme.Scheme.New(t.gvk)
		if err == nil {
			lw, err = c.typed(t, example, received)
		}
	default:
		lw, err = c.dynamic(t, received)
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(t.gvk)
		example = u
	}
	if err != nil {
		return nil, nil, fmt.Errorf("preparing to watch %s: %w", t.name(), err)
	}
	return &metered{c.within(t, lw), received}, example, nil
}

// watcher opens a WATCH with client-go.
type watcher func(context.Context, metav1.ListOptions) (watch.Interface, error)

// taking returns a watcher that reads the streams which open opens by itself, as
// far as codec can.
func (w watcher) taking(codec *codec, received *traffic) cache.WatchFuncWithContext {
	return func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		var d *decoder
		answer := &taking{wants: func(h http.Header) (ok bool) {
			d, ok = codec.open(h)
			return ok
		}}
		opened, err := w(answer.with(ctx), o)
		switch {
		case err != nil:
			if answer.body != nil {
				_ = answer.body.Close()
			}
			return nil, err
		case answer.body == nil:
			return opened, nil
		}
		opened.Stop()
		return startStream(ctx, answer.body, d, received), nil
	}
}

// typed lists and watches a built-in type through a client of its group version.
func (c *Cluster) typed(t *target, example runtime.Object, received *traffic) (*cache.ListWatch, error) {
	config := rest.CopyConfig(c.config)
	gv := t.gvr.GroupVersion()
	config.GroupVersion = &gv
	config.APIPath = "/apis"
	if gv.Group == "" {
		config.APIPath = "/api"
	}
	config.ContentType = protobufType
	config.AcceptContentTypes = protobufType + ",application/json"
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion()
	client, err := rest.RESTClientForConfigAndClient(config, c.client)
	if err != nil {
		return nil, err
	}
	request := func(o metav1.ListOptions) *rest.Request {
		return client.Get().Namespace(c.namespaceOf(t)).Resource(t.gvr.Resource).VersionedParams(&o, scheme.ParameterCodec)
	}
	opened := watcher(func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.Watch = true
		return request(o).Watch(ctx)
	})
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return request(o).Do(ctx).Get()
		},
		WatchFuncWithContext: opened.taking(newCodec(config.NegotiatedSerializer, t.gvk, example), received),
	}, nil
}

func (c *Cluster) dynamic(t *target, received *traffic) (*cache.ListWatch, error) {
	client, err := dynamic.NewForConfigAndClient(c.config, c.client)
	if err != nil {
		return nil, err
	}
	r := client.Resource(t.gvr).Namespace(c.namespaceOf(t))
	codec := newCodec(dynamic.ConfigFor(c.config).NegotiatedSerializer, t.gvk, &unstructured.Unstructured{})
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return r.List(ctx, o)
		},
		WatchFuncWithContext: watcher(r.Watch).taking(codec, received),
	}, nil
}

// metadataOf lists and watches metadata that say what they are the metadata of.
//
// Unlike client-go, where they come as meta.k8s.io/v1 PartialObjectMetadata or as
// nothing, depending on the encoding, so that who reads them could not tell a
// Secret's [named metadata].
func (c *Cluster) metadataOf(t *target, received *traffic) (*cache.ListWatch, error) {
	client, err := metadata.NewForConfigAndClient(c.config, c.client)
	if err != nil {
		return nil, err
	}
	r := client.Resource(t.gvr).Namespace(c.namespaceOf(t))
	name := func(obj runtime.Object) {
		if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
			m.SetGroupVersionKind(t.gvk)
		}
	}
	wire := metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata")
	codec := newCodec(metadata.ConfigFor(c.config).NegotiatedSerializer, wire, &metav1.PartialObjectMetadata{})
	codec.finish = name
	named := watcher(r.Watch).taking(codec, received)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := r.List(ctx, o)
			if err != nil {
				return nil, err
			}
			for i := range list.Items {
				name(&list.Items[i])
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := named(ctx, o)
			if _, ours := w.(*stream); ours || err != nil {
				return w, err
			}
			return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
				name(e.Object)
				return e, true
			}), nil
		},
	}, nil
}

func (c *Cluster) namespaceOf(t *target) string {
	if !t.namespaced {
		return metav1.NamespaceNone
	}
	return c.namespace
}

// within returns lw with the selectors in every request, and the user's timeout
// in every LIST. A WATCH is meant to last.
func (c *Cluster) within(t *target, lw *cache.ListWatch) *cache.ListWatch {
	chosen := c.fields
	if t.object != "" {
		one := fields.OneTermEqualSelector(metav1.ObjectNameField, t.object)
		chosen = fields.AndSelectors(one, c.fields)
		if c.fields.Empty() {
			chosen = one
		}
	}
	selected := func(o metav1.ListOptions) metav1.ListOptions {
		o.LabelSelector, o.FieldSelector = c.labels.String(), chosen.String()
		return o
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if c.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.timeout)
				defer cancel()
			}
			return lw.ListWithContextFunc(ctx, selected(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return lw.WatchFuncWithContext(ctx, selected(o))
		},
	}
}
