package expr

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/jsonpath"
)

// path is a compiled JSONPath. Fields, elements and wildcards, which is what most
// paths are made of, are followed by the view; where there is more to it, such as
// a filter, jsonpath evaluates what lies below the fields the path begins with.
//
// Unlike jsonpath, which gives up where one of several lists is empty or too
// short, and makes numbers of a text's bytes for a wildcard, the view goes on with
// the other lists, and finds nothing in a text.
type path struct {
	view *view
	text string
	// steps are all of the path, or what it begins with if evaluators is not nil.
	steps []step
	// evaluators holds *jsonpath.JSONPath, of which each is for one caller at a
	// time; nil if the steps are all there is.
	evaluators *sync.Pool
}

// step is one step down: into the field of that name, to one element of a list, or
// to all of a list or object.
type step struct {
	kind  stepKind
	name  string
	index int // from the end if negative
}

type stepKind uint8

const (
	toField stepKind = iota
	toElement
	toAll
)

// compilePath makes {.json.path}.
func compilePath(v *view, text string) (cache.IndexFunc, error) {
	root, err := parsePath(text)
	if err != nil {
		return nil, err
	}
	p := &path{view: v, text: text}
	for i, node := range root.Nodes {
		s, ok := stepOf(node)
		if !ok {
			p.steps = fieldsOf(root.Nodes[:i])
			p.evaluators = &sync.Pool{New: func() any { return newEvaluator(text) }}
			break
		}
		p.steps = append(p.steps, s)
	}
	return p.values, nil
}

// parsePath returns the nodes of the one path in text.
func parsePath(text string) (root *jsonpath.ListNode, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, wrong(text, 0, "not a JSONPath: %v", p)
		}
	}()
	if at := dottedKey.FindStringIndex(text); at != nil {
		return nil, wrong(text, at[0], "in ['...'] a dot ends a field's name all the same; write it as .a\\.b, as in {.metadata.labels.app\\.kubernetes\\.io/name}")
	}
	parsed, parseErr := jsonpath.Parse("index", text)
	if parseErr != nil {
		return nil, wrong(text, whereInPath(text, parseErr.Error()), "not a JSONPath: %v", parseErr)
	}
	list, ok := parsed.Root.Nodes[0].(*jsonpath.ListNode)
	if !ok || len(parsed.Root.Nodes) > 1 {
		return nil, wrong(text, strings.IndexByte(text, '}')+1, "an index takes one path and no text beside it; cel: can put several together")
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *jsonpath.IdentifierNode:
			return nil, wrong(text, strings.Index(text, node.Name), "a path begins with a dot: {.%s}", node.Name)
		case *jsonpath.TextNode, *jsonpath.IntNode, *jsonpath.FloatNode, *jsonpath.BoolNode:
			return nil, wrong(text, 1, "this is a constant; name a field, as in {.spec.nodeName}")
		}
	}
	if len(fieldsOf(list.Nodes)) == 0 && len(list.Nodes) < 2 {
		return nil, wrong(text, 1, "it names no field; write one, as in {.spec.nodeName}")
	}
	return list, nil
}

// dottedKey finds ['a.b'], of which jsonpath makes two fields.
var dottedKey = regexp.MustCompile(`\['(?:[^'\\.]|\\.)*\.[^']*'\]`)

// whereInPath guesses the offset at which jsonpath's parser got stuck: it says
// what it met and not where.
func whereInPath(text, reason string) int {
	switch {
	case strings.HasPrefix(reason, "unclosed action"):
		return len(text)
	case strings.HasPrefix(reason, "unterminated filter"), strings.HasPrefix(reason, "unclosed array"):
		return strings.Index(text, "[?(")
	case strings.HasPrefix(reason, "unterminated array"):
		return strings.LastIndexByte(text, '[')
	case strings.HasPrefix(reason, "unterminated quoted"):
		return strings.LastIndexAny(text, `'"`)
	case strings.HasPrefix(reason, "invalid multiple"):
		return strings.Index(text, "...")
	}
	if _, index, found := strings.Cut(reason, "invalid array index "); found {
		return strings.Index(text, "["+index) + 1
	}
	if _, code, found := strings.Cut(reason, "unrecognized character in action: U+"); found {
		code, _, _ = strings.Cut(code, " ")
		if r, err := strconv.ParseInt(code, 16, 32); err == nil {
			return strings.IndexRune(text, rune(r))
		}
	}
	return 0
}

// stepOf returns a node that the view can follow.
func stepOf(node jsonpath.Node) (step, bool) {
	switch node := node.(type) {
	case *jsonpath.FieldNode:
		return step{kind: toField, name: node.Value}, node.Value != ""
	case *jsonpath.WildcardNode:
		return step{kind: toAll}, true
	case *jsonpath.ArrayNode:
		p := node.Params
		switch {
		case p[0].Known && p[1].Derived && !p[2].Known:
			return step{kind: toElement, index: p[0].Value}, true
		case p[0].Known || p[1].Known || p[2].Known:
			return step{}, false // a slice
		}
		return step{kind: toAll, index: -1}, true
	}
	return step{}, false
}

