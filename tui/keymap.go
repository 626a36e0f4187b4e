package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Scope is a part of the explorer that has keys of its own.
type Scope string

// The scopes. ScopeGlobal holds wherever no text is typed.
const (
	ScopeGlobal  Scope = "global"
	ScopeQueue   Scope = "queue"
	ScopeStore   Scope = "store"
	ScopeIndices Scope = "indices"
	ScopeResync  Scope = "resync"
	ScopeObject  Scope = "object"
	ScopeColumns Scope = "columns"
	ScopePrompt  Scope = "prompt"
)

// Action is something the user can ask for. Screens know actions, only the
// keymap knows keys.
type Action string

// The actions.
const (
	ActionNone Action = ""

	ActionUp       Action = "up"
	ActionDown     Action = "down"
	ActionLeft     Action = "left"
	ActionRight    Action = "right"
	ActionTop      Action = "top"
	ActionBottom   Action = "bottom"
	ActionHalfUp   Action = "half-page-up"
	ActionHalfDown Action = "half-page-down"
	ActionPageUp   Action = "page-up"
	ActionPageDown Action = "page-down"

	ActionOpen         Action = "open"
	ActionBack         Action = "back"
	ActionFilter       Action = "filter"
	ActionCommand      Action = "command"
	ActionCopy         Action = "copy"
	ActionSave         Action = "save"
	ActionNextPane     Action = "next-pane"
	ActionPreviousPane Action = "previous-pane"

	ActionInformers        Action = "informers"
	ActionPipeline         Action = "pipeline"
	ActionQueue            Action = "queue"
	ActionStore            Action = "store"
	ActionIndices          Action = "indices"
	ActionHandlers         Action = "handlers"
	ActionResync           Action = "resync"
	ActionRequests         Action = "requests"
	ActionFindings         Action = "findings"
	ActionNextInformer     Action = "next-informer"
	ActionPreviousInformer Action = "previous-informer"

	ActionFreeze  Action = "freeze"
	ActionHelp    Action = "help"
	ActionSuspend Action = "suspend"
	ActionClose   Action = "close"
	ActionQuit    Action = "quit"

	// Of tables.
	ActionSort         Action = "sort"
	ActionSortPrevious Action = "sort-previous"
	ActionReverse      Action = "reverse"
	ActionColumns      Action = "columns"

	// The pages of a key.
	ActionYAML      Action = "yaml"
	ActionDiff      Action = "diff"
	ActionBiography Action = "biography"
	ActionBuckets   Action = "buckets"

	ActionFollow    Action = "follow"
	ActionVerify    Action = "verify"
	ActionResyncNow Action = "resync-now"
	ActionPeriod    Action = "period"
	ActionFold      Action = "fold"
	ActionFoldAll   Action = "fold-all"
	ActionFromOlder Action = "from-older"
	ActionFromNewer Action = "from-newer"
	ActionToggle    Action = "toggle"
	ActionNarrower  Action = "narrower"
	ActionWider     Action = "wider"

	ActionPause         Action = "pause"
	ActionStep          Action = "step"
	ActionStepTen       Action = "step-ten"
	ActionRate          Action = "rate"
	ActionManagedFields Action = "managed-fields"
	ActionNextMatch     Action = "next-match"
	ActionPreviousMatch Action = "previous-match"
	ActionAccept        Action = "accept"
	ActionCancel        Action = "cancel"
	ActionComplete      Action = "complete"
	ActionCompleteBack  Action = "complete-back"
	ActionOlder         Action = "older"
	ActionNewer         Action = "newer"
)

// actionsOf lists the actions each scope has. All of them have to be bound.
func actionsOf(s Scope) []Action {
	switch s {
	case ScopeGlobal:
		return []Action{
			ActionUp, ActionDown, ActionLeft, ActionRight, ActionTop, ActionBottom,
			ActionHalfUp, ActionHalfDown, ActionPageUp, ActionPageDown,
			ActionOpen, ActionBack, ActionNextPane, ActionPreviousPane,
			ActionCommand, ActionFilter, ActionNextMatch, ActionPreviousMatch, ActionCopy, ActionSave,
			ActionSort, ActionSortPrevious, ActionReverse, ActionColumns,
			ActionYAML, ActionDiff, ActionBiography, ActionBuckets,
			ActionInformers, ActionPipeline, ActionQueue, ActionStore, ActionIndices, ActionHandlers, ActionResync, ActionRequests, ActionFindings,
			ActionNextInformer, ActionPreviousInformer,
			ActionFreeze, ActionHelp, ActionSuspend, ActionClose, ActionQuit,
		}
	case ScopeQueue:
		return []Action{ActionPause, ActionStep, ActionStepTen, ActionRate}
	case ScopeStore:
		return []Action{ActionFollow}
	case ScopeIndices:
		return []Action{ActionVerify}
	case ScopeResync:
		return []Action{ActionResyncNow, ActionPeriod}
	case ScopeObject:
		return []Action{ActionFold, ActionFoldAll, ActionManagedFields, ActionFromOlder, ActionFromNewer}
	case ScopeColumns:
		return []Action{ActionToggle, ActionNarrower, ActionWider}
	case ScopePrompt:
		return []Action{ActionAccept, ActionCancel, ActionComplete, ActionCompleteBack, ActionOlder, ActionNewer}
	}
	return nil
}

func scopes() []Scope {
	return []Scope{ScopeGlobal, ScopeQueue, ScopeStore, ScopeIndices, ScopeResync, ScopeObject, ScopeColumns, ScopePrompt}
}

// Binding is the keys of one action.
type Binding struct {
	Scope  Scope
	Action Action
	Keys   []string // as tea.KeyPressMsg.String writes them; at least one
	Help   string
	// where the keys were given: file:line; own if that is the user's file.
	where string
	own   bool
}

// Label returns the keys as the help shows them.
func (b Binding) Label() string {
	labels := make([]string, len(b.Keys))
	for i, k := range b.Keys {
		labels[i] = keyLabel(k)
	}
	return strings.Join(labels, " ")
}

func keyLabel(k string) string {
	for from, to := range map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"} {
		if k == from {
			return to
		}
	}
	return k
}

// Keymap says which key does what. ParseKeymap makes one; it does not change
// afterwards.
type Keymap struct {
	bindings []Binding
	byKey    map[Scope]map[string]Action
}

// Bindings returns all bindings in the order of the defaults.
func (k *Keymap) Bindings() []Binding { return slices.Clone(k.bindings) }

// Resolve returns what a key asks for in a scope: ActionNone if nothing. Keys of
// ScopeGlobal hold in every scope but ScopePrompt.
func (k *Keymap) Resolve(s Scope, msg tea.KeyPressMsg) Action {
	key := msg.String()
	if a := k.byKey[s][key]; a != ActionNone || s == ScopePrompt {
		return a
	}
	return k.byKey[ScopeGlobal][key]
}

// label returns the first key of an action, as the help shows it.
func (k *Keymap) label(s Scope, a Action) string {
	for _, b := range k.bindings {
		if b.Scope == s && b.Action == a {
			return keyLabel(b.Keys[0])
		}
	}
	return ""
}

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
