package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

func decodeTree(t interface{ Fatal(...any) }, text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func diffOf(t interface{ Fatal(...any) }, a, b string) []inspect.Change {
	d := differ{}
	d.values(decodeTree(t, a), decodeTree(t, b))
	if d.err != nil {
		t.Fatal(d.err)
	}
	return d.changes
}

func TestDiffsAreReadable(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       []string
	}{
		{"equal", `{"a":{"b":[1,"x",null]}}`, `{"a":{"b":[1,"x",null]}}`, nil},
		{"fields", `{"a":1,"b":"x","c":true}`, `{"a":2,"c":true,"d":null}`, []string{".a 1 > 2", `.b "x" >`, ".d > null"}},
		{"names", `{"metadata":{"labels":{"app.io/x":"1"}}}`, `{"metadata":{"labels":{"app.io/x":"2"}}}`, []string{`.metadata.labels["app.io/x"] "1" > "2"`}},
		{
			"a container more", `{"c":[{"name":"a","v":1},{"name":"b","v":1}]}`, `{"c":[{"name":"x"},{"name":"a","v":2},{"name":"b","v":1}]}`,
			[]string{`.c[0] > {"name":"x"}`, ".c[1].v 1 > 2"},
		},
		{
			"a container less", `{"c":[{"name":"a","v":1},{"name":"b","v":1}]}`, `{"c":[{"name":"b","v":2}]}`,
			[]string{`.c[0] {"name":"a","v":1} >`, ".c[0].v 1 > 2"},
		},
		{"a finalizer less", `{"f":["a","b","c"]}`, `{"f":["b","c"]}`, []string{`.f[0] "a" >`}},
		{"another order", `{"f":["a","b"]}`, `{"f":["b","a"]}`, []string{`.f[0] "a" > "b"`, `.f[1] "b" > "a"`}},
		{"another kind", `{"a":{"b":1}}`, `{"a":[1]}`, []string{`.a {"b":1} > [1]`}},
		{
			"noise", `{"metadata":{"resourceVersion":"1"},"t":"2026-01-01T00:00:00Z"}`, `{"metadata":{"resourceVersion":"2"},"t":"2026-01-01T00:00:01Z"}`,
			[]string{`.metadata.resourceVersion "1" > "2" noise`, `.t "2026-01-01T00:00:00Z" > "2026-01-01T00:00:01Z" noise`},
		},
		{"a deletion is no noise", `{"metadata":{}}`, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, []string{`.metadata.deletionTimestamp > "2026-01-01T00:00:00Z"`}},
		{"large numbers", `{"a":9007199254740993}`, `{"a":9007199254740992}`, []string{".a 9007199254740993 > 9007199254740992"}},
	} {
		var got []string
		for _, change := range diffOf(t, c.a, c.b) {
			line := change.Path
			if change.From != nil {
				line += " " + string(change.From)
			}
			line += " >"
			if change.To != nil {
				line += " " + string(change.To)
			}
			if change.Noise {
				line += " noise"
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// patch applies changes to a tree; steps are what is left of their paths.
type patch struct {
	steps  []string // ".name" or "[n]"
	change inspect.Change
}

func stepsOf(path string) []string {
	var steps []string
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			quoted, _ := strconv.QuotedPrefix(path[1:])
			name, _ := strconv.Unquote(quoted)
			steps = append(steps, "."+name)
			path = path[len(quoted)+2:]
		case path[0] == '[':
			end := strings.IndexByte(path, ']') + 1
			steps = append(steps, path[:end])
			path = path[end:]
		default:
			end := len(path)
			if n := strings.IndexAny(path[1:], ".["); n >= 0 {
				end = n + 1
			}
			steps = append(steps, path[:end])
			path = path[end:]
		}
	}
	return steps
}

func apply(t *rapid.T, v any, patches []patch) any {
	byStep := map[string][]patch{}
	for _, p := range patches {
		if len(p.steps) == 0 {
			return decodeTree(t, string(p.change.To))
		}
		byStep[p.steps[0]] = append(byStep[p.steps[0]], patch{p.steps[1:], p.change})
	}
	if list, ok := v.([]any); ok {
		return applyToList(t, list, byStep)
	}
	fields := maps.Clone(v.(map[string]any))
	for step, inner := range byStep {
		if len(inner[0].steps) == 0 && inner[0].change.To == nil {
			delete(fields, step[1:])
			continue
		}
		fields[step[1:]] = apply(t, fields[step[1:]], inner)
	}
	return fields
}

// applyToList removes by the places in the older version, then adds and changes
// by those in the newer one.
func applyToList(t *rapid.T, list []any, byStep map[string][]patch) any {
	index := func(step string) int {
		n, err := strconv.Atoi(strings.Trim(step, "[]"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	removed := map[int]bool{}
	rest := map[int][]patch{}
	for step, inner := range byStep {
		for _, p := range inner {
			if len(p.steps) == 0 && p.change.To == nil {
				removed[index(step)] = true
			} else {
				rest[index(step)] = append(rest[index(step)], p)
			}
		}
	}
	kept := []any{}
	for i, v := range list {
		if !removed[i] {
			kept = append(kept, v)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(rest)) {
		if p := rest[i][0]; len(p.steps) == 0 && p.change.From == nil {
			kept = slices.Insert(kept, i, decodeTree(t, string(p.change.To)))
			continue
		}
		kept[i] = apply(t, kept[i], rest[i])
	}
	return kept
}

func drawTree(t *rapid.T, depth int) any {
	kinds := 8
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return json.Number(fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "number")))
	case 2:
		return rapid.SampledFrom([]string{"", "a", "b", "2026-01-01T00:00:00Z"}).Draw(t, "text")
	case 3:
		return rapid.Bool().Draw(t, "bool")
	case 4, 5:
		fields := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			fields[rapid.SampledFrom([]string{"a", "b", "name", "x.y/z", `q"[0]`, ""}).Draw(t, "name")] = drawTree(t, depth-1)
		}
		return fields
	}
	list := []any{}
	named := rapid.Bool().Draw(t, "named")
	for range rapid.IntRange(0, 5).Draw(t, "elements") {
		v := drawTree(t, depth-1)
		if named {
			v = map[string]any{"name": rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "element"), "v": v}
		}
		list = append(list, v)
	}
	return list
}

func TestApplyingADiffGivesTheOtherVersion(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := map[string]any{"root": drawTree(rt, 4)}
		b := map[string]any{"root": drawTree(rt, 4)}
		d := differ{}
		d.values(a, b)
		var patches []patch
		for _, c := range d.changes {
			patches = append(patches, patch{stepsOf(c.Path), c})
		}
		if diff := cmp.Diff(any(b), apply(rt, a, patches)); diff != "" {
			rt.Fatalf("%+v\napplied (-want +got):\n%s", d.changes, diff)
		}
		if len(d.changes) == 0 && !cmp.Equal(a, b) {
			rt.Fatal("no changes between different trees")
		}
	})
}

