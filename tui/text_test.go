package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

func TestNumbersHaveSeparators(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 48211: "48,211", 123456: "123,456", 1234567: "1,234,567", -1: "-1", -1000: "-1,000", -123456: "-123,456"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestRatesAndShares(t *testing.T) {
	for r, want := range map[float64]string{0: "0", 0.04: "0", 0.05: "0.1", 2.34: "2.3", 9.94: "9.9", 9.96: "10", 1204.4: "1,204"} {
		if got := rate(r); got != want {
			t.Errorf("rate(%v) = %q, want %q", r, got, want)
		}
	}
	for _, c := range []struct {
		part, whole int
		want        string
	}{{0, 0, "0%"}, {0, 5, "0%"}, {1, 1000, "<1%"}, {999, 1000, "99%"}, {3, 1000, "<1%"}, {7, 1000, "1%"}, {56, 182, "31%"}, {44, 182, "24%"}, {42, 182, "23%"}, {40, 182, "22%"}, {1326, 1506, "88%"}, {180, 1506, "12%"}, {5, 5, "100%"}} {
		if got := percent(c.part, c.whole); got != c.want {
			t.Errorf("percent(%d, %d) = %q, want %q", c.part, c.whole, got, c.want)
		}
	}
}

func TestCleanLeavesNothingATerminalObeys(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"größe 世界":                 "größe 世界",
		"\x1b[31mred\x1b[0m":       "�[31mred�[0m",
		"\x1b]0;title\x07":         "�]0;title�",
		"a\r\nb\tc":                "a  b c",
		"user\u202egnp.exe":        "user<202e>gnp.exe", // right-to-left override
		"zero\u200bwidth\u2066iso": "zero<200b>width<2066>iso",
		"c1 \u009b31m":             "c1 �31m",
		"bad \xff\xfe utf8":        "bad �� utf8",
		"flag\ufe0f":               "flag<fe0f>",
		"warn \u26a0\ufe0f":        "warn \u26a0",
		"👩\u200d👩\u200d👧 👍🏽 ❤\ufe0f ©\ufe0f":           "👩👩👧 👍 ❤ ©",
		"e\u0301 ｗ 한 ก\u0e33":                          "e\u0301 ｗ 한 ก\u0e4d\u0e32", // both spell am
		"ｶ\uff9eAﾟ":                                    "ｶ\u309bA\u309c",
		"\u0939\u093f a\u0903":                         "\u0939<093f> a<0903>",
		"\u0915\u094d\u0937\u0924\u094d":               "\u0915<094d>\u0937\u0924\u094d",
		"🇩🇪 🇫":                                         "🇩🇪 <1f1eb>",
		"\u1112\u1161\u11ab \u1112\u1161 \u1112\u1112": "한 하 \u1112<1112>",
		"\u0d4ea":                        "<0d4e>a",
		"\u0645\u06cc\u200c\u062e":       "\u0645\u06cc<200c>\u062e",
		"blank\u2800\u3164\u00ad":        "blank<2800><3164><00ad>",
		"\ue0b0\U000e0041":               "<e0b0><e0041>",
		"nul\x00bell\x07back\x08del\x7f": "nul�bell�back�del�",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		out := clean(string(rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes")) + rapid.String().Draw(t, "text"))
		for _, r := range out {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q is left in %q", r, out)
			}
		}
		if clean(out) != out {
			t.Fatalf("cleaning %q again changes it", out)
		}
	})
}

// TestTerminalsAgreeOnTheWidthOfCleanText: whether they count characters or what
// a reader takes for one.
func TestTerminalsAgreeOnTheWidthOfCleanText(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a1世👩👍🏽⚠❤©\u200d\ufe0f\ufe0e\u20e3\u0301\u200bｗ한ｶ\uff9eกำ\u0903\u0915\u094d\u0937🇩🇪ᄒ\u1161\u11ab\u0d4e"))))
	rapid.Check(t, func(t *rapid.T) { agreed(t, texts.Draw(t, "text")) })
}

// TestTerminalsAgreeOnEveryCharacter takes each one by itself and after, before
// and between others.
func TestTerminalsAgreeOnEveryCharacter(t *testing.T) {
	around := []string{"%c", "a%ca", "世%[1]c%[1]c", "\u0915\u094d%c\u0937", "한%c\u0301", "👩%c"}
	many := []*unicode.RangeTable{unicode.Han, unicode.Hangul, unicode.Tangut, unicode.Co, unicode.Cs}
	for r := ' '; r <= 0x1ffff; r++ {
		if r%29 != 0 && r > 0x11ff && unicode.In(r, many...) {
			continue // one is like the other
		}
		for _, s := range around {
			agreed(t, fmt.Sprintf(s, r))
		}
	}
}

// agreed fails unless both ways in which terminals count come to the same.
func agreed(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string,
) {
	t.Helper()
	s = clean(s)
	if clusters, runes := ansi.StringWidth(s), ansi.StringWidthWc(s); clusters != runes {
		t.Fatalf("%q is %d or %d cells wide", s, clusters, runes)
	}
}

