package expr

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// BenchmarkIndexFunc measures one call of each form on a pod, and what converting
// the pod would cost.
func BenchmarkIndexFunc(b *testing.B) {
	c := New()
	typed := web()
	objects := map[string]any{"typed": typed, "unstructured": loose(b, typed)}
	for _, text := range []string{
		"label:app",
		"{.spec.nodeName}",
		"{.spec.containers[*].image}",
		`{.status.conditions[?(@.type=="Ready")].status}`,
		"cel:object.spec.nodeName",
		"cel:object.metadata.labels['app']",
		"cel:object.spec.containers.map(c, c.image)",
	} {
		for _, kind := range []string{"typed", "unstructured"} {
			fn, err := c.IndexFunc(text)
			if err != nil {
				b.Fatal(err)
			}
			b.Run("object="+kind+"/expr="+text, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if values, err := fn(objects[kind]); err != nil || len(values) == 0 {
						b.Fatal(values, err)
					}
				}
			})
		}
	}
	b.Run("object=typed/expr=none/convert=whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCompile measures what adding an index costs before it is filled.
func BenchmarkCompile(b *testing.B) {
	c := New()
	for _, f := range Forms() {
		b.Run("expr="+f.Example, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.IndexFunc(f.Example); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("expr=none/compiler=new", func(b *testing.B) {
		for b.Loop() {
			New()
		}
	})
}
