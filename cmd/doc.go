// Package cmd is informeter's command line, one file a command. It is the only
// package that knows all sides: where objects come from, the engine, and who
// looks.
//
//	arguments ──parse──▶ sourceFlags ──open──▶ sources ──start──▶ lab: informers, running
//	                                                                │
//	                          explorer, snapshot, doctor ◀──reads───┘ through engine/inspect
//
// Guarantees:
//
//   - If the command line is wrong, the exit code is 1, of doctor 2, and nothing
//     was contacted or drawn. See the codes in errors.go.
//   - If there is no configuration at all, the bare explorer shows the simulated
//     cluster and says so; every other command fails.
//   - If the cluster can't be reached, or forbids, that is no error here: the
//     informers show it and try again.
//   - If snapshot ends, it has printed, synced or not; doctor too, if it began to
//     look.
//   - Standard output carries data only. What client-go logs goes to --log-file
//     or nowhere.
//   - If a signal ends the explorer, the terminal is restored first.
package cmd
