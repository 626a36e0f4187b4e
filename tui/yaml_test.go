package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

func yamlText(lines []yamlLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// values draws what an object may hold.
func values(depth int) *rapid.Generator[any] {
	texts := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z0-9:#~|>&*!%@.,_ \-\n\t"'{}\[\]=+]{0,12}`),
		rapid.StringMatching(`[-+]?[0-9.:_xobeEf]{0,8}`),
		rapid.StringMatching(`( |\t)?[a-z\n]{1,8}\n{0,3}`),
		rapid.SampledFrom([]string{"yes", "No", "on", "null", "~", "1e3", "0x1f", "12:30", "2026-07-01T12:00:00Z", "1.2", "10.0.0.1", "100m", ".5", "=", "<<", "---", "...", "a: b", "a #b", "-", "?", "\u0085", "\ufeff", "\u2028"}),
	)
	scalars := rapid.OneOf(
		rapid.Map(texts, func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	)
	if depth == 0 {
		return scalars
	}
	inner := values(depth - 1)
	return rapid.OneOf(
		scalars,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(v []any) any { return v }),
		rapid.Map(rapid.MapOfN(texts, inner, 0, 4), func(v map[string]any) any { return v }),
	)
}

// TestYAMLMeansTheObject reads what was written with another reader.
func TestYAMLMeansTheObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, err := json.Marshal(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,5}`), values(3), 1, 4).Draw(t, "object"))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := yamlLines(want)
		if err != nil {
			t.Fatal(err)
		}
		out := yamlText(lines)
		got, err := yaml.YAMLToJSON([]byte(out))
		if err != nil {
			t.Fatalf("%v in\n%s\nof %s", err, out, want)
		}
		var a, b any
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil {
			t.Fatalf("no JSON: %s, %s", want, got)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("-want +got:\n%s\nin\n%s", diff, out)
		}
		for i, l := range lines {
			if l.end <= i || l.end > len(lines) || (l.end > i+1) != (l.path != "") {
				t.Fatalf("line %d of %d ends at %d with path %q", i, len(lines), l.end, l.path)
			}
		}
	})
}

func TestYAMLReadsLikeKubectls(t *testing.T) {
	lines, err := yamlLines([]byte(`{"kind":"Pod","metadata":{"labels":{"app":"web","v":"1.2"},"name":"a"},
		"spec":{"args":[],"containers":[{"image":"r/web:1.2","name":"main","args":["-c","a\nb\n"]},{"name":"x"}],"ip":"10.0.0.1","replicas":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `kind: Pod
metadata:
  labels:
    app: web
    v: "1.2"
  name: a
spec:
  args: []
  containers:
  - args:
    - "-c"
    - |
      a
      b
    image: r/web:1.2
    name: main
  - name: x
  ip: 10.0.0.1
  replicas: 3
`
	if diff := cmp.Diff(want, yamlText(lines)); diff != "" {
		t.Error(diff)
	}
	var folds []string
	for i, l := range lines {
		if l.path != "" {
			folds = append(folds, fmt.Sprintf("%d-%d %s", i+1, l.end, l.path))
		}
	}
	wantFolds := []string{"2-6 .metadata", "3-5 .metadata.labels", "7-19 .spec", "9-17 .spec.containers", "10-16 .spec.containers[0]", "12-14 .spec.containers[0].args[1]"}
	if diff := cmp.Diff(wantFolds, folds); diff != "" {
		t.Error(diff)
	}
}
