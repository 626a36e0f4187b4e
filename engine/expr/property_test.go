package expr

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/jsonpath"
	"pgregory.net/rapid"
)

// examples are types whose JSON is not what their fields look like, in one way or
// another.
var examples = []runtime.Object{
	&corev1.Pod{},
	&corev1.Node{},
	&corev1.Service{},
	&corev1.Secret{},
	&corev1.Event{},
	&corev1.PersistentVolume{},
	&appsv1.Deployment{},
	&appsv1.ControllerRevision{},
	&batchv1.CronJob{},
	&networkingv1.NetworkPolicy{},
	&metav1.PartialObjectMetadata{},
}

// drawObject returns an object with something in every field.
func drawObject(t *rapid.T) runtime.Object {
	example := rapid.SampledFrom(examples).Draw(t, "type")
	obj := reflect.New(reflect.TypeOf(example).Elem()).Interface().(runtime.Object)
	seed := rapid.Int64().Draw(t, "seed")
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), serializer.NewCodecFactory(scheme.Scheme))
	filler.MaxDepth(30).NumElements(0, 3).Fill(obj)
	return obj
}

// TestTheViewIsWhatConversionGives reads whole objects through the view.
func TestTheViewIsWhatConversionGives(t *testing.T) {
	v := &view{}
	rapid.Check(t, func(t *rapid.T) {
		obj := drawObject(t)
		want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			t.Skip(err)
		}
		rv, err := v.root(obj)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.plain(rv)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Fatalf("%T (-conversion +view):\n%s", obj, diff)
		}
	})
}

// drawPath goes down an object at random and writes the way, now and then leaving
// it.
func drawPath(t *rapid.T, value any) string {
	path := "{"
	for range 8 {
		switch v := value.(type) {
		case map[string]any:
			names := []string{"*", "missing"}
			for name := range v {
				if plainWord(name) {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			name := rapid.SampledFrom(names).Draw(t, "field")
			path += "." + name
			if value = v[name]; name == "*" {
				for _, first := range names {
					if value = v[first]; value != nil {
						break
					}
				}
			}
		case []any:
			i := rapid.IntRange(-len(v)-1, len(v)).Draw(t, "element")
			path += rapid.SampledFrom([]string{fmt.Sprintf("[%d]", i), "[*]", "[0:1]", "[0,1]"}).Draw(t, "how")
			if len(v) == 0 {
				return path + "}"
			}
			value = v[(i+2*len(v))%len(v)]
		default:
			return path + "}"
		}
	}
	return path + "}"
}

func plainWord(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return name != ""
}

// TestAPathLeadsWhereJSONPathSaysItDoes compares with jsonpath on the converted
// object: typed and untyped, whatever the path.
func TestAPathLeadsWhereJSONPathSaysItDoes(t *testing.T) {
	c := New()
	rapid.Check(t, func(t *rapid.T) {
		obj := drawObject(t)
		converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			t.Skip(err)
		}
		text := drawPath(t, converted)
		fn, err := c.IndexFunc(text)
		if err != nil {
			t.Skip(err) // {} of an empty object
		}
		ofTyped, typedErr := fn(obj)
		ofUntyped, untypedErr := fn(looseOf(converted))
		slices.Sort(ofTyped)
		slices.Sort(ofUntyped)
		if (typedErr != nil) != (untypedErr != nil) || !slices.Equal(ofTyped, ofUntyped) {
			t.Fatalf("%s of the %T: typed %q, %v; untyped %q, %v", text, obj, ofTyped, typedErr, ofUntyped, untypedErr)
		}
		want, wantErr, known := oracle(text, converted)
		if known && (wantErr != (typedErr != nil) || !slices.Equal(ofTyped, want)) {
			t.Fatalf("%s of the %T: %q, %v; want %q, an error: %v", text, obj, ofTyped, typedErr, want, wantErr)
		}
	})
}

// oracle is what jsonpath finds, as sorted texts; failed where a list is expected
// and none is, or where there is no text for what was found. It is not known where
// a list is too short, see path.
func oracle(text string, converted map[string]any) (values []string, failed, known bool) {
	j := jsonpath.New("oracle").AllowMissingKeys(true)
	if err := j.Parse(text); err != nil {
		return nil, true, true
	}
	found, err := j.FindResults(withoutEmpty(converted))
	if err != nil {
		return nil, true, !outOfBounds(err)
	}
	for _, rv := range found[0] {
		if !rv.IsValid() {
			continue
		}
		switch value := rv.Interface().(type) {
		case nil, uint8: // a text's bytes
		case map[string]any, []any:
			return nil, true, true
		default:
			values = append(values, textOf(value))
		}
	}
	slices.Sort(values)
	return values, false, true
}

// withoutEmpty returns a value with null for every empty list in it.
func withoutEmpty(value any) any {
	switch value := value.(type) {
	case []any:
		if len(value) == 0 {
			return nil
		}
		list := make([]any, len(value))
		for i := range value {
			list[i] = withoutEmpty(value[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(value))
		for name := range value {
			object[name] = withoutEmpty(value[name])
		}
		return object
	}
	return value
}

// TestFunctionsMayBeCalledFromSeveralGoroutines: by the race detector's word.
func TestFunctionsMayBeCalledFromSeveralGoroutines(t *testing.T) {
	c := New()
	typed, untyped := web(), loose(t, web())
	var calls sync.WaitGroup
	for _, text := range []string{"label:app", "{.spec.nodeName}", "{..image}", `{.status.conditions[?(@.type=="Ready")].status}`, "cel:object.spec.containers.map(c, c.image)"} {
		fn, err := c.IndexFunc(text)
		if err != nil {
			t.Fatal(err)
		}
		want := values(t, c, text, typed)
		for n := range 4 {
			calls.Go(func() {
				for range 50 {
					var obj any = typed
					if n%2 == 0 {
						obj = untyped
					}
					got, err := fn(obj)
					slices.Sort(got)
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("%s: %q, %v; want %q", text, got, err, want)
					}
				}
			})
		}
	}
	calls.Wait()
}

// FuzzCompile: no text panics, neither when it is compiled nor when it is asked,
// and what compiles says the same of both projections.
func FuzzCompile(f *testing.F) {
	c := New()
	for _, form := range Forms() {
		f.Add(form.Example)
	}
	for _, text := range []string{
		"", "{", "{.a", "{}", "{..a}", "{.a[?(@.b==\"c\")].d}", "{.a[0:1:2]}", "{['a.b']}", "{range .a}{end}", "{.a['b','c']}", "{.*.*}", "{.a[-1]}",
		"cel:", "cel:object", "cel:object.?a.?b", "cel:[object.metadata.name]", "cel:object.metadata.labels.map(k, k)", "cel:1/0", "label:a=b", "label:é",
	} {
		f.Add(text)
	}
	typed := web()
	untyped := loose(f, typed)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := c.Predicate(text); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		fn, err := c.IndexFunc(text)
		if err != nil {
			return
		}
		ofTyped, typedErr := fn(typed)
		ofUntyped, untypedErr := fn(untyped)
		if (typedErr != nil) != (untypedErr != nil) {
			t.Fatalf("%q: typed %v, untyped %v", text, typedErr, untypedErr)
		}
		slices.Sort(ofTyped)
		slices.Sort(ofUntyped)
		if !slices.Equal(ofTyped, ofUntyped) {
			t.Fatalf("%q: typed %q, untyped %q", text, ofTyped, ofUntyped)
		}
	})
}
