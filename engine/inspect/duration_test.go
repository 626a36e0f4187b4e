package inspect

import (
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDurationsAreShortAndNeverTooLong(t *testing.T) {
	ms := time.Millisecond
	for d, want := range map[time.Duration]string{
		0: "0s", -5: "0s", 850: "850ns", 410 * time.Microsecond: "410µs", 999999: "999µs", 1900 * time.Microsecond: "1.9ms",
		9999 * time.Microsecond: "9.9ms", 12 * ms: "12ms", 999 * ms: "999ms", 8200 * ms: "8.2s", 9999 * ms: "9.9s", 59999 * ms: "59s",
		252 * time.Second: "4m12s", time.Hour: "1h", time.Minute: "1m", 61 * time.Second: "1m1s", 1<<63 - 1: "106,751d", 26 * time.Hour: "1d2h", 21 * 24 * time.Hour: "21d", 76 * time.Hour: "3d4h", 2400 * time.Hour: "100d", 48000 * time.Hour: "2,000d",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(20*365*24*time.Hour)).Draw(t, "d"))
		if s := Duration(d); utf8.RuneCountInString(s) > 6 {
			t.Fatalf("%q is longer than its column", s)
		}
	})
}
