// Package expr makes functions of text: what an object is filed under, and
// conditions on objects. It implements engine.Compiler.
//
//	text ─── label:KEY ──────▶ meta.Accessor ───────────────────────┐
//	     │                                                          │
//	     ├── {.json.path} ───▶ view ──── a filter, a slice, .. ──▶  ├─▶ values
//	     │                      ▲        jsonpath, on what lies     │
//	     └── cel:EXPR ──▶ CEL ──┘        below the path's fields ───┘
//
// The view reads typed objects by their JSON names without converting them: a
// path to one field looks at that field and at nothing else. What has a JSON form
// of its own, such as a time, a quantity or a port, is read in that form.
//
// The forms:
//
//   - label:KEY is the value of a label. An object without it is filed under
//     nothing; one with an empty value under the empty value.
//   - {.json.path} is what client-go's jsonpath finds there: several values with
//     a wildcard, nothing where a key is missing. Numbers and bools are written
//     as text. An object or a list is an error: there is no text for it.
//   - cel:EXPR is a CEL expression over the variable object that gives a string,
//     number or bool, a list of them, null or an optional. A field that is not
//     there is an error, unless it is asked for as object.spec.?nodeName. The
//     libraries are CEL's own, optionals, strings, lists and sets. A condition
//     gives a bool, and also has oldObject, which is null if there is none.
//
// Guarantees:
//
//   - If a text is wrong, the error is an *Error, which says where, and what to
//     do. No text panics.
//   - If an object is typed, unstructured or metadata only, an expression says
//     the same of it, as long as what it asks for is there. Typed objects from a
//     server have no apiVersion and kind.
//   - If a function panics or takes too many steps, that is an error about that
//     object.
//   - If several goroutines call a function, none waits for another.
//
// Functions must not be given objects that somebody writes to meanwhile.
//
// Cost of one call on a pod in µs, by BenchmarkIndexFunc on one shared core, where
// to convert that pod to unstructured took 65:
//
//	                                                  typed  unstructured
//	label:app                                           0.2           0.1
//	{.spec.nodeName}                                    0.3           1.3
//	{.spec.containers[*].image}                         0.6           1.6
//	{.status.conditions[?(@.type=="Ready")].status}      13             9
//	cel:object.spec.nodeName                            0.7           0.6
//	cel:object.spec.containers.map(c, c.image)          4.4           3.6
//
// A compiler takes half a millisecond to make, an expression 30 µs.
package expr