// fieldsOf returns the fields that nodes begin with.
func fieldsOf(nodes []jsonpath.Node) []step {
	var steps []step
	for _, node := range nodes {
		s, ok := stepOf(node)
		if !ok || s.kind != toField {
			break
		}
		steps = append(steps, s)
	}
	return steps
}

// newEvaluator returns a parsed path; text has been parsed before.
func newEvaluator(text string) *jsonpath.JSONPath {
	j := jsonpath.New("index").AllowMissingKeys(true)
	if err := j.Parse(text); err != nil {
		panic("bug: " + err.Error())
	}
	return j
}

// values is the index function.
func (p *path) values(obj any) (values []string, err error) {
	defer contain(&err)
	root, err := p.view.root(obj)
	if err != nil {
		return nil, err
	}
	if p.evaluators != nil {
		return p.evaluate(root)
	}
	err = p.follow(root, p.steps, func(rv reflect.Value) error {
		text, ok, err := p.written(rv)
		if ok {
			values = append(values, text)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// follow calls the function with everything that the steps lead to from rv.
func (p *path) follow(rv reflect.Value, steps []step, found func(reflect.Value) error) error {
	for i, s := range steps {
		if !rv.IsValid() {
			return nil
		}
		var err error
		switch s.kind {
		case toField:
			rv, err = p.view.field(rv, s.name)
		case toElement:
			if rv, err = p.list(rv); err == nil && rv.IsValid() {
				rv, err = p.element(rv, s.index)
			}
		case toAll:
			if s.index < 0 { // written as [*]
				if rv, err = p.list(rv); err != nil || !rv.IsValid() {
					return err
				}
			}
			return p.view.each(rv, func(_ string, value reflect.Value) error {
				return p.follow(value, steps[i+1:], found)
			})
		}
		if err != nil {
			return err
		}
	}
	return found(rv)
}

// list returns rv if it is a list, and an error for what is none.
func (p *path) list(rv reflect.Value) (reflect.Value, error) {
	if !isList(rv) {
		return rv, fmt.Errorf("%s: there is %s where a list is expected", p.text, describe(rv))
	}
	return rv, nil
}

// element returns an element of a list; invalid if it is not that long.
func (p *path) element(rv reflect.Value, i int) (reflect.Value, error) {
	if i < 0 {
		i += rv.Len()
	}
	if i < 0 || i >= rv.Len() {
		return reflect.Value{}, nil
	}
	return p.view.element(rv, i)
}

// evaluate lets jsonpath evaluate the path on no more of the object than it needs.
func (p *path) evaluate(root reflect.Value) ([]string, error) {
	for _, s := range p.steps {
		var err error
		if root, err = p.view.field(root, s.name); err != nil || !root.IsValid() {
			return nil, err
		}
	}
	below, err := p.view.plain(root)
	if err != nil {
		return nil, err
	}
	for i := len(p.steps) - 1; i >= 0; i-- {
		below = map[string]any{p.steps[i].name: below}
	}
	j := p.evaluators.Get().(*jsonpath.JSONPath)
	results, err := j.FindResults(below)
	if err != nil {
		// Some of its state may be left over: not for the next one.
		if outOfBounds(err) {
			return nil, nil // missing, as a field can be
		}
		return nil, fmt.Errorf("%s: %w", p.text, err)
	}
	p.evaluators.Put(j)
	var values []string
	for _, rv := range results[0] {
		rv, err := p.view.resolve(rv)
		if err != nil {
			return nil, err
		}
		text, ok, err := p.written(rv)
		if err != nil {
			return nil, err
		}
		if ok {
			values = append(values, text)
		}
	}
	return values, nil
}

// outOfBounds says whether a list was not as long as the path would have it, of
// which jsonpath makes an error even where missing keys are none.
func outOfBounds(err error) bool {
	return strings.Contains(err.Error(), "array index out of bounds")
}

// written returns a resolved value as text; none for null.
func (p *path) written(rv reflect.Value) (text string, ok bool, err error) {
	switch {
	case !rv.IsValid():
		return "", false, nil
	case isObject(rv) && rv.Kind() == reflect.Map && rv.IsNil(), isList(rv) && rv.Kind() == reflect.Slice && rv.IsNil():
		return "", false, nil // null
	case isObject(rv):
		return "", false, fmt.Errorf("%s leads to an object; name a field in it, or take all with .*", p.text)
	case isList(rv):
		return "", false, fmt.Errorf("%s leads to a list; take its elements with [*]", p.text)
	}
	value, err := p.view.plain(rv)
	if err != nil || value == nil {
		return "", false, err
	}
	return textOf(value), true, nil
}

// textOf writes a string, number or bool.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// describe says what a resolved value is.
func describe(rv reflect.Value) string {
	switch {
	case !rv.IsValid():
		return "nothing"
	case isObject(rv):
		return "an object"
	case isList(rv):
		return "a list"
	case rv.Kind() == reflect.String || isBytes(rv):
		return "a text"
	case rv.Kind() == reflect.Bool:
		return "a bool"
	}
	return "a number"
}
