package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ParseKeymap reads the defaults, and over them the user's file, which may be
// empty and is called userFile in errors. Every error names file and line.
func ParseKeymap(defaults, user []byte, userFile string) (*Keymap, error) {
	k := &Keymap{}
	if err := k.merge(defaults, "keymap.yaml", true); err != nil {
		return nil, err
	}
	if err := k.complete(); err != nil {
		return nil, err
	}
	if err := k.merge(user, userFile, false); err != nil {
		return nil, err
	}
	return k, k.index()
}

// merge reads a file: as defaults it adds bindings, otherwise it changes them.
func (k *Keymap) merge(text []byte, file string, defaults bool) error {
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return fmt.Errorf("%s: not YAML: %s", file, yaml.FormatError(err, false, false))
	}
	for _, doc := range parsed.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentType {
			continue
		}
		err := eachEntry(doc.Body, file, "a scope", func(scope string, at string, value ast.Node) error {
			s := Scope(scope)
			if actionsOf(s) == nil {
				return fmt.Errorf("%s: unknown scope %q; there are %s", at, scope, join(scopes()))
			}
			return eachEntry(value, file, "an action", func(action, at string, value ast.Node) error {
				return k.mergeBinding(s, Action(action), at, value, file, defaults)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachEntry calls f for each entry of a mapping.
func eachEntry(n ast.Node, file, what string, f func(key, at string, value ast.Node) error) error {
	var entries []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	default:
		return fmt.Errorf("%s: expected %s and a colon", position(file, n), what)
	}
	for _, e := range entries {
		if err := f(e.Key.GetToken().Value, position(file, e.Key), e.Value); err != nil {
			return err
		}
	}
	return nil
}

func position(file string, n ast.Node) string {
	return fmt.Sprintf("%s:%d", file, n.GetToken().Position.Line)
}

func (k *Keymap) mergeBinding(s Scope, a Action, at string, value ast.Node, file string, defaults bool) error {
	if !slices.Contains(actionsOf(s), a) {
		return fmt.Errorf("%s: unknown action %q in scope %s; there are %s", at, a, s, join(actionsOf(s)))
	}
	b := Binding{Scope: s, Action: a, where: at, own: !defaults}
	if keys, bare := bareKeys(value); bare {
		return fmt.Errorf("%s: %s/%s has fields; write %s: {keys: %s}", at, s, a, a, keys)
	}
	err := eachEntry(value, file, "keys or help", func(field, at string, value ast.Node) error {
		switch field {
		case "keys":
			b.where = at
			return readKeys(&b, at, value)
		case "help":
			b.Help = value.GetToken().Value
			return nil
		}
		return fmt.Errorf("%s: unknown field %q of %s/%s; there are keys, help", at, field, s, a)
	})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(k.bindings, func(old Binding) bool { return old.Scope == s && old.Action == a })
	switch {
	case defaults && i < 0 && len(b.Keys) == 0:
		return fmt.Errorf("%s: %s/%s has no keys", at, s, a)
	case i < 0:
		k.bindings = append(k.bindings, b)
		return nil
	}
	if len(b.Keys) > 0 {
		k.bindings[i].Keys, k.bindings[i].where, k.bindings[i].own = b.Keys, b.where, b.own
	}
	if b.Help != "" {
		k.bindings[i].Help = b.Help
	}
	return nil
}

// bareKeys returns keys that stand where their field should, as they have to be
// written in it.
func bareKeys(value ast.Node) (keys string, bare bool) {
	nodes := []ast.Node{value}
	switch n := value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "", false
	case *ast.NullNode:
		return "[KEY]", true
	case *ast.SequenceNode:
		nodes = n.Values
	}
	words := make([]string, len(nodes))
	for i, n := range nodes {
		words[i] = strings.TrimSpace(n.String())
	}
	return "[" + strings.Join(words, ", ") + "]", true
}

// readKeys reads one key or a list of them.
func readKeys(b *Binding, at string, value ast.Node) error {
	nodes := []ast.Node{value}
	if list, ok := value.(*ast.SequenceNode); ok {
		nodes = list.Values
	}
	for _, n := range nodes {
		if n.Type() == ast.NullType || n.GetToken().Value == "" {
			return fmt.Errorf("%s: %s/%s has an empty key", at, b.Scope, b.Action)
		}
		key := n.GetToken().Value
		if c := canonical(key); c != key {
			hint := ""
			if c != "" {
				hint = fmt.Sprintf("; write %q", c)
			}
			return fmt.Errorf("%s: %s/%s: no terminal reports a key %q%s", at, b.Scope, b.Action, key, hint)
		}
		b.Keys = append(b.Keys, key)
	}
	if len(b.Keys) == 0 {
		return fmt.Errorf("%s: %s/%s has no keys", at, b.Scope, b.Action)
	}
	return nil
}

// complete returns an error if an action has no binding.
func (k *Keymap) complete() error {
	for _, s := range scopes() {
		for _, a := range actionsOf(s) {
			if !slices.ContainsFunc(k.bindings, func(b Binding) bool { return b.Scope == s && b.Action == a }) {
				return fmt.Errorf("keymap.yaml: %s/%s is not bound", s, a)
			}
		}
	}
	return nil
}

// index builds byKey, and returns an error for a key that has two meanings.
func (k *Keymap) index() error {
	k.byKey = map[Scope]map[string]Action{}
	for _, s := range scopes() {
		k.byKey[s] = map[string]Action{}
	}
	owner := func(s Scope, key string) *Binding {
		a := k.byKey[s][key]
		if a == ActionNone {
			return nil
		}
		i := slices.IndexFunc(k.bindings, func(b Binding) bool { return b.Scope == s && b.Action == a })
		return &k.bindings[i]
	}
	// Global first, whatever the order in the file.
	ordered := slices.Clone(k.bindings)
	slices.SortStableFunc(ordered, func(a, b Binding) int {
		return slices.Index(scopes(), a.Scope) - slices.Index(scopes(), b.Scope)
	})
	for i := range ordered {
		b := &ordered[i]
		for _, key := range b.Keys {
			other := owner(b.Scope, key)
			if other == nil && b.Scope != ScopePrompt {
				other = owner(ScopeGlobal, key)
			}
			if other != nil {
				return conflict(key, b, other)
			}
			k.byKey[b.Scope][key] = b.Action
		}
	}
	return nil
}

// conflict says that two bindings have the same key. It begins with the one that
// the user has given, if only one of them is: that is the line to change.
func conflict(key string, b, other *Binding) error {
	if other.own && !b.own {
		b, other = other, b
	}
	return fmt.Errorf("%s: key %q of %s/%s is that of %s/%s (%s) already",
		b.where, key, b.Scope, b.Action, other.Scope, other.Action, other.where)
}

func join[T ~string](words []T) string {
	s := make([]string, len(words))
	for i, w := range words {
		s[i] = string(w)
	}
	return strings.Join(s, ", ")
}
