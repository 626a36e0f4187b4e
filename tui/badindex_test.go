package tui

import (
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

// TestAnIndexThatFailsSaysWhy: first, and in all of its places.
func TestAnIndexThatFailsSaysWhy(t *testing.T) {
	f := newFake(184)
	why := "no such key: nope"
	key := "platform/mail-digest-57d4b8f86c-6nxlx"
	f.buckets["bad"] = []inspect.BucketRow{}
	f.verified = map[string]inspect.IndexCheck{"bad": {Index: "bad", Objects: 184, Failed: 184, FailedKey: key, FailedError: why}}
	u := newUser(t, f, 120, 36)
	u.press("4")
	f.fills = &inspect.IndexVitals{Name: "bad", Errors: 184, LastError: why, LastErrorKey: key}
	u.command("index add bad=cel:object.spec.nope").expect("index bad added: 0 buckets, 184 of 184 failed: " + why)
	u.expectMarked("bad ") // what was added is selected
	u.expect("0 buckets   ⚠ 184 of 184 failed: "+why, "The function fails on every object: no such key", "last "+key)
	u.press("v").expect("anew     ⚠ 184 of 184 failed: "+why, "bad: 184 objects computed anew in 0s, 184 of 184 failed: "+why)

	f.bump(func() { f.snapshot.Indices[0].Errors = 3 })
	u.look()
	u.expect("fails on 3 of 184 objects, and gives")
	f.bump(func() { f.snapshot.Indices[0].Errors = 0 })
	u.look()
	u.expect("gives no object a value")
	u.press("j", "tab", "/").types("nosuch").press("enter").expect("no bucket matches nosuch", "-f letters", "takes it away")
}
