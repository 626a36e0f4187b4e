package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"
)

// servedType is a type that a test's server serves, with all verbs unless some
// are given.
type servedType struct {
	group, version, plural, kind string
	namespaced                   bool
	short, categories            []string
	verbs                        []string
}

func (s servedType) groupVersion() string {
	return strings.TrimPrefix(s.group+"/"+s.version, "/")
}

// ordinary is what the servers of the tests serve: built-in types, custom ones,
// and ones that can't be watched.
func ordinary() []servedType {
	all := []string{"all"}
	return []servedType{
		{group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, short: []string{"po"}, categories: all},
		{group: "", version: "v1", plural: "services", kind: "Service", namespaced: true, short: []string{"svc"}, categories: all},
		{group: "", version: "v1", plural: "nodes", kind: "Node", short: []string{"no"}},
		{group: "", version: "v1", plural: "events", kind: "Event", namespaced: true, short: []string{"ev"}},
		{group: "", version: "v1", plural: "bindings", kind: "Binding", namespaced: true, verbs: []string{"create"}},
		{group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true, short: []string{"deploy"}, categories: all},
		{group: "events.k8s.io", version: "v1", plural: "events", kind: "Event", namespaced: true, short: []string{"ev"}},
		{group: "autoscaling", version: "v2", plural: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler", namespaced: true, short: []string{"hpa"}},
		{group: "autoscaling", version: "v1", plural: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler", namespaced: true, short: []string{"hpa"}},
		{group: "batch", version: "v9", plural: "jobs", kind: "Job", namespaced: true},
		{group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true},
		{group: "example.com", version: "v1", plural: "widgets", kind: "Widget", namespaced: true, short: []string{"wd", "deploy"}, categories: all},
		{group: "example.com", version: "v1beta1", plural: "widgets", kind: "Widget", namespaced: true, short: []string{"wd", "deploy"}},
		{group: "example.com", version: "v1", plural: "realms", kind: "Realm"},
		{group: "other.example.com", version: "v1", plural: "widgets", kind: "Widget", namespaced: true},
		{group: "metrics.k8s.io", version: "v1beta1", plural: "pods", kind: "PodMetrics", namespaced: true, verbs: []string{"get", "list"}},
	}
}

// server is an API server of the tests.
type server struct {
	*httptest.Server
	types []servedType
	// legacy: discovery without aggregation, one request a group version.
	legacy bool
	// silent are the group versions that don't say what is in them.
	silent []string
	// forbidden: discovery is not allowed. mute: it is not answered.
	forbidden, mute bool
	// objects answers everything but discovery.
	objects http.HandlerFunc

	mu       sync.Mutex
	requests []string // method, path and query; guarded by mu
}

// startServer starts s, which ends with the test.
func startServer(t *testing.T, s *server) *server {
	t.Helper()
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.String())
	forbidden, types, silent := s.forbidden, s.types, s.silent
	s.mu.Unlock()
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	discovering := len(segments) == 1 || len(segments) == 2 && segments[0] == "api" || len(segments) == 3 && segments[0] == "apis"
	switch {
	case !discovering:
		s.objects(w, r)
	case s.mute:
		<-r.Context().Done()
	case forbidden:
		refuse(w, http.StatusForbidden, "Forbidden", "you may not look")
	case len(segments) > 1:
		gv := strings.Join(segments[1:], "/")
		if slices.Contains(silent, gv) {
			refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable", "the aggregated server is down")
			return
		}
		answer(w, legacyResources(types, gv))
	case !s.legacy && strings.Contains(r.Header.Get("Accept"), "APIGroupDiscoveryList"):
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		answer(w, aggregated(types, silent, segments[0] == "api"))
	case segments[0] == "api":
		answer(w, metav1.APIVersions{Versions: []string{"v1"}})
	default:
		answer(w, legacyGroups(types))
	}
}

func answer(w http.ResponseWriter, v any) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

func refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	answer(w, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	})
}

func apiResource(s servedType) metav1.APIResource {
	verbs := s.verbs
	if verbs == nil {
		verbs = []string{"create", "delete", "get", "list", "update", "watch"}
	}
	return metav1.APIResource{
		Name: s.plural, SingularName: strings.ToLower(s.kind), Kind: s.kind, Namespaced: s.namespaced,
		ShortNames: s.short, Categories: s.categories, Verbs: verbs,
	}
}

func legacyResources(types []servedType, gv string) metav1.APIResourceList {
	list := metav1.APIResourceList{GroupVersion: gv}
	for _, s := range types {
		if s.groupVersion() == gv {
			list.APIResources = append(list.APIResources, apiResource(s))
		}
	}
	return list
}

func legacyGroups(types []servedType) metav1.APIGroupList {
	var list metav1.APIGroupList
	for _, s := range types {
		if s.group == "" {
			continue
		}
		v := metav1.GroupVersionForDiscovery{GroupVersion: s.groupVersion(), Version: s.version}
		i := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == s.group })
		if i < 0 {
			list.Groups = append(list.Groups, metav1.APIGroup{Name: s.group, PreferredVersion: v})
			i = len(list.Groups) - 1
		}
		if !slices.Contains(list.Groups[i].Versions, v) {
			list.Groups[i].Versions = append(list.Groups[i].Versions, v)
		}
	}
	return list
}

func aggregated(types []servedType, silent []string, core bool) apidiscoveryv2.APIGroupDiscoveryList {
	var list apidiscoveryv2.APIGroupDiscoveryList
	for _, s := range types {
		if (s.group == "") != core {
			continue
		}
		if n := len(list.Items); n == 0 || list.Items[n-1].Name != s.group {
			list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: s.group}})
		}
		group := &list.Items[len(list.Items)-1]
		i := slices.IndexFunc(group.Versions, func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == s.version })
		if i < 0 {
			group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{Version: s.version})
			i = len(group.Versions) - 1
		}
		version := &group.Versions[i]
		if slices.Contains(silent, s.groupVersion()) {
			version.Freshness = apidiscoveryv2.DiscoveryFreshnessStale
			continue
		}
		scope := apidiscoveryv2.ScopeCluster
		if s.namespaced {
			scope = apidiscoveryv2.ScopeNamespace
		}
		r := apiResource(s)
		version.Resources = append(version.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: r.Name, SingularResource: r.SingularName, Scope: scope, ShortNames: r.ShortNames,
			Categories: r.Categories, Verbs: r.Verbs,
			ResponseKind: &metav1.GroupVersionKind{Group: s.group, Version: s.version, Kind: s.kind},
		})
	}
	return list
}

// kubeconfig writes a kubeconfig for the server at url and returns its name. It
// has the contexts test and prod; test is current, with the namespace web.
func kubeconfig(t testing.TB, url string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters:
- {name: here, cluster: {server: %q}}
users:
- {name: admin, user: {token: secret}}
contexts:
- {name: test, context: {cluster: here, user: admin, namespace: web}}
- {name: prod, context: {cluster: here, user: admin}}
`, url)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// isolate takes the kubeconfig of whoever runs the tests out of sight.
func isolate(t *testing.T) {
	t.Helper()
	for _, name := range []string{"KUBECONFIG", "KUBERNETES_MASTER", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
		t.Setenv(name, "")
	}
	was := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(t.TempDir(), "default")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = was })
}

// flagsFor returns the flags of somebody who names a kubeconfig.
func flagsFor(file string) *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &file
	return flags
}

func openServer(t *testing.T, s *server, o Options) *Cluster {
	t.Helper()
	isolate(t)
	c, err := Open(flagsFor(kubeconfig(t, s.URL)), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
