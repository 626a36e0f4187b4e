// Package manager runs an operator, as people write them on controller-runtime,
// on informers of ours: a real manager with real controllers against a real API
// server. The same operator runs on client-go's informers, which shows that what
// is asked here can be had.
//
// The operator's world:
//
//	Website (unstructured) ──owns──▶ Deployment (typed)
//	    │ spec.config                     ▲
//	    ▼                                 │ For
//	ConfigMap (typed)                  auditor, a second controller
//	Secret (metadata only), by its label "site"
package manager
