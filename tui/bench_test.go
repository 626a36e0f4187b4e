package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// crowd is an informer of a million objects, with a long life and a large object.
func crowd() *fake {
	f := newFake(1_000_000).written().lived().waiting(500).requested(256)
	for i := range 500 {
		e := f.lives[0].Events[i%8]
		e.Seq, e.Version = uint64(100+i), uint64(100+i)
		f.lives[0].Events = append(f.lives[0].Events, e)
	}
	data := map[string]any{}
	for i := range 10_000 {
		data[fmt.Sprintf("key-%05d", i)] = strings.Repeat("value ", 30)
	}
	o := object(f.rows[0].Key)
	var err error
	if o.JSON, err = json.Marshal(map[string]any{"kind": "ConfigMap", "data": data}); err != nil {
		panic(err)
	}
	f.objects[f.rows[0].Key] = o
	return f
}

// BenchmarkFrame is one frame taken and drawn: Update and View, without the
// reading, on 200×60 and each screen of an informer of a million objects. The
// object has 10,000 lines and two megabytes.
func BenchmarkFrame(b *testing.B) {
	f := crowd()
	for _, c := range []struct {
		screen string
		keys   []string
	}{
		{"pipeline", []string{"1"}},
		{"queue", []string{"2"}},
		{"waiting", []string{"2", "j", "tab"}},
		{"store", []string{"3"}},
		{"preview", []string{"3", "tab", "G"}},
		{"sorted", []string{"3", "o", "o", "o"}},
		{"filtered", []string{"3", "/", "9", "9", "enter"}},
		{"columns", []string{"3", "w"}},
		{"indices", []string{"4", "enter", "enter"}},
		{"handlers", []string{"5"}},
		{"resync", []string{"6"}},
		{"requests", []string{"7"}},
		{"findings", []string{"8"}},
		{"object", []string{"3", "enter"}},
		{"found", []string{"3", "enter", "/", "9", "9", "enter"}},
		{"diff", []string{"3", "d"}},
		{"biography", []string{"3", "b"}},
	} {
		b.Run(fmt.Sprintf("screen=%s/keys=1000000/size=200x60", c.screen), func(b *testing.B) {
			u := newUser(b, f, 200, 60)
			u.press(c.keys...)
			u.look()
			frame := *u.m.frame
			b.ReportAllocs()
			for b.Loop() {
				frame.seq = u.m.seq
				frame.at = frame.at.Add(33 * time.Millisecond)
				u.m.Update(frameMsg{&frame})
				if u.m.View().Content == "" {
					b.Fatal("nothing was drawn")
				}
			}
		})
	}
}

// BenchmarkKey is one key that moves the selection: Update and View.
func BenchmarkKey(b *testing.B) {
	f := crowd()
	for _, c := range []struct {
		screen string
		keys   []string
	}{{"store", []string{"3"}}, {"object", []string{"3", "enter"}}, {"biography", []string{"3", "b"}}} {
		b.Run(fmt.Sprintf("screen=%s/keys=1000000/size=200x60", c.screen), func(b *testing.B) {
			u := newUser(b, f, 200, 60)
			u.press(c.keys...)
			keys := []tea.KeyPressMsg{keyPress(b, "j"), keyPress(b, "k")}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				u.m.Update(keys[i%2])
				u.m.View()
			}
		})
	}
}

// BenchmarkDocument lays an object of two megabytes and 10,000 lines out. It is
// done off the loop, once a version.
func BenchmarkDocument(b *testing.B) {
	f := crowd()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readDocument(b.Context(), f, objectQuery{key: f.rows[0].Key}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTyping is one key typed into a prompt: Update and View. On the object's
// page it searches 10,000 lines of two megabytes.
func BenchmarkTyping(b *testing.B) {
	f := crowd()
	for _, c := range []struct {
		screen string
		keys   []string
	}{{"store", []string{"3", "/"}}, {"object", []string{"3", "enter", "/"}}, {"command", []string{":"}}} {
		b.Run(fmt.Sprintf("screen=%s/keys=1000000/size=200x60", c.screen), func(b *testing.B) {
			u := newUser(b, f, 200, 60)
			u.press(c.keys...)
			keys := []tea.KeyPressMsg{keyPress(b, "v"), keyPress(b, "a"), keyPress(b, "backspace"), keyPress(b, "backspace")}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				u.m.Update(keys[i%4])
				u.m.View()
			}
		})
	}
}
