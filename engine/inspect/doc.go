// Package inspect is the read model of an informer: the plain values that say
// what every stage is doing, and the interfaces through which a reader asks for
// them. The explorer, the commands and a remote reader all see an informer
// through this package and through nothing else.
//
//	engine.Informer ──implements──▶ Inspector ◀── tui, cmd
//	                                Controls
//	engine.Registry ──implements──▶ Process
//
// Words the field lacks, defined once and used everywhere, on screen too:
//
//   - stage: one part of the pipeline (Reflector, queue, HandleDeltas, Indexer,
//     Processor).
//   - depth: how many deltas wait in the queue; in objects where one entry
//     stands for many.
//   - age: how long the oldest delta has waited.
//   - pending: notifications addressed to a listener and not yet delivered.
//   - behind: the age of the oldest notification a listener has not yet been
//     given.
//   - drain: pending divided by the rate at which a listener works while it is
//     busy: how long until it has caught up, if nothing more came.
//   - lost: what a bounded buffer had to let go of. Never silent.
//   - generation: a number that grows whenever something a reader could see has
//     changed.
//
// Guarantees:
//
//   - If a method returns a value, the value is the reader's own: nobody writes
//     to it afterwards.
//   - If a result has a size that grows with the cluster, the method takes a
//     limit. Nothing ever returns the whole store.
//   - Sorting and filtering happen behind the Inspector; readers draw pages.
//   - Resource versions are opaque strings, as the server wrote them. Where
//     their order matters the engine has compared them and the result is a
//     field.
//   - Durations are nanoseconds on the wire, in fields whose names end in Ns.
//     Rates are per second: moving averages that forget with a time constant of
//     five seconds.
//
// The package needs the standard library only.
package inspect
