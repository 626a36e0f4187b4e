package tui

import (
	"image/color"
	"math"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// linear returns a colour's red, green and blue as light, 0 to 1.
func linear(c color.Color) (out [3]float64) {
	r, g, b, _ := c.RGBA()
	for i, v := range []uint32{r, g, b} {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			out[i] = x / 12.92
		} else {
			out[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast is that of WCAG 2: 1 to 21.
func contrast(a, b string) float64 {
	luminance := func(text string) float64 {
		c := linear(colorOf(text))
		return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// sights are how people see, as matrices on linear colours: all three kinds of
// cones, no long-wave ones, no middle-wave ones (Machado, Oliveira and Fernandes
// 2009, severity 1).
var sights = map[string][3][3]float64{
	"with all cones":     {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"without red cones":  {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"without green ones": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// difference is how far apart two colours are for who sees so, in CIE L*a*b*: 2
// can just be told apart side by side.
func difference(a, b string, sight [3][3]float64) float64 {
	lab := func(text string) [3]float64 {
		in := linear(colorOf(text))
		var v [3]float64
		for i := range v {
			for j := range in {
				v[i] += sight[i][j] * in[j]
			}
			v[i] = max(min(v[i], 1), 0)
		}
		f := func(t float64) float64 {
			if t > 0.008856 {
				return math.Cbrt(t)
			}
			return 7.787*t + 16.0/116
		}
		x := f((0.4124*v[0] + 0.3576*v[1] + 0.1805*v[2]) / 0.95047)
		y := f(0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2])
		z := f((0.0193*v[0] + 0.1192*v[1] + 0.9505*v[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	p, q := lab(a), lab(b)
	return math.Sqrt(math.Pow(p[0]-q[0], 2) + math.Pow(p[1]-q[1], 2) + math.Pow(p[2]-q[2], 2))
}

func palettes() map[string]struct {
	palette
	backgrounds []string
} {
	type p = struct {
		palette
		backgrounds []string
	}
	return map[string]p{
		"dark":               {darkPalette(), []string{"#000000", "#1e1e1e"}},
		"light":              {lightPalette(), []string{"#ffffff", "#f2f2f2"}},
		"dark, 256 colours":  {dark256(), []string{"#000000", "#1e1e1e"}},
		"light, 256 colours": {light256(), []string{"#ffffff", "#f2f2f2"}},
	}
}

func TestTextStandsOutFromItsBackground(t *testing.T) {
	for name, p := range palettes() {
		text := map[string]string{
			"muted": p.muted, "accent": p.accent, "ok": p.ok, "warn": p.warn, "bad": p.bad,
			"updated": p.updated, "replaced": p.replaced, "synced": p.synced,
		}
		for what, c := range text {
			for _, b := range p.backgrounds {
				if got := contrast(c, b); got < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.1f, want 4.5", name, what, b, got)
				}
			}
			for _, b := range []string{p.selected, p.idle} {
				if got := contrast(c, b); got < 4 {
					t.Errorf("%s: %s in a selected row has a contrast of %.1f, want 4", name, what, got)
				}
			}
		}
		for _, b := range p.backgrounds {
			if got := contrast(p.faint, b); got < 3 {
				t.Errorf("%s: faint on %s has a contrast of %.1f, want 3", name, b, got)
			}
		}
	}
}

// TestColoursAreToldApart by those who do not see red or green, too.
func TestColoursAreToldApart(t *testing.T) {
	for name, p := range palettes() {
		for _, group := range []map[string]string{
			{"ok": p.ok, "warn": p.warn, "bad": p.bad},
			{"added": p.ok, "updated": p.updated, "deleted": p.bad, "replaced": p.replaced},
		} {
			for a, x := range group {
				for b, y := range group {
					for who, sight := range sights {
						if got := difference(x, y, sight); a < b && got < 16 {
							t.Errorf("%s: %s and %s are %.0f apart %s, want 16", name, a, b, got, who)
						}
					}
				}
			}
		}
	}
}

// TestTheSelectedRowStandsOutInEveryTerminal: also where colours are few or none,
// and the text is the same.
func TestTheSelectedRowStandsOutInEveryTerminal(t *testing.T) {
	plainText := ""
	for _, p := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII} {
		for _, dark := range []bool{true, false} {
			u := newUser(t, newFake(20).waiting(4).with(paused), 120, 30)
			u.m.dark = dark
			u.send(tea.ColorProfileMsg{Profile: p})
			u.press("3", "/").types("web").press("enter", "j")
			var out strings.Builder
			w := colorprofile.Writer{Forward: &out, Profile: p}
			if _, err := w.WriteString(u.m.View().Content); err != nil {
				t.Fatal(err)
			}
			row, other := "", ""
			for l := range strings.Lines(out.String()) {
				switch text := ansi.Strip(l); {
				case strings.Contains(text, "▸"):
					row = l
				case strings.Contains(text, "ns-0/web-00000"):
					other = l
				}
			}
			marks := func(l string) bool {
				return strings.Contains(l, "\x1b[7m") || strings.Contains(l, "48;2;") || strings.Contains(l, "48;5;")
			}
			if row == "" || !marks(row) || marks(other) {
				t.Errorf("%v, dark %v: the selected row is %q, another one %q", p, dark, row, other)
			}
			if p <= colorprofile.ASCII && hasColour(out.String()) {
				t.Errorf("without colours there is one: %q", out.String())
			}
			if plainText == "" {
				plainText = ansi.Strip(out.String())
			} else if got := ansi.Strip(out.String()); got != plainText {
				t.Errorf("%v, dark %v: the text is another one:\n%s", p, dark, got)
			}
		}
	}
}

// hasColour says whether anything is coloured: bold, underlined and reversed are
// no colours.
func hasColour(s string) bool {
	for _, m := range colours.FindAllString(s, -1) {
		for _, n := range strings.Split(strings.Trim(m, "\x1b[m"), ";") {
			if n != "" && n != "0" && n != "1" && n != "4" && n != "7" {
				return true
			}
		}
	}
	return false
}

// TestTheSelectedTabsWarningIsOne: its mark has the colour of warnings, turned round
// as the tab is, and not that of the tab; nor is one where nothing is wrong.
func TestTheSelectedTabsWarningIsOne(t *testing.T) {
	for _, p := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII} {
		for _, dark := range []bool{true, false} {
			u := newUser(t, newFake(48211), 120, 30)
			u.m.dark = dark
			u.send(tea.ColorProfileMsg{Profile: p})
			th := u.m.theme
			if mark := string(th.tab) + " 5" + reset + string(th.tabWarn) + "⚠" + reset + string(th.tab) + "Handlers"; !strings.Contains(u.press("5").m.View().Content, mark) {
				t.Errorf("%v, dark %v: the mark of the selected tab is not a warning's", p, dark)
			}
			if strings.Contains(u.press("3").m.View().Content, string(th.tabWarn)+"⚠") {
				t.Errorf("%v, dark %v: a mark in a tab without a warning", p, dark)
			}
			if colours := p > colorprofile.ASCII; colours == (th.tabWarn == th.tab) {
				t.Errorf("%v, dark %v: the mark looks as the tab does: %v", p, dark, !colours)
			}
		}
	}
}
