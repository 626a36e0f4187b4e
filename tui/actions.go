package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// press takes a key: what is typed goes to the prompt, the rest becomes an
// action.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	m.dirty = true
	m.presses++
	m.note, m.failed = "", false
	if m.prompt != nil {
		return m.typed(msg)
	}
	return m.act(m.keymap.Resolve(m.top().scope(), msg))
}

// act does what holds everywhere, and leaves the rest to the screen on top.
func (m *Model) act(a Action) tea.Cmd {
	switch a {
	case ActionNone:
		return nil
	case ActionQuit:
		return tea.Quit
	case ActionSuspend:
		return m.suspend()
	case ActionClose:
		if !m.back() {
			return tea.Quit
		}
		return nil
	case ActionBack:
		m.back()
		return nil
	case ActionHelp:
		m.toggleHelp()
		return nil
	case ActionCommand:
		m.askCommand("")
		return nil
	case ActionCopy:
		return m.copy()
	case ActionSave:
		m.askSave()
		return nil
	case ActionNextMatch, ActionPreviousMatch:
		return m.nextMatch(a)
	case ActionFilter:
		if f, ok := m.top().(filtered); ok {
			m.askFilter(f)
		}
		return nil
	}
	if m.overlay != nil {
		return m.overlay.handle(a)
	}
	if m.columns != nil {
		return m.columns.handle(a)
	}
	if id := slices.Index(screenActions(), a); id >= 0 {
		m.show(screenID(id))
		return nil
	}
	switch a {
	case ActionFreeze:
		return m.freeze()
	case ActionColumns:
		m.openColumns()
		return nil
	case ActionNextInformer:
		m.cycle(1)
		return nil
	case ActionPreviousInformer:
		m.cycle(-1)
		return nil
	}
	return m.top().handle(a)
}

// screenActions are the actions that show a screen, by its number.
func screenActions() []Action {
	return []Action{
		screenInformers: ActionInformers, screenPipeline: ActionPipeline, screenQueue: ActionQueue, screenStore: ActionStore,
		screenIndices: ActionIndices, screenHandlers: ActionHandlers, screenResync: ActionResync, screenRequests: ActionRequests,
		screenFindings: ActionFindings,
	}
}

// exists says whether a screen is there: the list of informers only where there
// are several.
func (m *Model) exists(s screenID) bool { return s != screenInformers || len(m.summaries) > 1 }

// show switches to a screen, and closes what was open over the old one.
func (m *Model) show(s screenID) {
	if !m.exists(s) {
		m.note = "there is only one informer"
		return
	}
	m.overlay, m.object, m.columns, m.current, m.visits = nil, nil, nil, s, nil
}

// back goes one level up: it closes what is on top, or what the screen has
// open. It returns false at the top.
func (m *Model) back() bool {
	switch {
	case m.overlay != nil:
		if !m.overlay.back() {
			m.overlay = nil
		}
	case m.columns != nil:
		m.columns = nil
	case m.object != nil:
		m.keepFilter(m.object)
		if !m.object.back() {
			m.object = nil
		}
	default:
		if m.comeBack(false) {
			return true
		}
		m.keepFilter(m.screens[m.current])
		return m.screens[m.current].back() || m.comeBack(true)
	}
	return true
}

// openOverlay shows a screen over everything.
func (m *Model) openOverlay(s screen) {
	m.overlay = s
	m.setSizes()
}

func (m *Model) toggleHelp() {
	if _, open := m.overlay.(*helpScreen); open {
		m.overlay = nil
		return
	}
	m.openHelp("")
}

// openHelp shows the help, from one of its titles on.
func (m *Model) openHelp(title string) {
	of := m.screens[m.current].scope()
	if m.object != nil {
		of = m.object.scope()
	}
	h := newHelpScreen(m, of)
	m.openOverlay(h)
	h.turnTo(title)
}

// freeze stops and starts following the informer.
func (m *Model) freeze() tea.Cmd {
	m.frozen = !m.frozen
	if m.frozen {
		m.cancel()
		m.seq++ // whatever is still being read comes too late
		return nil
	}
	return m.pullNow()
}

// cycle looks at the next informer, or the one before.
func (m *Model) cycle(n int) {
	for i, s := range m.summaries {
		if s.Name == m.informer {
			m.look(m.summaries[(i+n+len(m.summaries))%len(m.summaries)].Name)
			return
		}
	}
}

// look looks at another informer.
func (m *Model) look(name string) {
	if name == m.informer {
		return
	}
	m.informer, m.object, m.columns, m.frozen = name, nil, nil, false
	m.clear()
	m.frame = &frame{request: request{informer: name}, read: m.frame.read}
	m.setSizes()
}

// openObject shows the object under key over the current screen.
func (m *Model) openObject(key string) { m.openPage(key, pageYAML) }

// openPage shows one of the pages of a key over the current screen.
func (m *Model) openPage(key string, page keyPage) {
	m.object, m.columns = newObjectScreen(m, key, page), nil
	m.setSizes()
}

// openUID shows the biography of the key that an object of that UID has or had.
func (m *Model) openUID(uid string) {
	m.openPage("", pageBiography)
	m.object.uid = uid
}

// openBucket shows one bucket of an index on the Indices screen.
func (m *Model) openBucket(index, value string) {
	p := m.screens[screenIndices].(*indicesScreen)
	m.lead(screenIndices, func() bool {
		return p.focus == levelObjects && p.index == index && p.value == value && p.filter() == ""
	})
	p.goTo(index, value)
}

// goTo selects a key on the Store screen, or the first one after it.
func (m *Model) goTo(key string) {
	m.show(screenStore)
	m.screens[screenStore].(*storeScreen).goTo(key)
}
