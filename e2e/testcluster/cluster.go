package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// readyWithin is how long a server may take from its start to its first good
// answer. A busy machine with two cores needs about ten seconds.
const readyWithin = 90 * time.Second

// Options say how to run a cluster. The zero value is right for tests.
type Options struct {
	// Log receives a line when something takes long, such as compiling the
	// servers. Nil is os.Stderr.
	Log io.Writer
}

// Cluster is one etcd and one kube-apiserver. Its methods may be called from any
// goroutine.
type Cluster struct {
	dir         string
	port        int
	binaries    binaries
	credentials *credentials

	// mu guards the processes; nil is one that does not run.
	mu              sync.Mutex
	etcd, apiServer *process
}

// Start builds the servers if need be, runs them and waits until they answer.
// ctx bounds only Start; the cluster runs until Close.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	log := options.Log
	if log == nil {
		log = os.Stderr
	}
	binaries, err := build(ctx, log)
	if err != nil {
		return nil, err
	}
	// The name says whose it is: the process that will remove it, or has died.
	dir, err := os.MkdirTemp("", fmt.Sprintf("informeter-e2e-pid%d-", os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("make a folder for the cluster: %w", err)
	}
	c := &Cluster{dir: dir, binaries: binaries}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	if c.credentials, err = newCredentials(c.dir); err != nil {
		return err
	}
	if err := c.startEtcd(); err != nil {
		return err
	}
	const attempts = 3 // the free port can be taken before the server has it
	for attempt := range attempts {
		if c.port, err = freePort(); err != nil {
			return err
		}
		err = c.StartAPIServer(ctx)
		taken := err != nil && strings.Contains(err.Error(), "address already in use")
		if !taken || attempt == attempts-1 {
			break
		}
	}
	if err != nil {
		return err
	}
	return c.writeKubeconfigs()
}

// startEtcd runs etcd on a socket in the cluster's folder: no port to collide
// with, and nobody else may open it. Writes are not synced to the disk, since
// the data does not outlive the cluster.
func (c *Cluster) startEtcd() error {
	const client, peer = "unix://etcd.sock", "unix://peer.sock"
	etcd, err := startProcess(c.dir, "etcd", c.binaries.etcd,
		"--name=e2e",
		"--data-dir="+filepath.Join(c.dir, "data"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--initial-cluster=e2e="+peer,
		"--unsafe-no-fsync",
		"--quota-backend-bytes=8589934592",
		"--log-level=warn",
	)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.etcd = etcd
	return nil
}

// StartAPIServer starts a stopped API server, on the same port and data, and
// waits until it answers.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.etcd == nil:
		return errors.New("start the API server: the cluster is closed")
	case c.apiServer != nil && c.apiServer.running():
		return errors.New("start the API server: it runs already")
	}
	server, err := startProcess(c.dir, "kube-apiserver", c.binaries.apiServer, c.apiServerFlags()...)
	if err != nil {
		return err
	}
	if err := c.waitReady(ctx, server); err != nil {
		return errors.Join(err, server.stop(ctx))
	}
	c.apiServer = server
	return nil
}

func (c *Cluster) apiServerFlags() []string {
	return []string{
		"--etcd-servers=unix://etcd.sock",
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.port),
		"--tls-cert-file=" + c.credentials.certFile,
		"--tls-private-key-file=" + c.credentials.keyFile,
		"--token-auth-file=" + c.credentials.tokenFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://informeter.invalid",
		"--service-account-signing-key-file=" + c.credentials.accountKeyFile,
		"--service-account-key-file=" + c.credentials.accountKeyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true",
		// Nobody asks for the endpoints of the service "kubernetes", and keeping
		// them delays the server's end.
		"--endpoint-reconciler-type=none",
		// Without it the server waits a minute for clients to end their watches.
		"--shutdown-watch-termination-grace-period=1s",
		// What stays on works without controllers and shapes pods as a real
		// cluster does: Priority, DefaultTolerationSeconds, NamespaceLifecycle.
		"--disable-admission-plugins=" + strings.Join([]string{
			"ServiceAccount", "LimitRanger", "ResourceQuota", "PodSecurity",
			"DefaultStorageClass", "StorageObjectInUseProtection", "PersistentVolumeClaimResize",
			"DefaultIngressClass", "RuntimeClass", "TaintNodesByCondition",
			"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction",
			"ClusterTrustBundleAttest", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
		}, ","),
	}
}

// waitReady returns when the server answers as it should, and with an error when
// either server ends or time runs out.
func (c *Cluster) waitReady(ctx context.Context, server *process) error {
	config, err := c.Config(Admin)
	if err != nil {
		return err
	}
	config.Timeout = 5 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client for the test cluster: %w", err)
	}
	timeout := time.NewTimer(readyWithin)
	defer timeout.Stop()
	for {
		last := answers(ctx, client)
		if last == nil {
			return nil
		}
		select {
		case <-server.exited:
			return server.failure()
		case <-c.etcd.exited:
			return c.etcd.failure()
		case <-timeout.C:
			return fmt.Errorf("kube-apiserver is not ready after %s: %w; the end of its log:\n%s", readyWithin, last, tail(server.logPath, 20))
		case <-ctx.Done():
			return fmt.Errorf("wait for kube-apiserver: %w; its last answer: %w", ctx.Err(), last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// answers says why the server is not ready yet.
func answers(ctx context.Context, client kubernetes.Interface) error {
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("ask for /readyz: %w", err)
	}
	// A controller inside the server makes the namespace some time after that.
	_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return errors.New("the namespace default does not exist yet")
	}
	if err != nil {
		return fmt.Errorf("get the namespace default: %w", err)
	}
	return nil
}

// StopAPIServer ends the API server and returns when it is gone; etcd keeps its
// data. Stopping a stopped server does nothing.
func (c *Cluster) StopAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.apiServer == nil {
		return nil
	}
	err := c.apiServer.stop(ctx)
	c.apiServer = nil
	return err
}

// Wait returns when ctx ends, or with an error when a server ended by itself.
func (c *Cluster) Wait(ctx context.Context) error {
	c.mu.Lock()
	etcd, apiServer := c.etcd, c.apiServer
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil
	case <-etcd.exited:
		return etcd.failure()
	case <-apiServer.exited:
		return apiServer.failure()
	}
}

// URL is the address of the API server.
func (c *Cluster) URL() string {
	return "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))
}

// Logs returns the last lines that each server wrote.
func (c *Cluster) Logs(lines int) string {
	var text strings.Builder
	for _, name := range []string{"etcd", "kube-apiserver"} {
		fmt.Fprintf(&text, "--- %s\n%s\n", name, tail(filepath.Join(c.dir, name+".log"), lines))
	}
	return text.String()
}

// Close ends both servers and removes the cluster's folder. Closing twice does
// nothing.
func (c *Cluster) Close() error {
	err := c.StopAPIServer(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.etcd != nil {
		err = errors.Join(err, c.etcd.stop(context.Background()))
		c.etcd = nil
	}
	if removed := os.RemoveAll(c.dir); removed != nil {
		err = errors.Join(err, fmt.Errorf("remove the cluster's folder: %w", removed))
	}
	return err
}

// freePort returns a loopback port that nobody listens on at the moment.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
