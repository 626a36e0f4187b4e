package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	// Clusters of cloud providers and single sign-on need these to log in.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

// serviceAccountToken is where a pod finds its credentials.
const serviceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// Configured says whether anything names a cluster: a flag, KUBECONFIG, the
// default file, or a pod's environment. An error says that something does, and
// that it can't be read. client-go can't be asked: without any configuration it
// answers localhost:8080.
func Configured(flags *genericclioptions.ConfigFlags) (bool, error) {
	if file := value(flags.KubeConfig); file != "" {
		if err := readable(file); err != nil {
			return true, fmt.Errorf("--kubeconfig: %w", err)
		}
		return true, nil
	}
	named := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	if named != "" {
		if err := checkFiles(named); err != nil {
			return true, err
		}
		return true, nil
	}
	if connectionFlag(flags) || os.Getenv("KUBERNETES_MASTER") != "" || inCluster() {
		return true, nil
	}
	// Anything but absence is for Open to report.
	_, err := os.Stat(clientcmd.RecommendedHomeFile)
	return !errors.Is(err, fs.ErrNotExist), nil
}

// connectionFlag says whether a flag says how to connect. The namespace doesn't.
func connectionFlag(f *genericclioptions.ConfigFlags) bool {
	for _, s := range []*string{
		f.APIServer, f.Context, f.ClusterName, f.AuthInfoName, f.BearerToken, f.CertFile, f.KeyFile,
		f.CAFile, f.TLSServerName, f.ProxyURL, f.Impersonate, f.ImpersonateUID, f.Username, f.Password,
	} {
		if value(s) != "" {
			return true
		}
	}
	return value(f.Insecure) || len(value(f.ImpersonateGroup)) > 0 || len(value(f.ImpersonateUserExtra)) > 0
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func inCluster() bool {
	_, err := os.Stat(serviceAccountToken)
	return err == nil && os.Getenv("KUBERNETES_SERVICE_HOST") != "" && os.Getenv("KUBERNETES_SERVICE_PORT") != ""
}

// checkFiles returns an error if none of the files that KUBECONFIG names is
// there. Like kubectl it lets some of several be missing.
func checkFiles(list string) error {
	var missing []string
	for _, file := range strings.Split(list, string(os.PathListSeparator)) {
		if file == "" {
			continue
		}
		if err := readable(file); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, file)
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("KUBECONFIG names %s, which does not exist: correct it, or unset it to use %s",
		strings.Join(missing, " and "), clientcmd.RecommendedHomeFile)
}

func readable(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return f.Close()
}

// load reads and checks the configuration.
func load(getter genericclioptions.RESTClientGetter) (*rest.Config, clientcmdapi.Config, error) {
	flags, _ := getter.(*genericclioptions.ConfigFlags)
	if flags != nil {
		configured, err := Configured(flags)
		if err != nil {
			return nil, clientcmdapi.Config{}, err
		}
		if !configured {
			return nil, clientcmdapi.Config{}, ErrNotConfigured
		}
	}
	loader := getter.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, raw, fmt.Errorf("reading the kubeconfig: %w; correct it, or name another with --kubeconfig",
			notKubeconfig(loader.ConfigAccess(), err))
	}
	if flags != nil {
		if err := cmp.Or(checkServer(flags, raw), checkTimeout(flags)); err != nil {
			return nil, raw, err
		}
	}
	config, err := getter.ToRESTConfig()
	if err != nil {
		return nil, raw, fmt.Errorf("preparing to connect: %s", strings.TrimPrefix(err.Error(), "invalid configuration: "))
	}
	return config, raw, checkAddress(config.Host)
}

// checkTimeout returns an error if --request-timeout says no time; client-go
// would blame the kubeconfig.
func checkTimeout(flags *genericclioptions.ConfigFlags) error {
	text := value(flags.Timeout)
	if d, err := clientcmd.ParseTimeout(text); text != "" && (err != nil || d < 0) {
		return fmt.Errorf("--request-timeout %q: give seconds, or a number with a unit as in 30s or 2m", text)
	}
	return nil
}

// checkAddress returns an error if no server can have that address: it would be
// tried again and again.
func checkAddress(host string) error {
	address, _, err := rest.DefaultServerURL(host, "", schema.GroupVersion{}, true)
	if broken := (*url.Error)(nil); errors.As(err, &broken) {
		err = broken.Err // without the address, which has been changed
	}
	switch {
	case err != nil:
		return fmt.Errorf("server %q: %w", host, err)
	case address.Scheme != "https" && address.Scheme != "http":
		return fmt.Errorf("server %q: its address begins with https:// or http://", host)
	case address.Hostname() == "":
		return fmt.Errorf("server %q: its address names no host", host)
	}
	if port := address.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("server %q: its port is none", host)
		}
	}
	return nil
}

