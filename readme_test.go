package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/informeter/informeter/cmd"
)

var update = flag.Bool("update-readme", false, "write the README's key table anew")

const (
	keysBegin = "<!-- keys: made by informeter keys -->\n```\n"
	keysEnd   = "```\n<!-- end of keys -->"
)

func TestTheReadmeHasTheKeysThatHold(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // no keymap of a user
	var out, errs bytes.Buffer
	p := cmd.Program{Keymap: keymap, Args: []string{"informeter", "keys"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	if code := cmd.Run(t.Context(), p); code != 0 {
		t.Fatalf("informeter keys exits with %d: %s", code, &errs)
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), keysBegin)
	table, after, ended := strings.Cut(rest, keysEnd)
	if !found || !ended {
		t.Fatal("README.md has no table of keys")
	}
	if table == out.String() {
		return
	}
	if !*update {
		t.Errorf("the README's keys are not those of keymap.yaml; go test -update-readme . writes them")
		return
	}
	if err := os.WriteFile("README.md", []byte(before+keysBegin+out.String()+keysEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheReadmeHasTheScenarios(t *testing.T) {
	var out, errs bytes.Buffer
	p := cmd.Program{Keymap: keymap, Args: []string{"informeter", "__complete", "--demo="}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	if code := cmd.Run(t.Context(), p); code != 0 {
		t.Fatalf("completing --demo= exits with %d: %s", code, &errs)
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	scenarios := 0
	for line := range strings.Lines(out.String()) {
		name, sentence, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		scenarios++
		if row := "| `" + name + "` | " + sentence + " |\n"; !strings.Contains(string(text), row) {
			t.Errorf("README.md does not say %q", row)
		}
	}
	if scenarios < 2 {
		t.Errorf("there are %d scenarios in %q", scenarios, &out)
	}
}
