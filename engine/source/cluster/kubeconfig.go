package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"k8s.io/client-go/tools/clientcmd"
)

// maxKubeconfig is the size from which on a file is not looked at to say what is
// wrong with it.
const maxKubeconfig = 1 << 20

// notKubeconfig says of the first file that can't be loaded what is wrong with
// it. client-go's errors name Go's types in place of lines.
func notKubeconfig(access clientcmd.ConfigAccess, err error) error {
	files := access.GetLoadingPrecedence()
	if explicit := access.GetExplicitFile(); explicit != "" {
		files = []string{explicit}
	}
	for _, file := range files {
		_, failure := clientcmd.LoadFromFile(file)
		if failure == nil || errors.Is(failure, os.ErrNotExist) {
			continue
		}
		text, unreadable := os.ReadFile(file)
		if unreadable != nil {
			return unreadable
		}
		return fmt.Errorf("%s is not one: %s", file, whyNot(text, failure))
	}
	return err
}

// whyNot says why a text is no kubeconfig; failure is client-go's reason.
func whyNot(text []byte, failure error) string {
	switch {
	case len(text) > maxKubeconfig:
		return "it is too large"
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return "it is not text"
	case tooDeep(text):
		return "it is nested too deep"
	}
	if line, why := misshapen(text); why != "" {
		return fmt.Sprintf("line %d: %s", line, why)
	}
	return plainly(failure)
}

// tooDeep says whether a text opens so many brackets that a parser would take
// longer over it than somebody waits.
func tooDeep(text []byte) bool {
	const most = 500
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > most {
			return true
		}
	}
	return bytes.Contains(text, bytes.Repeat([]byte("- "), most))
}

// misshapen returns the line at which a text is no YAML, or not that of a
// kubeconfig, and why; an empty reason if nothing is wrong that can be seen.
func misshapen(text []byte) (line int, why string) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		var broken yaml.Error
		if errors.As(err, &broken) && broken.GetToken() != nil {
			return broken.GetToken().Position.Line, broken.GetMessage()
		}
		return 1, "it is no YAML"
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		top, ok := doc.Body.(ast.MapNode)
		if !ok {
			return doc.Body.GetToken().Position.Line, "this is " + article(doc.Body) + ", and a kubeconfig begins with names and values"
		}
		for each := top.MapRange(); each.Next(); {
			if why := wrongField(each.Key().GetToken().Value, each.Value()); why != "" {
				return each.Key().GetToken().Position.Line, why
			}
		}
		break // client-go reads the first document only
	}
	return 0, ""
}

// wrongField says what is wrong with a field of a kubeconfig, if anything is.
func wrongField(name string, v ast.Node) string {
	switch name {
	case "kind":
		if said := v.GetToken().Value; said != "Config" {
			return fmt.Sprintf("its kind is %q, not Config", said)
		}
	case "apiVersion":
		if said := v.GetToken().Value; said != "v1" {
			return fmt.Sprintf("its apiVersion is %q, not v1", said)
		}
	case "clusters", "users", "contexts":
		if v.Type() != ast.SequenceType && v.Type() != ast.NullType && v.Type() != ast.AliasType && v.Type() != ast.AnchorType {
			return name + " is " + article(v) + ", not a list"
		}
	}
	return ""
}

// article names what a node is.
func article(v ast.Node) string {
	switch v.Type() {
	case ast.SequenceType:
		return "a list"
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.IntegerType, ast.FloatType:
		return "a number"
	case ast.BoolType:
		return "true or false"
	case ast.NullType:
		return "nothing"
	default:
		return "a string"
	}
}

// mistyped finds what a JSON decoder says of a value of a wrong type.
var mistyped = regexp.MustCompile(`cannot unmarshal (\w+) into Go (?:struct field \w+\.(\S+)|value) of type`)

// plainly is client-go's reason without the words around it and without Go.
func plainly(failure error) string {
	for errors.Unwrap(failure) != nil {
		failure = errors.Unwrap(failure)
	}
	text := failure.Error()
	if m := mistyped.FindStringSubmatch(text); m != nil && m[2] != "" {
		return fmt.Sprintf("%s can't be a %s", m[2], m[1])
	}
	if strings.Contains(text, "struct") || strings.Contains(text, ".go:") {
		return "it has other fields than one"
	}
	return shortened(text)
}
