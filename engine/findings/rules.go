package findings

import "github.com/informeter/informeter/engine/inspect"

// The rules.
const (
	GrowingBacklog   = "growing-backlog"
	ResyncStorm      = "resync-storm"
	HandlerStuck     = "handler-stuck"
	HandlerPanics    = "handler-panics"
	ListForbidden    = "list-forbidden"
	WatchForbidden   = "watch-forbidden"
	RequestsFailing  = "requests-failing"
	NotSynced        = "not-synced"
	Expired          = "expired"
	RelistLoop       = "relist-loop"
	ShortWatches     = "short-watches"
	NoAnswer         = "no-answer"
	EndMarkerMissing = "end-marker-missing"
	FarBehind        = "far-behind"
	HotKey           = "hot-key"
	IdentityChanged  = "identity-changed"
	Quarantined      = "quarantined"
	Undecodable      = "undecodable"
	IndexErrors      = "index-errors"
	GatePaused       = "gate-paused"
	JournalLoss      = "journal-loss"
)

// Rule is one kind of problem that is looked for.
type Rule struct {
	Name string
	// Looks says in a few words what it looks for.
	Looks string
}

// rule is a Rule and how to look. look returns what there is now; its findings'
// Rule, Informer and At are filled in afterwards, and Since where it is zero.
type rule struct {
	Rule
	look func(*Watcher, *inspect.Snapshot) []Finding
}

// rules returns every rule. The order matters where one rule leaves to another
// what that one explains: those come first.
func rules() []rule {
	return []rule{
		{Rule{ListForbidden, "the server forbids the list"}, (*Watcher).listForbidden},
		{Rule{WatchForbidden, "the list works and the watch is forbidden"}, (*Watcher).watchForbidden},
		{Rule{NoAnswer, "a request that the server does not answer"}, (*Watcher).noAnswer},
		{Rule{EndMarkerMissing, "an initial stream without its end marker"}, (*Watcher).endMarkerMissing},
		{Rule{Expired, "a watch from a version the server has forgotten (410)"}, (*Watcher).expired},
		{Rule{ShortWatches, "watches that are closed far too early"}, (*Watcher).shortWatches},
		{Rule{RequestsFailing, "requests that fail again and again"}, (*Watcher).requestsFailing},
		{Rule{RelistLoop, "a list of everything again and again"}, (*Watcher).relistLoop},
		{Rule{HandlerStuck, "a handler that does not return"}, (*Watcher).handlerStuck},
		{Rule{NotSynced, "informers and handlers that wait for the initial list"}, (*Watcher).notSynced},
		{Rule{ResyncStorm, "a resync that takes longer than its period"}, (*Watcher).resyncStorm},
		{Rule{GrowingBacklog, "a handler given more than it can work off"}, (*Watcher).growingBacklog},
		{Rule{FarBehind, "a handler that is told everything late"}, (*Watcher).farBehind},
		{Rule{HandlerPanics, "a handler that panics"}, (*Watcher).handlerPanics},
		{Rule{HotKey, "a key that changes for nothing, or back and forth"}, (*Watcher).hotKey},
		{Rule{IdentityChanged, "an object that took another's name unnoticed"}, (*Watcher).identityChanged},
		{Rule{Quarantined, "objects that were set aside"}, (*Watcher).quarantined},
		{Rule{Undecodable, "objects that could not be decoded"}, (*Watcher).undecodable},
		{Rule{IndexErrors, "objects an index function fails on"}, (*Watcher).indexErrors},
		{Rule{GatePaused, "a closed gate behind which the queue grows"}, (*Watcher).gatePaused},
		{Rule{JournalLoss, "changes the explorer itself has missed"}, (*Watcher).journalLoss},
	}
}

// Rules returns what is looked for, in the order in which it is.
func Rules() []Rule {
	all := make([]Rule, 0, len(rules()))
	for _, r := range rules() {
		all = append(all, r.Rule)
	}
	return all
}
