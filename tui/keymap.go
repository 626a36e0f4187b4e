package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
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
