// Package load fills an API server with pods that look like those of a real
// cluster, and keeps changing them.
//
//	Fill:    list what is there ─▶ create the rest (kube-controller-manager)
//	                            └▶ report their status (kubelet, status subresource)
//	Churn:   8 of 10 changes report a status, 2 replace a pod (delete, create)
//
// Guarantees:
//
//   - If Fill returns without an error, then the server holds at least the pods
//     asked for, counting those of an earlier run.
//   - If Churn runs at a rate, then that many changes a second are asked for at
//     most; one that fails is counted and the next one follows.
//   - Every pod has managed fields of two managers, and its status was written
//     through the status subresource.
//
// Callers must not run two loads on one server at a time: each would take the
// other's pods for its own.
//
// Cost: about 7 kB of JSON a pod, and two requests; two cores make some 300 to 500
// pods a second.
package load
