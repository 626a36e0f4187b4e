package cluster

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Projection is how much of each object is fetched, and as what.
type Projection string

// Typed, which the empty Projection stands for, decodes built-in types into
// their Go types and others into unstructured objects. Unstructured decodes all
// into unstructured objects. Metadata fetches nothing but metadata.
const (
	Typed        Projection = "typed"
	Unstructured Projection = "unstructured"
	Metadata     Projection = "metadata"
)

// Options say which objects of the resources are of interest.
type Options struct {
	// Namespace, if empty, is the context's. AllNamespaces goes before it.
	Namespace     string
	AllNamespaces bool
	// LabelSelector and FieldSelector are written as kubectl takes them.
	LabelSelector, FieldSelector string
	Projection                   Projection
	// Warn is given the server's warnings, each once, and what Sources had to do
	// without, from any goroutine. Nil drops them.
	Warn func(text string)
}

// Cluster makes sources of the resources of one cluster.
type Cluster struct {
	config     *rest.Config
	client     *http.Client
	timeout    time.Duration // of a LIST; 0: none
	patience   time.Duration // for discovery
	origin     string
	namespace  string // empty: all
	labels     labels.Selector
	fields     fields.Selector
	projection Projection
	builtin    *catalog
	warn       func(string)
}

// Open reads and checks the configuration that getter finds, and the options. It
// contacts nobody. The error is ErrNotConfigured if there is no configuration.
func Open(getter genericclioptions.RESTClientGetter, o Options) (*Cluster, error) {
	c := &Cluster{projection: o.Projection, patience: discoveryTimeout, builtin: builtinCatalog(), warn: o.Warn}
	if c.warn == nil {
		c.warn = func(string) {}
	}
	switch c.projection {
	case "":
		c.projection = Typed
	case Typed, Unstructured, Metadata:
	default:
		return nil, fmt.Errorf("projection %q: use typed, unstructured or metadata", o.Projection)
	}
	var err error
	if c.labels, err = labels.Parse(o.LabelSelector); err != nil {
		return nil, fmt.Errorf("label selector %q: %w", o.LabelSelector, err)
	}
	if c.fields, err = fields.ParseSelector(o.FieldSelector); err != nil {
		return nil, fmt.Errorf("field selector %q: %w", o.FieldSelector, err)
	}
	config, raw, err := load(getter)
	if err != nil {
		return nil, err
	}
	if c.namespace, err = namespace(getter, o); err != nil {
		return nil, err
	}
	c.origin = origin(getter, raw, config)
	c.config = quiet(config, c.warn)
	// As a timeout of the HTTP client it would cut every watch.
	c.timeout, c.config.Timeout = c.config.Timeout, 0
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return nil, fmt.Errorf("preparing to connect to %s: %w", c.config.Host, err)
	}
	c.client = takingClient(client)
	return c, nil
}

func namespace(getter genericclioptions.RESTClientGetter, o Options) (string, error) {
	if o.AllNamespaces {
		return metav1.NamespaceAll, nil
	}
	ns := o.Namespace
	if ns == "" {
		var err error
		if ns, _, err = getter.ToRawKubeConfigLoader().Namespace(); err != nil {
			return "", fmt.Errorf("reading the kubeconfig: %w", err)
		}
	}
	return ns, CheckNamespace(ns)
}

// CheckNamespace returns an error if no namespace can have that name: a server
// would be asked for it in vain for ever.
func CheckNamespace(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf(`namespace %q: the name of a namespace has up to 63 lower case letters, digits and "-", and neither begins nor ends with "-"`, name)
	}
	return nil
}

// Context says whose word it is: "prod-eu/admin" for context and user.
func (c *Cluster) Context() string { return c.origin }

// Names returns the names of the resources that can be watched: the server's, or
// if it does not answer before ctx ends the built-in ones.
func (c *Cluster) Names(ctx context.Context) []string {
	served, err := c.discover(ctx)
	if err != nil {
		served = c.builtin
	}
	return served.plurals(ctx)
}

// namesLimit bounds the answer of Namespaces.
const namesLimit = 500

// Namespaces returns the names of the first 500 namespaces.
func (c *Cluster) Namespaces(ctx context.Context) ([]string, error) {
	client, err := metadata.NewForConfigAndClient(c.config, c.client)
	if err != nil {
		return nil, fmt.Errorf("listing the namespaces: %w", err)
	}
	list, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).
		List(ctx, metav1.ListOptions{Limit: namesLimit})
	if err != nil {
		return nil, fmt.Errorf("listing the namespaces: %w", err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	return names, nil
}

// scope says where the objects of a resource are looked for.
func (c *Cluster) scope(namespaced bool) string {
	var parts []string
	switch {
	case !namespaced:
		parts = append(parts, "cluster")
	case c.namespace == metav1.NamespaceAll:
		parts = append(parts, "all namespaces")
	default:
		parts = append(parts, "namespace "+c.namespace)
	}
	for _, s := range []fmt.Stringer{c.labels, c.fields} {
		if text := s.String(); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}
