package tui

import (
	"os"
	"strings"
	"testing"
)

func defaults(tb testing.TB) []byte {
	tb.Helper()
	text, err := os.ReadFile("../keymap.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func TestEveryActionIsBoundOnceInItsScope(t *testing.T) {
	k := defaultKeymap(t)
	bound := map[Scope]map[Action]int{}
	for _, b := range k.Bindings() {
		if bound[b.Scope] == nil {
			bound[b.Scope] = map[Action]int{}
		}
		bound[b.Scope][b.Action]++
		if b.Help == "" {
			t.Errorf("%s/%s has no help", b.Scope, b.Action)
		}
		for _, key := range b.Keys {
			if got := k.Resolve(b.Scope, keyPress(t, key)); got != b.Action {
				t.Errorf("%q in %s does %q, want %q", key, b.Scope, got, b.Action)
			}
		}
	}
	for _, s := range scopes() {
		for _, a := range actionsOf(s) {
			if bound[s][a] != 1 {
				t.Errorf("%s/%s is bound %d times", s, a, bound[s][a])
			}
		}
	}
}

func TestAKeymapWithoutAnActionIsRefused(t *testing.T) {
	text := strings.Replace(string(defaults(t)), "  freeze: {keys: [f], help: freeze the view}\n", "", 1)
	if _, err := ParseKeymap([]byte(text), nil, ""); err == nil || !strings.Contains(err.Error(), "global/freeze is not bound") {
		t.Errorf("err = %v", err)
	}
}

func TestAUsersKeymapChangesWhatItNames(t *testing.T) {
	k, err := ParseKeymap(defaults(t), []byte("# mine\nqueue:\n  pause:\n    keys: p\nglobal:\n  freeze: {keys: [z, f5]}\n"), "my.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]Action{"p": ActionPause, "space": ActionNone, "z": ActionFreeze, "f5": ActionFreeze, "f": ActionNone, "s": ActionStep} {
		if got := k.Resolve(ScopeQueue, keyPress(t, key)); got != want {
			t.Errorf("%q does %q, want %q", key, got, want)
		}
	}
}

func TestKeymapErrorsNameFileLineAndWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown scope", "global:\n  freeze: {keys: [z]}\nqeue:\n  pause: {keys: [p]}\n", `my.yaml:3: unknown scope "qeue"; there are global, queue`},
		{"unknown action", "queue:\n  stop: {keys: [p]}\n", `my.yaml:2: unknown action "stop" in scope queue; there are pause, step`},
		{"an action of another scope", "store:\n  pause: {keys: [p]}\n", `my.yaml:2: unknown action "pause" in scope store`},
		{"unknown field", "queue:\n  pause: {key: [p]}\n", `my.yaml:2: unknown field "key" of queue/pause; there are keys, help`},
		{"no keys", "queue:\n  pause: {keys: []}\n", `my.yaml:2: queue/pause has no keys`},
		{"empty key", "queue:\n  pause: {keys: [\"\"]}\n", `my.yaml:2: queue/pause has an empty key`},
		{"null key", "queue:\n  pause: {keys: }\n", `my.yaml:2: queue/pause has an empty key`},
		{"the space bar by another name", "queue:\n  pause: {keys: [\" \"]}\n", `my.yaml:2: queue/pause: no terminal reports a key " "; write "space"`},
		{"a shifted letter by another name", "queue:\n  pause: {keys: [shift+p]}\n", `no terminal reports a key "shift+p"; write "P"`},
		{"capitals", "queue:\n  pause: {keys: [Ctrl+P]}\n", `no terminal reports a key "Ctrl+P"; write "ctrl+p"`},
		{"modifiers in another order", "queue:\n  pause: {keys: [shift+ctrl+up]}\n", `write "ctrl+shift+up"`},
		{"no key at all", "queue:\n  pause: {keys: [hyperspace]}\n", `no terminal reports a key "hyperspace"`},
		{"twice in a scope", "queue:\n  step:\n    keys: [space]\n", `my.yaml:3: key "space" of queue/step is that of queue/pause (keymap.yaml:`},
		{"one of global", "queue:\n  pause: {keys: [j]}\n", `my.yaml:2: key "j" of queue/pause is that of global/down (keymap.yaml:`},
		{"global takes one of a screen", "global:\n  freeze: {keys: [s]}\n", `my.yaml:2: key "s" of global/freeze is that of queue/step (keymap.yaml:`},
		{"global takes one of global", "global:\n  up: {keys: [q]}\n", `my.yaml:2: key "q" of global/up is that of global/close (keymap.yaml:`},
		{"both are the user's", "global:\n  up: {keys: [x]}\n  down: {keys: [x]}\n", `my.yaml:3: key "x" of global/down is that of global/up (my.yaml:2)`},
		{"not YAML", "queue: [\n", "my.yaml: not YAML"},
		{"no mapping", "queue\n", "my.yaml:1: expected a scope and a colon"},
		{"a key directly", "queue:\n  pause: p\n", "my.yaml:2: queue/pause has fields; write pause: {keys: [p]}"},
		{"keys directly", "global:\n  up: [k, \"up\"]\n", `my.yaml:2: global/up has fields; write up: {keys: [k, "up"]}`},
		{"keys directly, in lines", "global:\n  up:\n  - k\n  - up\n", "my.yaml:2: global/up has fields; write up: {keys: [k, up]}"},
		{"nothing", "global:\n  up:\n", "my.yaml:2: global/up has fields; write up: {keys: [KEY]}"},
	} {
		_, err := ParseKeymap(defaults(t), []byte(c.text), "my.yaml")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant: %s", c.name, err, c.want)
		}
	}
}

func TestThePromptHasItsKeysToItself(t *testing.T) {
	k := defaultKeymap(t)
	if a := k.Resolve(ScopePrompt, keyPress(t, "j")); a != ActionNone {
		t.Errorf("j in the prompt does %q", a)
	}
	if a := k.Resolve(ScopePrompt, keyPress(t, "esc")); a != ActionCancel {
		t.Errorf("esc in the prompt does %q", a)
	}
}

func TestAnEmptyUserKeymapChangesNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# only a comment\n", "---\n"} {
		if _, err := ParseKeymap(defaults(t), []byte(text), "my.yaml"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
