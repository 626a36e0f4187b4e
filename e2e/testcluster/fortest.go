package testcluster

import "testing"

// ForTest starts a cluster that the test's cleanup closes. If the test fails,
// the end of the servers' logs is in its output.
func ForTest(t testing.TB) *Cluster {
	t.Helper()
	cluster, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(cluster.Logs(20))
		}
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// KubeconfigFor is Kubeconfig for a test.
func (c *Cluster) KubeconfigFor(t testing.TB, user User) string {
	t.Helper()
	path, err := c.Kubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
