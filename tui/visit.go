package tui

// visit is where somebody was when a row led to another screen, such as from a
// bucket that holds an object to that bucket: esc goes back there.
type visit struct {
	screen screenID
	object *objectScreen // the pages of a key that lay over it; nil if none did
	// landed says that the other screen stands as it was come to, so that one step
	// back from there leads here; nil for one that was come to at its top.
	landed func() bool
}

// visitsKept is how many steps back are remembered.
const visitsKept = 32

// lead shows a screen that a row leads to. Whoever goes there by its number has
// not come from anywhere.
func (m *Model) lead(to screenID, landed func() bool) {
	visits := append(m.visits, visit{m.current, m.object, landed})
	m.show(to)
	m.visits = visits[max(len(visits)-visitsKept, 0):]
}

// comeBack goes back to where a row led from, if the screen stands as it was come
// to, or at its top.
func (m *Model) comeBack(atTop bool) bool {
	n := len(m.visits)
	if n == 0 {
		return false
	}
	v := m.visits[n-1]
	if !atTop && (v.landed == nil || !v.landed()) {
		return false
	}
	m.visits, m.current, m.object = m.visits[:n-1], v.screen, v.object
	m.setSizes()
	return true
}