func TestASecretsDiffTellsOnlyThatSomethingChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := New(s, &corev1.Secret{}, Options{})
		release := must[func()](t)(i.Open())
		before := secret()
		s.Add(before)
		stop := run(i)
		synctest.Wait()
		after := secret()
		after.Data["password"] = []byte("correct horse")
		after.Data["more"] = []byte("battery")
		after.Annotations = map[string]string{"other": "changed"}
		after.Labels = map[string]string{"app": "db"}
		s.Modify(after)
		synctest.Wait()
		b := must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{UID: "u1"}))
		if len(b.Events) != 2 {
			t.Fatalf("biography = %+v", b)
		}
		diff := must[inspect.Diff](t)(i.Diff(t.Context(), inspect.DiffRequest{Key: "ns/db", From: b.Events[0].Version}))
		var hidden []string
		for _, c := range diff.Changes {
			if c.Hidden {
				hidden = append(hidden, c.Path)
				if c.From != nil || c.To != nil {
					t.Errorf("%s tells %s, %s", c.Path, c.From, c.To)
				}
			}
		}
		want := []string{".data.more", ".data.password", `.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`}
		if d := cmp.Diff(want, hidden); d != "" || !diff.Redacted {
			t.Errorf("hidden, redacted %v (-want +got):\n%s", diff.Redacted, d)
		}
		object := must[inspect.Object](t)(i.Object(t.Context(), inspect.ObjectRequest{Key: "ns/db", Version: b.Events[0].Version}))
		text := fmt.Sprint(diff, string(object.JSON), b)
		for _, clear := range []string{"hunter2", "aHVudGVyMg", "Y29ycmVjdC", "YmF0dGVyeQ", "root"} {
			if strings.Contains(text, clear) {
				t.Errorf("%q can be read in %s", clear, text)
			}
		}
		if !strings.Contains(text, `"db"`) {
			t.Errorf("the label that came is not told: %+v", diff.Changes)
		}
		release()
		stop()
		s.Shutdown()
	})
}

func TestWhatASecretsAnnotationsHeldIsHiddenWithThem(t *testing.T) {
	d := differ{secret: true}
	d.values(decodeTree(t, `{"kind":"Secret","metadata":{}}`), decodeTree(t, `{"kind":"Secret","metadata":{"annotations":{"`+lastApplied+`":"clear"}},"data":{"a":"clear"}}`))
	for _, c := range d.changes {
		if !c.Hidden || c.From != nil || c.To != nil {
			t.Errorf("%+v", c)
		}
	}
	if len(d.changes) != 2 {
		t.Errorf("changes = %+v", d.changes)
	}
}

func TestADiffOfWhatIsNotKeptIsNotFound(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		release := must[func()](t)(i.Open())
		synctest.Wait()
		for _, r := range []inspect.DiffRequest{{Key: "ns/p0", From: 12345}, {Key: "ns/nope"}} {
			if _, err := i.Diff(t.Context(), r); !errors.Is(err, inspect.ErrNotFound) {
				t.Errorf("diff of %+v: %v", r, err)
			}
		}
		if diff := must[inspect.Diff](t)(i.Diff(t.Context(), inspect.DiffRequest{Key: "ns/p0"})); diff.Changes == nil || len(diff.Changes) != 0 {
			t.Errorf("a version differs from itself: %+v", diff)
		}
		release()
		stop()
	})
}

func BenchmarkDiff(b *testing.B) {
	for _, size := range []int{10_000, 2_000_000} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			i := New(nil, nil, Options{})
			large := func(last string) *unstructured.Unstructured {
				items := []any{}
				for n := range size / 100 {
					items = append(items, map[string]any{"name": fmt.Sprintf("item-%06d", n), "value": strings.Repeat("x", 60)})
				}
				items[len(items)/2].(map[string]any)["value"] = last
				return &unstructured.Unstructured{Object: map[string]any{"kind": "Big", "apiVersion": "v1", "spec": map[string]any{"items": items}}}
			}
			from, to := large("a"), large("b")
			for b.Loop() {
				before, _, err := i.tree(from)
				if err != nil {
					b.Fatal(err)
				}
				after, _, err := i.tree(to)
				if err != nil {
					b.Fatal(err)
				}
				d := differ{}
				if d.values(before, after); len(d.changes) != 1 {
					b.Fatal(d.changes)
				}
			}
		})
	}
}
