// Package tap is how the stages of the pipeline record what they do: latency
// histograms, rates and the generation that tells readers when to look again.
//
//	stage ── under a lock it holds anyway ──▶ Latency, Rate
//	stage ── after a change ────────────────▶ Generation ──▶ Inspector.Wait
//
// Counters need no type of their own: they are plain integers, guarded by the
// lock of the stage that counts.
//
// Guarantees:
//
//   - If a value is recorded, nothing is allocated and nothing blocks.
//   - Memory is fixed: a Latency is about 8 KiB, whatever it is fed.
//   - If nobody waits on a Generation, Bump is one atomic addition and one
//     atomic load.
//
// Latency and Rate are not safe for concurrent use: their owner's lock guards
// them. Generation is.
package tap