// checkServer returns an error if flags and kubeconfig lead to no server.
// Unlike client-go, which goes on with localhost:8080 where a context is not
// chosen, or its cluster is not there [no server].
func checkServer(flags *genericclioptions.ConfigFlags, raw clientcmdapi.Config) error {
	name, err := contextName(flags, raw)
	if err != nil || value(flags.APIServer) != "" || os.Getenv("KUBERNETES_MASTER") != "" {
		return err
	}
	cluster, whose := value(flags.ClusterName), ""
	if c := raw.Contexts[name]; c != nil && cluster == "" {
		cluster, whose = c.Cluster, fmt.Sprintf(" of the context %q", name)
	}
	switch {
	case name == "" && cluster == "" && inCluster():
		return nil
	case name == "" && cluster == "" && len(raw.Contexts) == 0:
		return errors.New("the kubeconfig has no contexts: name another with --kubeconfig, or a server with --server")
	case name == "" && cluster == "":
		return fmt.Errorf("the kubeconfig has no current context: choose one with --context (%s)", keys(raw.Contexts))
	case raw.Clusters[cluster] == nil:
		return fmt.Errorf("the kubeconfig has no cluster %q%s%s", cluster, whose, instead(cluster, raw.Clusters))
	case raw.Clusters[cluster].Server == "":
		return fmt.Errorf("the kubeconfig says no server for the cluster %q%s: name one with --server", cluster, whose)
	}
	return nil
}

// contextName returns the context chosen, empty if none is, or an error if it is
// not there.
func contextName(flags *genericclioptions.ConfigFlags, raw clientcmdapi.Config) (string, error) {
	name, what := value(flags.Context), "context"
	if name == "" {
		name, what = raw.CurrentContext, "current context"
	}
	if name != "" && raw.Contexts[name] == nil {
		return "", fmt.Errorf("the kubeconfig has no %s %q%s", what, name, instead(name, raw.Contexts))
	}
	return name, nil
}

// instead says what there is in place of a name that is not.
func instead[V any](name string, there map[string]V) string {
	if near := Near(name, slices.Collect(maps.Keys(there))); len(near) > 0 {
		return "; did you mean " + Alternatives(near) + "?"
	}
	if len(there) == 0 || len(there) > 10 {
		return ""
	}
	return "; it has " + keys(there)
}

func keys[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// origin says whose word it is: context and user, or where flags or the lack of
// a context lead elsewhere the cluster or the server in place of the context.
func origin(getter genericclioptions.RESTClientGetter, raw clientcmdapi.Config, config *rest.Config) string {
	flags, _ := getter.(*genericclioptions.ConfigFlags)
	if flags == nil {
		flags = &genericclioptions.ConfigFlags{}
	}
	host := strings.TrimPrefix(strings.TrimPrefix(config.Host, "https://"), "http://")
	name := cmp.Or(value(flags.Context), raw.CurrentContext)
	user := value(flags.AuthInfoName)
	if c := raw.Contexts[name]; c != nil && user == "" {
		user = c.AuthInfo
	}
	switch {
	case value(flags.APIServer) != "":
		name = host
	case value(flags.ClusterName) != "":
		name = *flags.ClusterName
	case name == "" && config.BearerTokenFile == serviceAccountToken:
		name = "in cluster"
	case name == "":
		name = host
	}
	if user != "" {
		name += "/" + user
	}
	if config.Impersonate.UserName != "" {
		name += " as " + config.Impersonate.UserName
	}
	return name
}

// quiet returns a copy of config for a program that owns the screen: warnings go
// to warn, credential plugins get no standard input, and the client does not
// hold requests back.
func quiet(config *rest.Config, warn func(string)) *rest.Config {
	config = rest.CopyConfig(config)
	config.WarningHandlerWithContext = nil
	config.WarningHandler = &warner{warn: warn, said: map[string]bool{}}
	// A handful of informers is no load. A limiter here would only hide the time
	// that requests wait.
	config.QPS = -1
	config.RateLimiter = nil
	if config.ExecProvider != nil {
		config.ExecProvider = config.ExecProvider.DeepCopy()
		config.ExecProvider.StdinUnavailable = true
		config.ExecProvider.StdinUnavailableMessage = "informeter reads the keyboard; log in with the plugin first"
	}
	return config
}

// warner passes each of the server's warnings on once: the server repeats them
// with every request.
type warner struct {
	warn func(string)
	mu   sync.Mutex
	said map[string]bool // guarded by mu
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warner) HandleWarningHeader(code int, _, text string) {
	// 299 is the only code that Kubernetes uses.
	if code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	again := w.said[text]
	w.said[text] = true
	w.mu.Unlock()
	if !again {
		w.warn(text)
	}
}
