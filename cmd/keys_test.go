package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// keymapText is the built-in keymap.
func keymapText(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../keymap.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// keyOf returns what keys prints for an action.
func keyOf(t *testing.T, action string, args ...string) string {
	t.Helper()
	got := run(t, append([]string{"keys"}, args...)...)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("code %d, said %s", got.code, got.stderr)
	}
	line := regexp.MustCompile(`(?m)^\S+ +(\S.*?) +` + action + `  .*$`).FindStringSubmatch(got.stdout)
	if line == nil {
		t.Fatalf("%s is not in\n%s", action, got.stdout)
	}
	return line[1]
}

func TestKeys(t *testing.T) {
	isolate(t)
	if key := keyOf(t, "pause"); key != "space" {
		t.Errorf("pause is %q", key)
	}
	own := writeFile(t, "own.yaml", "queue: {pause: {keys: f5}}")
	if key := keyOf(t, "pause", "--keymap", own); key != "f5" {
		t.Errorf("with --keymap pause is %q", key)
	}
	// The user's own keymap is found by itself.
	home, err := findPaths()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(home.keymap()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.keymap(), []byte("queue: {pause: {keys: f6}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key := keyOf(t, "pause"); key != "f6" {
		t.Errorf("with the user's keymap pause is %q", key)
	}
	if key := keyOf(t, "pause", "--keymap", own); key != "f5" {
		t.Errorf("with --keymap over the user's keymap pause is %q", key)
	}
}

func TestKeymapsThatAreWrong(t *testing.T) {
	isolate(t)
	wrong := writeFile(t, "wrong.yaml", "queue:\n  pause: {keys: spcae}\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"keys", "--keymap", wrong}, "error: " + wrong + ":2: "},
		{[]string{"--demo", "--keymap", wrong}, "error: " + wrong + ":2: "},
		{[]string{"keys", "--keymap", "/missing"}, "error: reading the keymap: open /missing: "},
		{[]string{"--keymap", "/missing"}, "error: reading the keymap: open /missing: "},
	} {
		got := run(t, tt.args...)
		if got.code != 1 || !strings.HasPrefix(got.stderr, tt.want) {
			t.Errorf("%q: code %d, said %q, want %q", tt.args, got.code, got.stderr, tt.want)
		}
	}
}
