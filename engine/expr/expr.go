package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/client-go/tools/cache"
)

// maxText is the longest expression, in bytes: parsers are recursive.
const maxText = 4096

// The beginnings of the forms.
const (
	labelPrefix = "label:"
	pathPrefix  = "{"
	celPrefix   = "cel:"
)

// Form is one way to write an expression.
type Form struct {
	// Name is what such an index may be called: none of those that an informer has
	// without being told.
	Name                     string
	Prefix, Example, Meaning string
}

// Forms returns the ways to write an index expression.
func Forms() []Form {
	return []Form{
		{"zone", labelPrefix, "label:topology.kubernetes.io/zone", "the value of a label"},
		{"image", pathPrefix, "{.spec.containers[*].image}", "what is at a JSONPath, several values with a wildcard"},
		{"account", celPrefix, "cel:object.spec.serviceAccountName", "what a CEL expression over the object gives"},
	}
}

// Error says what is wrong with an expression, where, and what to do.
type Error struct {
	Text string
	// Column is where in Text, counted in characters from 1.
	Column int
	Reason string
}

func (e *Error) Error() string {
	return fmt.Sprintf("expression %q, column %d: %s", e.Text, e.Column, e.Reason)
}

// wrong returns an Error about the byte at offset of text.
func wrong(text string, offset int, format string, args ...any) *Error {
	offset = min(max(offset, 0), len(text))
	return &Error{Text: text, Column: utf8.RuneCountInString(text[:offset]) + 1, Reason: fmt.Sprintf(format, args...)}
}

// Compiler makes functions of expressions. New makes one; it implements
// engine.Compiler. Safe for concurrent use.
type Compiler struct {
	view      *view
	indices   *environment // knows object
	predicate *environment // knows object and oldObject
}

// New returns a compiler.
func New() *Compiler {
	v := &view{}
	return &Compiler{
		view:      v,
		indices:   newEnvironment(v, objectVariable),
		predicate: newEnvironment(v, objectVariable, oldVariable),
	}
}

// IndexFunc returns the function that files an object under what the expression
// says of it. Its error is an *Error; those of the function say what the
// expression cannot cope with in that object.
func (c *Compiler) IndexFunc(text string) (cache.IndexFunc, error) {
	if err := check(text); err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(text, labelPrefix):
		return compileLabel(text)
	case strings.HasPrefix(text, pathPrefix):
		return compilePath(c.view, text)
	case strings.HasPrefix(text, celPrefix):
		return c.indices.indexFunc(text)
	}
	return nil, wrong(text, 0, "%s", advice(text))
}

// Predicate returns a condition on an object and the one before it, nil if there
// is none. It is written in CEL, as cel:object.spec.nodeName != oldObject.spec.nodeName.
func (c *Compiler) Predicate(text string) (func(obj, old any) (bool, error), error) {
	if err := check(text); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(text, celPrefix) {
		return nil, wrong(text, 0, "a condition is written in CEL: cel:object.metadata.name == 'web-0'")
	}
	return c.predicate.condition(text)
}

// check refuses what no parser should be bothered with.
func check(text string) error {
	switch {
	case len(text) > maxText:
		return &Error{Text: text[:20] + "…", Column: 1, Reason: fmt.Sprintf("it is longer than %d bytes; shorten it", maxText)}
	case !utf8.ValidString(text):
		return wrong(text, 0, "it is not UTF-8")
	}
	return nil
}

// advice says how to write what was probably meant.
func advice(text string) string {
	trimmed := strings.TrimLeft(text, " ")
	switch {
	case trimmed != text:
		return "remove the space before it"
	case strings.HasPrefix(text, "."), strings.HasPrefix(text, "$"), strings.HasPrefix(text, "["):
		return fmt.Sprintf("a JSONPath stands in braces: {%s}", text)
	case strings.HasPrefix(text, "object."), strings.HasPrefix(text, "self."):
		return "a CEL expression begins with cel:, as in cel:" + text
	case strings.HasPrefix(text, "metadata."), strings.HasPrefix(text, "spec."), strings.HasPrefix(text, "status."):
		return fmt.Sprintf("a JSONPath begins with a dot and stands in braces: {.%s}", text)
	}
	return "begin with label: and a label's name, with a JSONPath in braces such as {.spec.nodeName}, or with cel: and a CEL expression"
}

// errPanicked is what a panic of a foreign evaluator becomes.
var errPanicked = errors.New("the evaluator panicked")

// contain turns a panic into an error.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errPanicked, p)
	}
}
