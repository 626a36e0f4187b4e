package tui

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// BenchmarkFrame is one frame taken and drawn: Update and View, without the
// reading, on 200×60 and each screen.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		screen string
		keys   []string
	}{
		{"pipeline", []string{"1"}},
		{"queue", []string{"2"}},
		{"store", []string{"3"}},
		{"indices", []string{"4", "enter", "enter"}},
		{"handlers", []string{"5"}},
		{"resync", []string{"6"}},
		{"requests", []string{"7"}},
		{"findings", []string{"8"}},
		{"object", []string{"3", "enter"}},
	} {
		b.Run(fmt.Sprintf("screen=%s/size=200x60", c.screen), func(b *testing.B) {
			u := newUser(b, newFake(2000).waiting(500).requested(256), 200, 60)
			u.press(c.keys...)
			u.look()
			f := *u.m.frame
			b.ReportAllocs()
			for b.Loop() {
				f.seq = u.m.seq
				f.at = f.at.Add(33 * time.Millisecond)
				u.m.Update(frameMsg{&f})
				if u.m.View().Content == "" {
					b.Fatal("nothing was drawn")
				}
			}
		})
	}
}

// BenchmarkKey is one key that moves the selection: Update and View.
func BenchmarkKey(b *testing.B) {
	m := NewModel(context.Background(), Options{Process: newFake(2000), Keymap: defaultKeymap(b)})
	u := &user{tb: b, m: m}
	u.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	u.look()
	u.press("3")
	keys := []tea.KeyPressMsg{keyPress(b, "j"), keyPress(b, "k")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Update(keys[i%2])
		m.View()
	}
}
