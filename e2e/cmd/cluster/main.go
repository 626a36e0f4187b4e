// Command cluster runs a throwaway Kubernetes API server (etcd and
// kube-apiserver, no controllers, no nodes) until ctrl+c. It prints the path of
// the kubeconfig, which the command load finds by itself, and leaves nothing
// behind when it ends.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/informeter/informeter/e2e/testcluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, log io.Writer) (err error) {
	cluster, err := testcluster.Start(ctx, testcluster.Options{Log: log})
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(log, "stopping")
		err = errors.Join(err, cluster.Close())
	}()
	path, err := publish(cluster)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, withdraw(cluster, path)) }()
	fmt.Fprintf(out, `Kubernetes API server at %s until ctrl+c.

    export KUBECONFIG=%s

In another terminal, in the folder above e2e:

    make load PODS=10000
    KUBECONFIG=%s go run . pods -A
`, cluster.URL(), path, path)
	return cluster.Wait(ctx)
}

// publish copies the admin's kubeconfig to where load looks for it. The file
// appears whole, also where an earlier cluster left one.
func publish(cluster *testcluster.Cluster) (string, error) {
	admin, err := cluster.Kubeconfig(testcluster.Admin)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(admin)
	if err != nil {
		return "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	path, err := testcluster.LastKubeconfig()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("make a folder for the kubeconfig: %w", err)
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return "", fmt.Errorf("write the kubeconfig: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return "", fmt.Errorf("publish the kubeconfig: %w", err)
	}
	return path, nil
}

// withdraw removes what publish wrote, unless another cluster has published its
// own since.
func withdraw(cluster *testcluster.Cluster, path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("withdraw the kubeconfig: %w", err)
	}
	if !bytes.Contains(text, []byte(cluster.URL()+"\n")) {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("withdraw the kubeconfig: %w", err)
	}
	return nil
}
