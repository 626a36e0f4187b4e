// Package testcluster runs a Kubernetes API server for tests: one etcd and one
// kube-apiserver of the release that go.mod in the folder servers names, built
// from their Go modules, on loopback.
//
//	test ──▶ Cluster ──▶ etcd             unix socket ┐
//	                └──▶ kube-apiserver ──────────────┘
//	                        ▲ https://127.0.0.1:PORT, the same after a restart
//	                        └── kubeconfigs: Admin (every right), Nobody (none)
//
// There is no controller manager, no scheduler and no kubelet: an object changes
// only when a client changes it. A pod that is bound to a node is deleted at
// once only with a grace period of zero, since nobody confirms its end.
// Admission is cut down to what needs no controller, so that pods can be created
// without their service account.
//
// Guarantees:
//
//   - If Start returns without an error, the server answers and the namespace
//     "default" exists.
//   - If StopAPIServer is followed by StartAPIServer, then the address, the
//     certificates, the tokens and the data are the same, so clients reconnect.
//   - If Close returns, both processes have ended and the directory is gone.
//   - If the parent process dies without Close, both processes are killed by the
//     kernel on linux; the directory stays behind.
//   - If something fails, the error holds the end of the log of the server it
//     is about.
//
// Cost: the first Start on a machine compiles both servers (about five minutes
// on two cores, and 3 GB of the Go build cache); afterwards a cluster is ready
// in a few seconds and takes about 300 MB of memory while it is empty.
package testcluster
