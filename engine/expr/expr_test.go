package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// web is a pod with something of every kind in it.
func web() *corev1.Pod {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-0", ResourceVersion: "5", Generation: 3, CreationTimestamp: at,
			Labels:      map[string]string{"app": "web", "topology.kubernetes.io/zone": "eu-1", "empty": ""},
			Annotations: map[string]string{"note": "x"},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: new(true)},
			},
		},
		Spec: corev1.PodSpec{
			NodeName: "n1",
			Containers: []corev1.Container{
				{Name: "main", Image: "web:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 443}}, Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
				}, LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}}},
				{Name: "side", Image: "proxy:2"},
			},
			TerminationGracePeriodSeconds: new(int64(30)),
		},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: "Ready", Status: "True", LastTransitionTime: at}, {Type: "Initialized", Status: "False"}},
		},
	}
}

// loose returns an object as a client without types gets it.
func loose(t testing.TB, obj any) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	return looseOf(fields)
}

func looseOf(fields map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: fields}
}

// values returns what an expression files an object under, sorted.
func values(t testing.TB, c *Compiler, text string, obj any) []string {
	t.Helper()
	fn, err := c.IndexFunc(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fn(obj)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	slices.Sort(got)
	return got
}

// TestAnExpressionSaysTheSameOfEveryProjection: of a typed object and of the same
// one without types.
func TestAnExpressionSaysTheSameOfEveryProjection(t *testing.T) {
	c := New()
	for _, tt := range []struct{ text, want string }{
		{"label:app", "web"},
		{"label:topology.kubernetes.io/zone", "eu-1"},
		{"label:empty", "<empty>"},
		{"label:missing", ""},

		{"{.spec.nodeName}", "n1"},
		{"{$.spec.nodeName}", "n1"},
		{"{ .spec.nodeName }", "n1"},
		{"{.spec.hostname}", ""},
		{"{.spec.nodeName.more}", ""},
		{"{.nothing.at.all}", ""},
		{"{.kind}", "Pod"},
		{"{.metadata.name}", "web-0"},
		{"{.metadata.generation}", "3"},
		{"{.metadata.creationTimestamp}", "2026-01-02T03:04:05Z"},
		{"{.metadata.deletionTimestamp}", ""},
		{"{.metadata.labels.app}", "web"},
		{"{.metadata.labels['app']}", "web"},
		{`{.metadata.labels.topology\.kubernetes\.io/zone}`, "eu-1"},
		{"{.metadata.labels.*}", "<empty> eu-1 web"},
		{"{.metadata.ownerReferences[0].controller}", "true"},
		{"{.spec.containers[*].image}", "proxy:2 web:1"},
		{"{.spec.containers[0].image}", "web:1"},
		{"{.spec.containers[-1].image}", "proxy:2"},
		{"{.spec.containers[2].image}", ""},
		{"{.spec.containers[-3].image}", ""},
		{"{.spec.containers[0:1].image}", "web:1"},
		{"{.spec.containers[0,1].image}", "proxy:2 web:1"},
		{"{.spec.containers[*].ports[*].containerPort}", "443 80"},
		{"{.spec.containers[*].resources.requests.cpu}", "100m"},
		{"{.spec.containers[0].livenessProbe.httpGet.port}", "80"},
		{"{.spec.terminationGracePeriodSeconds}", "30"},
		{"{.spec.hostNetwork}", ""},
		{`{.status.conditions[?(@.type=="Ready")].status}`, "True"},
		{`{.status.conditions[?(@.type=="Nope")].status}`, ""},
		{`{.spec.containers[?(@.ports[0].containerPort==80)].name}`, "main"},
		{"{..image}", "proxy:2 web:1"},
		{"{.spec..containerPort}", "443 80"},

		{"cel:object.spec.nodeName", "n1"},
		{"cel:object.metadata.namespace + '/' + object.metadata.name", "shop/web-0"},
		{"cel:object.spec.containers.map(c, c.image)", "proxy:2 web:1"},
		{"cel:object.spec.containers.size()", "2"},
		{"cel:object.spec.containers.exists(c, c.name == 'side')", "true"},
		{"cel:object.spec.containers[0].ports.map(p, p.containerPort)", "443 80"},
		{"cel:object.spec.containers[0].livenessProbe.httpGet.port", "80"},
		{"cel:object.spec.?hostname", ""},
		{"cel:object.?spec.?nodeName", "n1"},
		{"cel:object.spec.?hostname.orValue('none')", "none"},
		{"cel:has(object.spec.hostname) ? object.spec.hostname : null", ""},
		{"cel:has(object.spec.hostNetwork)", "false"},
		{"cel:object.metadata.labels['topology.kubernetes.io/zone']", "eu-1"},
		{"cel:'app' in object.metadata.labels", "true"},
		{"cel:object.metadata.generation * 2", "6"},
		{"cel:object.metadata.generation > 2.5", "true"},
		{"cel:1.5", "1.5"},
		{"cel:object.status.phase", "Running"},
		{"cel:object.status.phase == 'Running'", "true"},
		{"cel:object.status.conditions.filter(c, c.status == 'True').map(c, c.type)", "Ready"},
		{"cel:object.spec.containers[0].resources.requests.cpu", "100m"},
		{"cel:object.metadata.creationTimestamp", "2026-01-02T03:04:05Z"},
		{"cel:object.metadata.name.lowerAscii().split('-')", "0 web"},
		{"cel:object.spec.containers[0] == object.spec.containers[0]", "true"},
		{"cel:object.spec.containers[0] == object.spec.containers[1]", "false"},
		{"cel:object.metadata.ownerReferences[0].controller", "true"},
		{"cel:object.metadata.map(k, k).filter(k, k in ['name', 'labels'])", "labels name"},
		{"cel:object.metadata.size() > 3", "true"},
		{"cel:[]", ""},
	} {
		for name, obj := range map[string]any{"typed": web(), "unstructured": loose(t, web())} {
			fn, err := c.IndexFunc(tt.text)
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			got, err := fn(obj)
			if err != nil {
				t.Errorf("%s of a %s object: %v", tt.text, name, err)
			}
			slices.Sort(got)
			for i := range got {
				if got[i] == "" {
					got[i] = "<empty>"
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%s of a %s object: %q, want %q", tt.text, name, text, tt.want)
			}
		}
	}
}

func TestMetadataIsEnoughForWhatIsInIt(t *testing.T) {
	c := New()
	partial := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: web().ObjectMeta,
	}
	for text, want := range map[string]string{
		"label:app":                "[web]",
		"{.metadata.labels.app}":   "[web]",
		"{.kind}":                  "[Pod]",
		"{.spec.nodeName}":         "[]",
		"cel:object.metadata.name": "[web-0]",
		"cel:object.?spec.?node":   "[]",
	} {
		if got := fmt.Sprint(values(t, c, text, partial)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestWhatIsWrongIsSaidWithThePlaceAndTheRemedy(t *testing.T) {
	c := New()
	for _, tt := range []struct {
		text   string
		column int
		want   string
	}{
		{"", 1, "begin with label:"},
		{"zone", 1, "begin with label:"},
		{" label:app", 1, "remove the space before it"},
		{".spec.nodeName", 1, "a JSONPath stands in braces: {.spec.nodeName}"},
		{"spec.nodeName", 1, "a JSONPath begins with a dot and stands in braces: {.spec.nodeName}"},
		{"object.spec.nodeName", 1, "a CEL expression begins with cel:, as in cel:object.spec.nodeName"},
		{"\xff", 1, "it is not UTF-8"},
		{strings.Repeat("x", 5000), 1, "it is longer than 4096 bytes"},

		{"label:", 7, "it names no label"},
		{"label:app=web", 10, `write label:app, and look into the bucket "web"`},
		{"label:a b", 7, "no object can have this label: name part must consist of"},

		{"{", 2, "not a JSONPath: unclosed action"},
		{"{.spec", 7, "not a JSONPath: unclosed action"},
		{"{}", 2, "it names no field"},
		{"{.}", 2, "it names no field"},
		{"{spec.nodeName}", 2, "a path begins with a dot: {.spec}"},
		{"{range .items[*]}{.a}{end}", 18, "an index takes one path"},
		{"{.a}/{.b}", 5, "an index takes one path and no text beside it; cel: can put several together"},
		{"{'text'}", 2, "this is a constant"},
		{"{.spec.containers[x]}", 19, "not a JSONPath: invalid array index x"},
		{"{.spec.containers[0}", 18, "not a JSONPath: unterminated array"},
		{"{.spec.(}", 0, ""},
		{`{.a[?(@.b=="c"}`, 4, "not a JSONPath: unterminated filter"},
		{"{.a....b}", 4, "not a JSONPath: invalid multiple recursive descent"},
		{"{.metadata.labels['app.kubernetes.io/name']}", 18, "in ['...'] a dot ends a field's name all the same"},

		{"cel:", 5, "there is nothing after cel:"},
		{"cel:object.spec.", 17, "Syntax error"},
		{"cel:1+", 7, "something is missing at the end"},
		{"cel:object.spec\n  .nodeName ==", 31, "Syntax error"},
		{"cel:self.spec", 5, "undeclared reference to 'self'; the object is called object"},
		{"cel:nodeName", 5, "fields are reached through object"},
		{"cel:'é' + objekt", 11, "undeclared reference to 'objekt'"},
		{"cel:object.spec == {}", 0, ""},
		{"cel:{'a': 'b'}", 5, "it gives a map(string, string); write one that gives a string, number or bool, or a list of them"},
		{"cel:timestamp('2026-01-01T00:00:00Z')", 5, "it gives a"},
		{"cel:[['a']]", 5, "it gives a list(list(string))"},
		{"cel:'a' + 1", 9, "found no matching overload for '_+_'"},
	} {
		_, err := c.IndexFunc(tt.text)
		if tt.column == 0 {
			if err != nil {
				t.Errorf("%q: %v", tt.text, err)
			}
			continue
		}
		var e *Error
		if !errors.As(err, &e) || e.Column != tt.column || !strings.Contains(e.Reason, tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v\nwant column %d: %s", tt.text, err, tt.column, tt.want)
		}
	}
}

func TestWhatAnExpressionCannotCopeWithIsSaid(t *testing.T) {
	c := New()
	for text, want := range map[string]string{
		"{.metadata.labels}":            "{.metadata.labels} leads to an object; name a field in it, or take all with .*",
		"{.spec}":                       "{.spec} leads to an object",
		"{.spec.containers}":            "{.spec.containers} leads to a list; take its elements with [*]",
		"{.spec[0].x}":                  "{.spec[0].x}: there is an object where a list is expected",
		"{.spec.nodeName[*]}":           "there is a text where a list is expected",
		"cel:object.spec.hostname":      "no such key: hostname; where it may be missing, write .?hostname",
		"cel:object.spec":               "it gave a map; it has to give a string, number or bool, or a list of them",
		"cel:[object.spec.containers]":  "it gave a list; it has to give",
		"cel:object.metadata.name + 1":  "no such overload",
		"cel:object.spec.containers[7]": "index out of bounds: 7",
		"cel:[1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, [1,2,3,4,5,6,7,8,9,10].map(c, [1,2,3,4,5,6,7,8,9,10].map(d, [1,2,3,4,5,6,7,8,9,10].map(e, object.metadata.name + 'x'))))).size()": "it takes more than 100000 steps",
	} {
		for name, obj := range map[string]any{"typed": web(), "unstructured": loose(t, web())} {
			fn, err := c.IndexFunc(text)
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			if got, err := fn(obj); err == nil || !strings.Contains(err.Error(), want) || got != nil {
				t.Errorf("%s of a %s object: %q, %v; want an error about %s", text, name, got, err, want)
			}
		}
	}
}

func TestConditionsSeeAnObjectAndTheOneBefore(t *testing.T) {
	c := New()
	before, after := web(), web()
	after.Spec.NodeName = "n2"
	for _, tt := range []struct {
		text     string
		obj, old any
		want     bool
	}{
		{"cel:object.spec.nodeName == 'n2'", after, before, true},
		{"cel:object.spec.nodeName != oldObject.spec.nodeName", after, before, true},
		{"cel:object.spec.nodeName != oldObject.spec.nodeName", before, before, false},
		{"cel:oldObject == null", after, nil, true},
		{"cel:oldObject == null", after, before, false},
		{"cel:object == null", nil, before, true},
		{"cel:object != oldObject", after, before, true},
		{"cel:object == oldObject", loose(t, before), before, true},
	} {
		holds, err := c.Predicate(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := holds(tt.obj, tt.old); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v; want %v", tt.text, got, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		"label:app":   "a condition is written in CEL",
		"cel:'text'":  "it gives a string; write one that gives a bool",
		"cel:object.": "Syntax error",
	} {
		var e *Error
		if _, err := c.Predicate(text); !errors.As(err, &e) || !strings.Contains(e.Reason, want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	holds, err := c.Predicate("cel:object.spec.nodeName")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holds(after, nil); err == nil || err.Error() != "it gave a string, not a bool" {
		t.Errorf("a condition that gives no bool: %v", err)
	}
	// What is only declared for conditions is not there for an index.
	if _, err := c.IndexFunc("cel:oldObject.metadata.name"); err == nil {
		t.Error("an index sees an object before the object")
	}
}

func TestExpressionsDoNotWriteToObjects(t *testing.T) {
	c := New()
	obj, untyped := web(), loose(t, web())
	for _, text := range []string{"label:app", "{..image}", "{.spec.containers[*].image}", `{.status.conditions[?(@.type=="Ready")].status}`, "cel:object.spec.containers.map(c, c.image)"} {
		values(t, c, text, obj)
		values(t, c, text, untyped)
	}
	if diff := cmp.Diff(web(), obj); diff != "" {
		t.Errorf("the object has changed:\n%s", diff)
	}
	if diff := cmp.Diff(loose(t, web()), untyped); diff != "" {
		t.Errorf("the unstructured object has changed:\n%s", diff)
	}
}

func TestTheFormsAreWhatTheCompilerTakes(t *testing.T) {
	for _, f := range Forms() {
		if _, err := New().IndexFunc(f.Example); err != nil || !strings.HasPrefix(f.Example, f.Prefix) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
