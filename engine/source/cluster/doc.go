// Package cluster makes sources of the resources of a Kubernetes cluster, as
// named on a command line and found through a kubeconfig.
//
//	kubeconfig ──Open──▶ Cluster ──Sources("deploy", "pods/web-0", …)──▶ []source.Source
//	                        │
//	                        ├─ catalog: what the server serves (discovery), else the
//	                        │  built-in types; names are matched by client-go's
//	                        │  RESTMapper, as kubectl does
//	                        └─ one HTTP client for everything:
//	                             built-in types   typed, protobuf
//	                             all others       unstructured, JSON
//	                             Metadata         PartialObjectMetadata, protobuf
//
// Guarantees:
//
//   - If the kubeconfig is missing, broken or names nothing, Open says so, and
//     what to do. client-go would go on with localhost:8080.
//   - If a selector can't be parsed, Open says so before anything is contacted.
//   - If the server can't be reached, or hides what it serves, Sources still
//     succeeds: what stands in the way is then met by the informer's own
//     requests, again with every attempt, and can be shown and waited for.
//   - If every name asked for is one of the core group, nothing is asked before
//     the informers' own requests: that group comes first and has one version.
//     (Unlike for kubectl, a resource of another group that has a core resource's
//     short name for its plural is then reached through its group only.)
//   - If some API groups don't answer, the resources of all others are found.
//   - If the server answers and doesn't know a name, Sources fails with an
//     UnknownError, which knows the names that are near.
//   - If a credential plugin runs, standard input is not given to it.
//
// What was discovered is never written to disk: with aggregated discovery it is
// two requests on a connection that is needed anyhow, and a cache file may speak
// of a cluster that has been replaced since.
//
// Callers must not close anything: a Cluster owns no goroutine, and its idle
// connections end by themselves.
package cluster
