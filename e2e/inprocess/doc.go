// Package inprocess tests the engine inside the test process against a real API
// server: after whatever happened, the cache and what the handlers were told
// must equal a fresh LIST, key by key and resource version by resource version.
package inprocess
