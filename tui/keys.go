package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// canonical returns how a terminal reports the key that text means, or "" if it
// means none.
func canonical(text string) string {
	k, ok := keyNamed(text)
	if !ok {
		return ""
	}
	return k.String()
}

// keyNamed returns the message of the key that text means, also where text is
// not the name by which the message calls itself.
func keyNamed(text string) (msg tea.KeyPressMsg, ok bool) {
	var k tea.Key
	name := text
	for {
		mod, rest, found := strings.Cut(name, "+")
		bit, known := modifiers[strings.ToLower(mod)]
		if !found || !known || rest == "" {
			break
		}
		k.Mod |= bit
		name = rest
	}
	if code, special := specialKeys[strings.ToLower(name)]; special && (utf8.RuneCountInString(name) > 1 || name == " ") {
		if k.Code = code; code == tea.KeySpace && k.Mod == 0 {
			k.Text = " " // what it types
		}
		return tea.KeyPressMsg(k), true
	}
	r, size := utf8.DecodeRuneInString(name)
	if size != len(name) || r == utf8.RuneError || !unicode.IsPrint(r) {
		return tea.KeyPressMsg{}, false
	}
	k.Code = unicode.ToLower(r)
	switch {
	case k.Mod == 0:
		k.Text = name
	case k.Mod == tea.ModShift:
		// With shift alone the terminal reports what is written.
		k.Text = string(unicode.ToUpper(r))
	}
	return tea.KeyPressMsg(k), true
}

var modifiers = map[string]tea.KeyMod{
	"ctrl": tea.ModCtrl, "control": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift,
	"meta": tea.ModMeta, "hyper": tea.ModHyper, "super": tea.ModSuper,
}

var specialKeys = map[string]rune{
	"enter": tea.KeyEnter, "return": tea.KeyEnter, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
	"esc": tea.KeyEscape, "escape": tea.KeyEscape, "space": tea.KeySpace, " ": tea.KeySpace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pageup": tea.KeyPgUp,
	"pgdown": tea.KeyPgDown, "pgdn": tea.KeyPgDown, "pagedown": tea.KeyPgDown,
	"insert": tea.KeyInsert, "delete": tea.KeyDelete, "del": tea.KeyDelete,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
}
