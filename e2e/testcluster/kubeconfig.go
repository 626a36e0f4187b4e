package testcluster

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Config returns a client configuration for the user. Its requests are not
// limited on the client's side.
func (c *Cluster) Config(user User) (*rest.Config, error) {
	token, known := c.credentials.tokens[user]
	if !known {
		return nil, fmt.Errorf("no user %q in the test cluster: use testcluster.Admin or testcluster.Nobody", user)
	}
	return &rest.Config{
		Host:            c.URL(),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.credentials.certificate},
		QPS:             -1,
	}, nil
}

// Kubeconfig returns the path of the user's kubeconfig, which Close removes.
func (c *Cluster) Kubeconfig(user User) (string, error) {
	if _, known := c.credentials.tokens[user]; !known {
		return "", fmt.Errorf("no user %q in the test cluster: use testcluster.Admin or testcluster.Nobody", user)
	}
	return filepath.Join(c.dir, string(user)+".kubeconfig"), nil
}

// writeKubeconfigs writes one kubeconfig a user.
func (c *Cluster) writeKubeconfigs() error {
	for user, token := range c.credentials.tokens {
		config := clientcmdapi.NewConfig()
		config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthorityData: c.credentials.certificate}
		config.AuthInfos[string(user)] = &clientcmdapi.AuthInfo{Token: token}
		config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: string(user), Namespace: "default"}
		config.CurrentContext = "e2e"
		path, err := c.Kubeconfig(user)
		if err != nil {
			return err
		}
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			return fmt.Errorf("write the kubeconfig of %s: %w", user, err)
		}
	}
	return nil
}

// LastKubeconfig returns the path at which cmd/cluster leaves the admin's
// kubeconfig while it runs, so that other commands find it without a flag.
func LastKubeconfig() (string, error) {
	dir, err := CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "kubeconfig"), nil
}
