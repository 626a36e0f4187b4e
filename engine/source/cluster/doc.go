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
// Watches are opened by client-go, with its retries and its errors; the body of
// the answer is then taken from it and read here:
//
//		body ─▶ reader ─┬─▶ ordered ──────────────────────▶ sender ─▶ ResultChan
//		        framing │   ≤ 16 batches, in order          waits for each to be
//		        counting│                                   decoded, in order
//		                └─▶ undecoded ─▶ up to 4 workers ─┘
//		                    the same     decode a batch each
//
//	 1. The reader cuts the body into frames and adds each to the newest batch, as
//	    long as no worker has come for that: one event alone is decoded at once,
//	    and a flood in batches of up to 32 KiB.
//	 2. Workers decode. An ordinary event's envelope is opened without copying, and
//	    its object decoded as what it is known to be; anything else goes through
//	    client-go's decoders.
//	 3. The sender sends the events in the order in which they came.
//
// Guarantees:
//
//   - If an event can be decoded, it is what client-go makes of it, in the same
//     order, and the stream ends as client-go's would.
//   - If an object can't be decoded, it is set aside with the beginning of its
//     frame (see Traffic) and the stream goes on. Unlike client-go, which ends the
//     stream and asks for the same object again [undecodable]. Its key stays as it was until
//     it changes again or is listed. Bookmarks and errors that can't be decoded
//     end the stream, and so does JSON that is none: where it ends is not known.
//   - If Stop is called or the context ends, every goroutine of the stream ends.
//   - If nobody reads, at most about 20 batches and 256 events are held.
//   - If an answer is neither protobuf nor JSON, client-go reads it.
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
