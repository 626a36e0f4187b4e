package inspect

import (
	"strconv"
	"time"
)

// Duration writes d for people, in at most two units and about six characters. It
// is cut and not rounded: a thing that has lasted for 59.9s has not lasted for a
// minute. Of whole minutes, hours and days the smaller unit is left out: 1m, 21d.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d <= 0:
		return "0s"
	case d < time.Microsecond:
		return strconv.FormatInt(int64(d), 10) + "ns"
	case d < time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + "µs"
	case d < 10*time.Millisecond:
		return tenths(d, time.Millisecond) + "ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return tenths(d, time.Second) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return both(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return both(d, time.Hour, "h", time.Minute, "m")
	case d < 100*day:
		return both(d, day, "d", time.Hour, "h")
	}
	days := strconv.FormatInt(int64(d/day), 10)
	if n := len(days); n > 3 {
		days = days[:n-3] + "," + days[n-3:] // the longest there is has six digits
	}
	return days + "d"
}

// both writes d in two units, the smaller one unless there is none of it.
func both(d, unit time.Duration, name string, smaller time.Duration, its string) string {
	s := strconv.Itoa(int(d/unit)) + name
	if rest := d % unit / smaller; rest > 0 {
		s += strconv.Itoa(int(rest)) + its
	}
	return s
}

func tenths(d, unit time.Duration) string {
	t := int(d / (unit / 10))
	return strconv.Itoa(t/10) + "." + strconv.Itoa(t%10)
}
