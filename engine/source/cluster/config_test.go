package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestConfigured(t *testing.T) {
	there := kubeconfig(t, "https://10.0.0.1")
	missing := filepath.Join(t.TempDir(), "missing")
	for _, tt := range []struct {
		name  string
		setup func(t *testing.T, f *genericclioptions.ConfigFlags)
		want  bool
		err   string
	}{
		{name: "nothing"},
		{name: "only a namespace", setup: func(_ *testing.T, f *genericclioptions.ConfigFlags) { *f.Namespace = "web" }},
		{name: "a server", want: true, setup: func(_ *testing.T, f *genericclioptions.ConfigFlags) { *f.APIServer = "https://10.0.0.1" }},
		{name: "a context", want: true, setup: func(_ *testing.T, f *genericclioptions.ConfigFlags) { *f.Context = "prod" }},
		{name: "a group to impersonate", want: true, setup: func(_ *testing.T, f *genericclioptions.ConfigFlags) { *f.ImpersonateGroup = []string{"ops"} }},
		{name: "--insecure-skip-tls-verify", want: true, setup: func(_ *testing.T, f *genericclioptions.ConfigFlags) { *f.Insecure = true }},
		{name: "--kubeconfig", want: true, setup: func(_ *testing.T, f *genericclioptions.ConfigFlags) { *f.KubeConfig = there }},
		{
			name: "--kubeconfig that is missing", want: true, err: "--kubeconfig: reading the kubeconfig: open " + missing + ": no such file",
			setup: func(_ *testing.T, f *genericclioptions.ConfigFlags) { *f.KubeConfig = missing },
		},
		{name: "KUBECONFIG", want: true, setup: func(t *testing.T, _ *genericclioptions.ConfigFlags) { t.Setenv("KUBECONFIG", there) }},
		{
			name: "KUBECONFIG that is missing", want: true, err: "KUBECONFIG names " + missing + ", which does not exist: correct it, or unset it to use ",
			setup: func(t *testing.T, _ *genericclioptions.ConfigFlags) { t.Setenv("KUBECONFIG", missing) },
		},
		{name: "KUBECONFIG of which some are missing", want: true, setup: func(t *testing.T, _ *genericclioptions.ConfigFlags) {
			t.Setenv("KUBECONFIG", missing+string(os.PathListSeparator)+there)
		}},
		{
			name: "KUBECONFIG of which all are missing", want: true, err: "KUBECONFIG names " + missing + "1 and " + missing + "2, which",
			setup: func(t *testing.T, _ *genericclioptions.ConfigFlags) {
				t.Setenv("KUBECONFIG", missing+"1"+string(os.PathListSeparator)+missing+"2")
			},
		},
		{name: "KUBERNETES_MASTER", want: true, setup: func(t *testing.T, _ *genericclioptions.ConfigFlags) {
			t.Setenv("KUBERNETES_MASTER", "http://10.0.0.1")
		}},
		{name: "a default file", want: true, setup: func(t *testing.T, _ *genericclioptions.ConfigFlags) {
			clientcmd.RecommendedHomeFile = there // isolate puts it back
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			isolate(t)
			flags := genericclioptions.NewConfigFlags(true)
			if tt.setup != nil {
				tt.setup(t, flags)
			}
			got, err := Configured(flags)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("got %v, %v; want %v, %q", got, err, tt.want, tt.err)
			}
			if _, openErr := Open(flags, Options{}); !got && !errors.Is(openErr, ErrNotConfigured) || err != nil && openErr == nil {
				t.Errorf("Open: %v", openErr)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	there := kubeconfig(t, "https://10.0.0.1")
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	broken := write("contexts: [}")
	empty := write("")
	undecided := write(`{contexts: [{name: a, context: {cluster: c}}, {name: b, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "https://c"}}]}`)
	lost := write(`{current-context: gone, contexts: [{name: a, context: {cluster: c}}]}`)
	nowhere := write(`{current-context: a, contexts: [{name: a, context: {cluster: c}}, {name: b, context: {cluster: e}}], clusters: [{name: d, cluster: {server: "https://d"}}, {name: e, cluster: {}}]}`)
	spaced := write(`{current-context: a, contexts: [{name: a, context: {cluster: c, namespace: Web}}], clusters: [{name: c, cluster: {server: "https://c"}}]}`)
	for _, tt := range []struct {
		name    string
		file    string
		context string
		options Options
		want    string
	}{
		{name: "a broken file", file: broken, want: "reading the kubeconfig: " + broken + " is not one: line 1: "},
		{name: "an empty file", file: empty, want: "the kubeconfig has no contexts: name another with --kubeconfig, or a server with --server"},
		{name: "no current context", file: undecided, want: "the kubeconfig has no current context: choose one with --context (a, b)"},
		{name: "an unknown context", file: there, context: "quux", want: `the kubeconfig has no context "quux"; it has prod, test`},
		{name: "a mistyped context", file: there, context: "prdo", want: `the kubeconfig has no context "prdo"; did you mean prod?`},
		{name: "a current context that is gone", file: lost, want: `the kubeconfig has no current context "gone"; it has a`},
		{name: "a context without its cluster", file: nowhere, want: `the kubeconfig has no cluster "c" of the context "a"; it has d, e`},
		{name: "a cluster without a server", file: nowhere, context: "b", want: `the kubeconfig says no server for the cluster "e" of the context "b": name one with --server`},
		{name: "a label selector", file: there, options: Options{LabelSelector: "a in"}, want: `label selector "a in": `},
		{name: "a field selector", file: there, options: Options{FieldSelector: "a"}, want: `field selector "a": `},
		{name: "a namespace", file: there, options: Options{Namespace: "bad/ns"}, want: `namespace "bad/ns": the name of a namespace has up to 63`},
		{name: "the namespace of a context", file: spaced, want: `namespace "Web": the name of a namespace has up to 63`},
		{name: "a projection", file: there, options: Options{Projection: "full"}, want: `projection "full": use typed, unstructured or metadata`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			isolate(t)
			flags := flagsFor(tt.file)
			flags.Context = &tt.context
			_, err := Open(flags, tt.options)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	there := kubeconfig(t, "https://10.0.0.1:6443")
	for _, tt := range []struct {
		name string
		set  func(*genericclioptions.ConfigFlags)
		want string
	}{
		{"the current context", func(*genericclioptions.ConfigFlags) {}, "test/admin"},
		{"another context", func(f *genericclioptions.ConfigFlags) { *f.Context = "prod" }, "prod/admin"},
		{"impersonation", func(f *genericclioptions.ConfigFlags) { *f.Impersonate = "jane" }, "test/admin as jane"},
		{"another user", func(f *genericclioptions.ConfigFlags) { *f.AuthInfoName = "admin"; *f.Context = "prod" }, "prod/admin"},
		{"a server in place of the context's", func(f *genericclioptions.ConfigFlags) { *f.APIServer = "https://10.0.0.3" }, "10.0.0.3/admin"},
		{"a cluster in place of the context's", func(f *genericclioptions.ConfigFlags) { *f.ClusterName = "here" }, "here/admin"},
		{"only a server", func(f *genericclioptions.ConfigFlags) {
			*f.KubeConfig, *f.APIServer = "", "https://10.0.0.2:6443"
		}, "10.0.0.2:6443"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			isolate(t)
			flags := flagsFor(there)
			tt.set(flags)
			c, err := Open(flags, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Context(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestScope(t *testing.T) {
	for _, tt := range []struct {
		options    Options
		namespaced bool
		want       string
	}{
		{Options{}, true, "namespace web"},
		{Options{Namespace: "kube-system"}, true, "namespace kube-system"},
		{Options{Namespace: "kube-system", AllNamespaces: true}, true, "all namespaces"},
		{Options{AllNamespaces: true}, false, "cluster"},
		{Options{LabelSelector: "app=web", FieldSelector: "status.phase=Running"}, true, "namespace web, app=web, status.phase=Running"},
	} {
		isolate(t)
		c, err := Open(flagsFor(kubeconfig(t, "https://10.0.0.1")), tt.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.scope(tt.namespaced); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.options, got, tt.want)
		}
	}
}

func TestQuietConfig(t *testing.T) {
	var said []string
	given := &rest.Config{QPS: 5, ExecProvider: &clientcmdapi.ExecConfig{Command: "login"}}
	config := quiet(given, func(text string) { said = append(said, text) })
	if !config.ExecProvider.StdinUnavailable || config.QPS != -1 {
		t.Errorf("got %+v, %+v", config, config.ExecProvider)
	}
	if given.ExecProvider.StdinUnavailable {
		t.Error("the configuration given was changed")
	}
	for range 3 {
		config.WarningHandler.HandleWarningHeader(299, "", "v1 Endpoints is deprecated")
	}
	config.WarningHandler.HandleWarningHeader(299, "", "")
	config.WarningHandler.HandleWarningHeader(199, "", "a cache says")
	if len(said) != 1 || said[0] != "v1 Endpoints is deprecated" {
		t.Errorf("warned of %q, want one warning", said)
	}
}
