package inspect

import "strings"

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
