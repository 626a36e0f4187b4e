package inspect

import "strings"

// ConnectionLost says whether the text of an error is about a connection that broke
// off, whatever it is wrapped in: client-go calls that an internal error of the
// server.
func ConnectionLost(text string) bool {
	for _, sign := range []string{
		"connection lost", "connection reset", "use of closed network connection", "unexpected EOF", "broken pipe", "GOAWAY",
	} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// PlainError leaves out of the text of a request's error what only the code says of
// it: the URLs that Go's HTTP client puts in front of a cause, whose parameters fill
// the screen, and the Go type that a reflector asked for, as in "watch-list *v1.Pod:
// no". What was asked for is said elsewhere.
func PlainError(text string) string {
	for _, method := range []string{`Get "`, `Post "`} {
		before, rest, found := strings.Cut(text, method)
		if _, cause, ended := strings.Cut(rest, `": `); found && ended {
			text = before + cause
		}
	}
	head, cause, found := strings.Cut(text, ": ")
	op, asked, typed := strings.Cut(head, " *")
	if !found || !typed || strings.Contains(op, " ") || strings.ContainsAny(asked, " /") {
		return text
	}
	return op + ": " + cause
}
