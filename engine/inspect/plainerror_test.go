package inspect

import "testing"

func TestErrorsLeaveOutWhatOnlyTheCodeSays(t *testing.T) {
	for text, want := range map[string]string{
		`watch *v1.Pod: Get "https://10.0.0.1/api/v1/pods?watch=true&x=1": dial tcp 10.0.0.1:443: connect: connection refused`: "watch: dial tcp 10.0.0.1:443: connect: connection refused",
		`watch-list *v1.Pod: Get "http://h/api?watch=true": refused`:                                                           "watch-list: refused",
		`Post "http://h/api": refused`:               "refused",
		"list *v1.Pod: pods is forbidden: no":        "list: pods is forbidden: no",
		"watch apps/v1, Kind=Deployment: no":         "watch apps/v1, Kind=Deployment: no",
		"list: object is a *v1.Node, not a *v1.Pod":  "list: object is a *v1.Node, not a *v1.Pod",
		"object is a *v1.Node, not a *v1.Pod: no":    "object is a *v1.Node, not a *v1.Pod: no",
		"watch: object is a *v1.Node, not a *v1.Pod": "watch: object is a *v1.Node, not a *v1.Pod",
		`Get "cut off`:  `Get "cut off`,
		"watch *v1.Pod": "watch *v1.Pod",
		"a * b: c":      "a * b: c",
		"plain":         "plain",
		"":              "",
	} {
		if got := PlainError(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestALostConnectionIsSeenThroughItsWrapping(t *testing.T) {
	for text, want := range map[string]bool{
		"unable to decode an event from the watch stream: http2: client connection lost": true,
		"dial tcp 10.0.0.1:443: connect: connection refused":                             false, // none came about
		"read tcp 10.0.0.2:55012->10.0.0.1:443: read: connection reset by peer":          true,
		"an error on the server has prevented the request from succeeding":               false,
		"pods is forbidden: no": false,
		"":                      false,
	} {
		if got := ConnectionLost(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
