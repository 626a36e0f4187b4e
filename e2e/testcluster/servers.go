package testcluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// The packages of the servers, tools of the module in the folder servers. Each
// binary has the name of its file in binaries.
const (
	etcdPackage      = "go.etcd.io/etcd/server/v3"
	apiServerPackage = "k8s.io/kubernetes/cmd/kube-apiserver"
)

// binaries are the paths of the two servers.
type binaries struct {
	etcd, apiServer string
}

// CacheDir is the folder that outlives clusters: the servers built once, and the
// kubeconfig of the cluster that cmd/cluster runs.
func CacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the built servers (set XDG_CACHE_HOME or HOME): %w", err)
	}
	return filepath.Join(base, "informeter-e2e"), nil
}

// build returns the servers, compiling them unless the cache has them for this
// go.sum, toolchain and platform. Test binaries run side by side, so a file lock
// makes all but one of them wait.
func build(ctx context.Context, log io.Writer) (binaries, error) {
	module, err := serversModule()
	if err != nil {
		return binaries{}, err
	}
	cache, err := CacheDir()
	if err != nil {
		return binaries{}, err
	}
	version, err := cacheKey(module)
	if err != nil {
		return binaries{}, err
	}
	dir := filepath.Join(cache, version)
	found := binaries{etcd: filepath.Join(dir, "etcd"), apiServer: filepath.Join(dir, "kube-apiserver")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return binaries{}, fmt.Errorf("make a folder for the built servers: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return binaries{}, err
	}
	defer unlock()
	if err := buildOne(ctx, log, module, etcdPackage, found.etcd); err != nil {
		return binaries{}, err
	}
	if err := buildOne(ctx, log, module, apiServerPackage, found.apiServer); err != nil {
		return binaries{}, err
	}
	return found, nil
}

// buildOne compiles one server to path unless it is there. The file appears
// whole or not at all.
func buildOne(ctx context.Context, log io.Writer, module, pkg, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	fmt.Fprintf(log, "building %s (once on this machine; kube-apiserver takes some minutes)\n", pkg)
	begun := time.Now()
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path+".new", pkg)
	cmd.Dir = module
	// GOFLAGS and GOWORK of the caller are about the caller's module. Without cgo
	// no C compiler is needed.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s in %s: %w\n%s", pkg, module, err, bytes.TrimSpace(out))
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("keep the built server: %w", err)
	}
	fmt.Fprintf(log, "built %s in %s\n", filepath.Base(path), time.Since(begun).Round(time.Second))
	return nil
}

// serversModule finds the folder servers: beside the working directory, in it,
// in one of its parents, or in the folder e2e of one of them.
func serversModule() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module of the servers: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		for _, candidate := range []string{filepath.Join(dir, "servers"), filepath.Join(dir, "e2e", "servers")} {
			text, err := os.ReadFile(filepath.Join(candidate, "go.mod"))
			if err == nil && bytes.Contains(text, []byte(apiServerPackage)) {
				return candidate, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no folder e2e/servers at or above %s: run this inside a checkout of informeter", start)
		}
	}
}

// cacheKey names what the binaries depend on.
func cacheKey(module string) (string, error) {
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", fmt.Errorf("read the versions of the servers: %w", err)
		}
		hash.Write(text)
	}
	version := "unknown"
	text, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the versions of the servers: %w", err)
	}
	if _, after, ok := strings.Cut(string(text), "k8s.io/kubernetes v"); ok {
		version = "v" + strings.Fields(after)[0]
	}
	sum := hex.EncodeToString(hash.Sum(nil))[:8]
	return strings.Join([]string{version, runtime.Version(), runtime.GOOS, runtime.GOARCH, sum}, "-"), nil
}

// lock takes the file lock at path, waiting for it until ctx ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the built servers: %w", err)
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("wait for another process that builds the servers: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