func TestWhatAFilterFoundIsMarked(t *testing.T) {
	draw := func(s, filter string, w int) string {
		f, err := inspect.ParseFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		out := newLine(w).found("", "<", s, f.Highlights(s), w).String()
		return strings.TrimRight(strings.ReplaceAll(out, reset, ">"), " ")
	}
	for _, c := range []struct {
		s, filter string
		w         int
		want      string
	}{
		{"shop/web-0", "web", 20, "shop/<web>-0"},
		{"shop/web-0", "WEB", 20, "shop/<web>-0"},
		{"shop/web-0", "-f sw0", 20, "<s>hop/<w>eb-<0>"},
		{"shop/web-0", "!db", 20, "shop/web-0"},
		{"shop/web-0", "/w.*/", 20, "shop/<web-0>"},
		{"checkout/payments-829f447e6-7ck7z", "7e6", 20, "checkout/p…<7e6>-7ck7z"},
		{"checkout/payments-829f447e6-7ck7z", "payments", 20, "checkout/<p>…7e6-7ck7z"},
		{"größe/世界-1", "世", 20, "größe/<世>界-1"},
		{"a\u202eb/web", "web", 20, "a<202e>b/<web>"},
		{"ｶ\uff9e-\u0939\u093f-web", "-", 20, "ｶ\u309b<->\u0939<093f><->web"},
	} {
		if got := draw(c.s, c.filter, c.w); got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.filter, c.s, got, c.want)
		}
	}
}

func TestErrorsKeepTheirCause(t *testing.T) {
	lines := wrap(strings.Repeat("words in front ", 20)+"connection refused", 30, 3)
	if len(lines) != 3 || !strings.HasSuffix(lines[2], "refused") {
		t.Errorf("wrap lost the cause: %q", lines)
	}
	for _, l := range append(lines, wrap(strings.Repeat("x", 500), 30, 2)...) {
		if width(l) > 30 {
			t.Errorf("%q is wider than 30", l)
		}
	}
}

func TestKeysAreCutInside(t *testing.T) {
	key := "checkout/payments-829f447e6-7ck7z"
	if got := cutKey(key, 20); got != "checkout/p…7e6-7ck7z" {
		t.Errorf("cutKey = %q", got)
	}
	if got := cutKey(key, 40); got != key {
		t.Errorf("cutKey cut what fits: %q", got)
	}
}

// TestALineIsAsWideAsItSays draws anything at any width.
func TestALineIsAsWideAsItSays(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "plain", strings.Repeat("k", 253), "世界世界世界", "e\u0301e\u0301", "\x1b[1mx", "👩\u200d👩\u200d👧", "🇩🇪🇫🇷", "a\u202eb", "ｗｉｄｅ", "\U000e0041",
	}))
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(0, 40).Draw(t, "width")
		l := newLine(w)
		th := newTheme(true)
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			s, n := texts.Draw(t, "text"), rapid.IntRange(0, 20).Draw(t, "field")
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				l.put(th.bad, s)
			case 1:
				l.left(th.ok, s, n)
			case 2:
				l.right("", s, n)
			case 3:
				l.key(th.accent, s, n)
			case 4:
				l.skip(n)
			case 6:
				f, _ := inspect.ParseFilter(texts.Draw(t, "filter"))
				l.found(th.ok, th.match, s, f.Highlights(s), n)
			case 5:
				l.segments(2, seg(1, th.muted, s), seg(0, "", s), segment{parts: []part{{"", s}}, field: n})
			}
		}
		if got := ansi.StringWidth(l.String()); got != w {
			t.Fatalf("%q is %d cells wide, want %d", l.String(), got, w)
		}
		if ascii := toASCII(l.String(), w); ansi.StringWidth(ascii) != w || !plain(ansi.Strip(ascii)) {
			t.Fatalf("in ASCII %q is not %d cells wide, or not ASCII", ascii, w)
		}
	})
}

// TestColoursAreOnlyInTheTheme keeps colour literals out of the screens.
func TestColoursAreOnlyInTheTheme(t *testing.T) {
	colour := regexp.MustCompile(`"#[0-9a-fA-F]{3,8}"|Foreground|Background\(|BackgroundColor\(|\\x1b\[|lipgloss`)
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if file == "theme.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if at := colour.FindString(string(text)); at != "" {
			t.Errorf("%s has %s: colours belong in theme.go", file, at)
		}
	}
	if text, err := os.ReadFile("theme.go"); err != nil || !colour.Match(text) {
		t.Error("the search finds no colour in theme.go either", err)
	}
}

// TestALineIsCutWhereItsCellsEnd cuts drawn lines as the terminal would.
func TestALineIsCutWhereItsCellsEnd(t *testing.T) {
	th := newTheme(true)
	texts := rapid.SampledFrom([]string{"plain text", "█━│ box…", "größe – ", "世界", "e\u0301", "⚠ 👩", ""})
	rapid.Check(t, func(t *rapid.T) {
		drawn := newLine(rapid.IntRange(0, 40).Draw(t, "drawn"))
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			drawn.put(rapid.SampledFrom([]style{"", th.bad, th.selected}).Draw(t, "style"), texts.Draw(t, "text"))
		}
		s, w := drawn.String(), rapid.IntRange(0, 50).Draw(t, "width")
		want := newLine(w).put("", ansi.Strip(ansi.Cut(s, 0, w))).String()
		if got := ansi.Strip(newLine(w).slice(s, 0).String()); got != want {
			t.Fatalf("%q in %d cells is %q, want %q", s, w, got, want)
		}
	})
}
