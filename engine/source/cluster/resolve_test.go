package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informeter/informeter/engine/source"
)

// found sums up a source for comparison.
type found struct{ Name, Resource, Scope, Example string }

func sum(sources []source.Source) []found {
	var all []found
	for _, s := range sources {
		example := s.Example.GetObjectKind().GroupVersionKind().String()
		switch s.Example.(type) {
		case *unstructured.Unstructured:
			example = "unstructured " + example
		case *metav1.PartialObjectMetadata:
			example = "metadata " + example
		default:
			gvks, _, err := scheme.Scheme.ObjectKinds(s.Example)
			if err != nil {
				panic(err)
			}
			example = gvks[0].String()
		}
		all = append(all, found{s.Name, s.Resource, s.Scope, example})
	}
	return all
}

func TestNamesAreThoseOfKubectl(t *testing.T) {
	pods := found{"pods", "pods", "namespace web", "/v1, Kind=Pod"}
	deployments := found{"deployments.apps", "deployments.apps", "namespace web", "apps/v1, Kind=Deployment"}
	widgets := found{"widgets.example.com", "widgets.example.com", "namespace web", "unstructured example.com/v1, Kind=Widget"}
	for _, tt := range []struct {
		args string
		want []found
	}{
		{"", []found{pods}},
		{"pods", []found{pods}},
		{"pod", []found{pods}},
		{"po", []found{pods}},
		{"Pod", []found{pods}},
		{"PODS", []found{pods}},
		{"pods.v1.", []found{pods}},
		{"pods/web-0", []found{{"pods/web-0", "pods", "namespace web", "/v1, Kind=Pod"}}},
		{"po,pods pod", []found{pods}},
		{"pods,po/web-0", []found{pods, {"pods/web-0", "pods", "namespace web", "/v1, Kind=Pod"}}},
		{"nodes", []found{{"nodes", "nodes", "cluster", "/v1, Kind=Node"}}},
		{"deployments", []found{deployments}},
		{"deployments.apps", []found{deployments}},
		{"deployment.app", []found{deployments}},
		{"Deployment", []found{deployments}},
		{"deploy", []found{deployments}},
		{"deployments.v1.apps", []found{{"deployments.v1.apps", "deployments.apps", "namespace web", "apps/v1, Kind=Deployment"}}},
		{"deploy,po", []found{deployments, pods}},
		{"ev", []found{{"events", "events", "namespace web", "/v1, Kind=Event"}}},
		{"events.events.k8s.io", []found{{"events.events.k8s.io", "events.events.k8s.io", "namespace web", "events.k8s.io/v1, Kind=Event"}}},
		{"hpa", []found{{"horizontalpodautoscalers.autoscaling", "horizontalpodautoscalers.autoscaling", "namespace web", "autoscaling/v2, Kind=HorizontalPodAutoscaler"}}},
		{"hpa,hpa.v1.autoscaling", []found{
			{"horizontalpodautoscalers.autoscaling", "horizontalpodautoscalers.autoscaling", "namespace web", "autoscaling/v2, Kind=HorizontalPodAutoscaler"},
			{"horizontalpodautoscalers.v1.autoscaling", "horizontalpodautoscalers.autoscaling", "namespace web", "autoscaling/v1, Kind=HorizontalPodAutoscaler"},
		}},
		// The server prefers a version that is newer than this program.
		{"jobs", []found{{"jobs.batch", "jobs.batch", "namespace web", "batch/v1, Kind=Job"}}},
		{"jobs.v9.batch", []found{{"jobs.v9.batch", "jobs.batch", "namespace web", "unstructured batch/v9, Kind=Job"}}},
		{"widgets", []found{widgets}},
		{"wd", []found{widgets}},
		{"widget.example.com/blue", []found{{"widgets.example.com/blue", "widgets.example.com", "namespace web", "unstructured example.com/v1, Kind=Widget"}}},
		{"widgets.other.example.com", []found{{"widgets.other.example.com", "widgets.other.example.com", "namespace web", "unstructured other.example.com/v1, Kind=Widget"}}},
		{"widgets.v1beta1.example.com", []found{{"widgets.v1beta1.example.com", "widgets.example.com", "namespace web", "unstructured example.com/v1beta1, Kind=Widget"}}},
		{"realms", []found{{"realms.example.com", "realms.example.com", "cluster", "unstructured example.com/v1, Kind=Realm"}}},
	} {
		for _, legacy := range []bool{false, true} {
			name := "aggregated discovery/"
			if legacy {
				name = "legacy discovery/"
			}
			t.Run(name+tt.args, func(t *testing.T) {
				c := openServer(t, startServer(t, &server{types: ordinary(), legacy: legacy}), Options{})
				sources, err := c.Sources(t.Context(), strings.Fields(tt.args))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, sum(sources)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestNamesThatAreNoResource(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"podz", `the server has no resource "podz"; did you mean pods?`},
		{"depolyments", `the server has no resource "depolyments"; did you mean deployments?`},
		{"widgest", `the server has no resource "widgest"; did you mean widgets?`},
		{"quux", `the server has no resource "quux"`},
		{"pods web-0", `the server has no resource "web-0" (one object is written pods/web-0)`},
		{"all", `"all" is a category, not a resource; name what you mean: pods,services,deployments.apps,widgets.example.com`},
		{"bindings", `bindings can't be watched: the server offers create`},
		{"pods.metrics.k8s.io", `pods.metrics.k8s.io can't be watched: the server offers get, list`},
		{"pods/", `resource "pods/": one object is written TYPE/NAME, as in pods/web-0`},
		{"pods/web-0/log", `resource "pods/web-0/log": one object is written TYPE/NAME, as in pods/web-0`},
		{"/web-0", `resource "/web-0": a name is missing`},
		{"pods,", `resource "pods,": a name is missing`},
		{"pods/a,b", `resource "pods/a,b": a second object is written pods/b, and another resource apart`},
		{"pods.apps", `the server has no resource "pods.apps"; did you mean pods?`},
		{"deployment.batch", `the server has no resource "deployment.batch"; did you mean deployments.apps?`},
		{"widget.apps", `the server has no resource "widget.apps"; did you mean widgets.example.com or widgets.other.example.com?`},
		{"depolyment.apps", `the server has no resource "depolyment.apps"; did you mean deployments.apps?`},
		{"quux.apps", `the server has no resource "quux.apps"`},
	} {
		t.Run(tt.args, func(t *testing.T) {
			c := openServer(t, startServer(t, &server{types: ordinary()}), Options{})
			_, err := c.Sources(t.Context(), strings.Fields(tt.args))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestOneObjectIsNotChosenByLabelsOrAcrossNamespaces(t *testing.T) {
	for _, tt := range []struct {
		arg     string
		options Options
		want    string // empty: it is fine
	}{
		{"pods/web-0", Options{}, ""},
		{"pods/web-0", Options{FieldSelector: "status.phase=Running"}, ""},
		{"pods/web-0", Options{LabelSelector: "app=web"}, "pods/web-0 is one object by its name: a label selector has nothing to choose from"},
		{"pods/web-0", Options{AllNamespaces: true}, "pods/web-0 is one object of one namespace: name that one with --namespace in place of --all-namespaces"},
		{"realms/a", Options{AllNamespaces: true}, ""},
		{"realms/a", Options{LabelSelector: "app=web"}, "realms/a is one object by its name: a label selector has nothing to choose from"},
	} {
		c := openServer(t, startServer(t, &server{types: ordinary()}), tt.options)
		_, err := c.Sources(t.Context(), []string{tt.arg})
		if got := fmt.Sprint(err); tt.want == "" && err != nil || tt.want != "" && got != tt.want {
			t.Errorf("%s with %+v: got %v, want %q", tt.arg, tt.options, err, tt.want)
		}
	}
}

func TestUnknownErrorCarriesWhatIsNear(t *testing.T) {
	c := openServer(t, startServer(t, &server{types: ordinary()}), Options{})
	_, err := c.Sources(t.Context(), []string{"widgest"})
	var unknown *UnknownError
	if !errors.As(err, &unknown) {
		t.Fatalf("got %v, want an UnknownError", err)
	}
	if diff := cmp.Diff(&UnknownError{Name: "widgest", Near: []string{"widgets"}}, unknown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCoreResourcesAskNothing(t *testing.T) {
	s := startServer(t, &server{types: ordinary()})
	c := openServer(t, s, Options{})
	if _, err := c.Sources(t.Context(), []string{"po", "svc", "nodes"}); err != nil {
		t.Fatal(err)
	}
	if asked := s.asked(); len(asked) > 0 {
		t.Errorf("the server was asked %v", asked)
	}
	if _, err := c.Sources(t.Context(), []string{"po", "deploy"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/api", "/apis"}, trimQuery(s.asked())); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func trimQuery(urls []string) []string {
	var paths []string
	for _, u := range urls {
		path, _, _ := strings.Cut(u, "?")
		paths = append(paths, path)
	}
	return paths
}

// An aggregated API server that is down must not stand in the way of the rest.
func TestGroupsThatDontAnswer(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		s := startServer(t, &server{types: ordinary(), legacy: legacy, silent: []string{"metrics.k8s.io/v1beta1", "apps/v1"}})
		c := openServer(t, s, Options{})
		sources, err := c.Sources(t.Context(), []string{"pods", "widgets", "deploy", "pods.metrics.k8s.io"})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range sources {
			names = append(names, s.Name)
		}
		want := []string{"pods", "widgets.example.com", "deployments.apps", "pods.metrics.k8s.io"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("legacy discovery %v (-want +got):\n%s", legacy, diff)
		}
		_, err = c.Sources(t.Context(), []string{"podz"})
		if err == nil || !strings.Contains(err.Error(), "no answer from apps/v1, metrics.k8s.io/v1beta1") {
			t.Errorf("got %v, want an error that says who did not answer", err)
		}
	}
}

func TestSourcesWithoutDiscovery(t *testing.T) {
	down := startServer(t, &server{})
	url := down.URL
	down.Close()
	forbidding := startServer(t, &server{types: ordinary(), forbidden: true})
	for _, tt := range []struct{ name, url string }{{"server down", url}, {"discovery forbidden", forbidding.URL}} {
		t.Run(tt.name, func(t *testing.T) {
			isolate(t)
			var said []string
			c, err := Open(flagsFor(kubeconfig(t, tt.url)), Options{Warn: func(text string) { said = append(said, text) }})
			if err != nil {
				t.Fatal(err)
			}
			sources, err := c.Sources(t.Context(), []string{"deploy", "hpa", "clusterroles", "crd", "widgets/blue"})
			if err != nil {
				t.Fatal(err)
			}
			want := []found{
				{"deployments.apps", "deployments.apps", "namespace web", "apps/v1, Kind=Deployment"},
				{"horizontalpodautoscalers.autoscaling", "horizontalpodautoscalers.autoscaling", "namespace web", "autoscaling/v2, Kind=HorizontalPodAutoscaler"},
				{"clusterroles.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io", "cluster", "rbac.authorization.k8s.io/v1, Kind=ClusterRole"},
				{"customresourcedefinitions.apiextensions.k8s.io", "customresourcedefinitions.apiextensions.k8s.io", "cluster", "unstructured apiextensions.k8s.io/v1, Kind=CustomResourceDefinition"},
				{"widgets/blue", "widgets", "namespace web", "unstructured /, Kind="},
			}
			if diff := cmp.Diff(want, sum(sources)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(said) != 1 || !strings.HasPrefix(said[0], "asking the server what it serves: ") {
				t.Errorf("warned of %q, want the reason", said)
			}
			_, err = c.Sources(t.Context(), []string{"all"})
			if err == nil || !strings.HasPrefix(err.Error(), `"all" is a category, not a resource; name what you mean: pods,replicationcontrollers,services,cronjobs.batch,`) {
				t.Errorf("got %v, want all refused with its members", err)
			}
		})
	}
}

func TestDiscoveryThatIsNotAnswered(t *testing.T) {
	c := openServer(t, startServer(t, &server{mute: true}), Options{})
	if c.patience != discoveryTimeout {
		t.Errorf("waits for %v", c.patience)
	}
	c.patience = 20 * time.Millisecond
	sources, err := c.Sources(t.Context(), []string{"deploy"})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) != 1 || sources[0].Name != "deployments.apps" {
		t.Errorf("got %v", sum(sources))
	}
}

func TestSourcesEndWithTheContext(t *testing.T) {
	c := openServer(t, startServer(t, &server{types: ordinary()}), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Sources(ctx, []string{"deploy"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestNames(t *testing.T) {
	c := openServer(t, startServer(t, &server{types: ordinary()}), Options{})
	want := []string{
		"deployments", "events", "events.events.k8s.io", "horizontalpodautoscalers", "jobs", "nodes",
		"pods", "realms", "services", "widgets", "widgets.other.example.com",
	}
	if diff := cmp.Diff(want, c.Names(t.Context())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
