package tui

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// screenID names a screen; its value is the digit of its key.
type screenID int

const (
	screenInformers screenID = iota
	screenPipeline
	screenQueue
	screenStore
	screenIndices
	screenHandlers
	screenCount
)

// screen is one page of the explorer: it draws itself from the frame shown, and
// says what the next one has to bring.
type screen interface {
	name() string
	scope() Scope
	setSize(w, h int)
	ask(r *request)          // add what this screen needs
	refresh(f *frame)        // copy what this screen shows
	handle(a Action) tea.Cmd // a user's wish, already resolved from the key
	click(x, y int) tea.Cmd  // at a cell of this screen
	wheel(n int)             // down, or up if negative
	lines() []string         // exactly as many, and each as wide, as set
	hints() []hint           // the keys worth knowing here
	status() string          // what the last line says at its right end
	back() bool              // go one level up; false at the top
}

// filtered is a screen whose rows can be filtered.
type filtered interface {
	filter() string
	setFilter(text string)
}

// hint is an action worth showing on the last line.
type hint struct {
	action Action
	text   string
}

// Model is the whole explorer: the only tea.Model, for all screens. NewModel
// makes one.
//
//		key ──▶ Keymap ──▶ Action ──▶ overlay, prompt or screen ──▶ request changed? ──▶ pull
//		                                                                                  │
//		View ◀── content ◀── compose ◀── screens ◀── frame ◀──────── frameMsg ◀───────────┘
//		                                                 └──▶ pull that waits for news
//
//	  - If nothing new has been read or pressed, then nothing is composed: View
//	    returns the same string again.
//	  - If something waits or reads, then it is a command, never Update or View.
//	  - If the view is frozen, no pull follows a frame; what is asked for by moving
//	    is still read.
type Model struct {
	ctx     context.Context
	options Options
	keymap  *Keymap
	theme   *theme
	source  *source

	layout  layout
	screens [screenCount]screen
	current screenID
	object  *objectScreen // over the current screen; nil if closed
	help    *helpScreen   // over everything; nil if closed
	prompt  *prompt       // text being typed; nil if none

	informer  string // name of the one looked at; empty until the first frame
	summaries []inspect.Summary
	summed    time.Time // when summaries were read
	frame     *frame    // what is shown; never nil
	histories map[string]*history
	frozen    bool
	note      string // the answer to the last wish, until the next key

	asked   request // by the pull under way
	seq     uint64  // of the pull under way
	cancel  context.CancelFunc
	tabs    []span // where the tabs are
	counts  [screenCount]int
	content string
	dirty   bool
}

// span is the cells of a tab.
type span struct {
	from, to int
	screen   screenID
}

// NewModel returns the explorer without a terminal, which Run gives it. ctx ends
// what it reads.
func NewModel(ctx context.Context, o Options) *Model {
	m := &Model{
		ctx:       ctx,
		options:   o,
		keymap:    o.Keymap,
		theme:     newTheme(true),
		source:    &source{process: o.Process},
		current:   screenPipeline,
		frame:     &frame{},
		histories: map[string]*history{},
	}
	m.screens[screenInformers] = newInformersScreen(m)
	m.clear()
	return m
}

// clear makes the screens of one informer anew.
func (m *Model) clear() {
	m.screens[screenPipeline] = newPipelineScreen(m)
	m.screens[screenQueue] = newQueueScreen(m)
	m.screens[screenStore] = newStoreScreen(m)
	m.screens[screenIndices] = newIndicesScreen(m)
	m.screens[screenHandlers] = newHandlersScreen(m)
}

// Init begins to read.
func (m *Model) Init() tea.Cmd { return tea.Batch(tea.RequestBackgroundColor, m.pullNow()) }

// Update takes what happened, in a fixed order: size, frames and results, the
// terminal's colours, then what the user did.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case frameMsg:
		cmd = m.take(msg.frame)
	case controlMsg:
		cmd = m.controlled(msg)
	case tea.BackgroundColorMsg:
		m.theme = newTheme(msg.IsDark())
		m.dirty = true
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg)
	case tea.MouseClickMsg:
		cmd = m.click(msg)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	}
	if r := m.request(); r != m.asked {
		cmd = tea.Batch(cmd, m.pullNow())
	}
	if m.dirty {
		m.compose()
	}
	return m, cmd
}

// top returns the screen that has the keys: what is over the others.
func (m *Model) top() screen {
	switch {
	case m.help != nil:
		return m.help
	case m.object != nil:
		return m.object
	}
	return m.screens[m.current]
}

func (m *Model) resize(w, h int) {
	m.layout = newLayout(w, h)
	m.dirty = true
	m.setSizes()
}

func (m *Model) setSizes() {
	for _, s := range m.screens {
		s.setSize(m.layout.body.w, m.layout.body.h)
	}
	if m.object != nil {
		m.object.setSize(m.layout.body.w, m.layout.body.h)
	}
	if m.help != nil {
		m.help.setSize(m.layout.body.w, m.layout.body.h)
	}
}

// request returns what the screens in sight need.
func (m *Model) request() request {
	r := request{informer: m.informer}
	if m.object != nil {
		m.object.ask(&r)
	} else {
		m.screens[m.current].ask(&r)
	}
	return r
}

// pullNow reads at once what the screens need, in place of the pull under way.
func (m *Model) pullNow() tea.Cmd { return m.start(pull{request: m.request()}) }

func (m *Model) start(p pull) tea.Cmd {
	if m.cancel != nil {
		m.cancel()
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.seq++
	m.cancel, m.asked = cancel, p.request
	p.seq, p.source = m.seq, m.source
	p.summaries = p.request.informers || p.request.informer == "" || m.frame.read.Sub(m.summed) >= heartbeat
	if m.object != nil {
		p.have = m.object.document
	}
	return p.command(ctx)
}

// take shows a frame and starts the pull that follows it.
func (m *Model) take(f *frame) tea.Cmd {
	if f.seq != m.seq {
		return nil // overtaken by another wish
	}
	m.dirty = true
	if m.frozen {
		f.at, f.snapshot = m.frame.at, m.frame.snapshot
	}
	if f.informers.ok {
		m.summaries, m.summed = f.informers.value, f.read
	}
	if !f.snapshot.ok && f.request.informer == m.frame.request.informer {
		// Keep what was known of it; the error is shown with it.
		f.snapshot.value = m.frame.snapshot.value
	}
	m.frame, m.informer, m.asked = f, f.request.informer, f.request
	if f.snapshot.ok {
		m.history().sample(f)
	}
	for _, s := range m.screens {
		s.refresh(f)
	}
	if m.object != nil {
		m.object.refresh(f)
	}
	if m.frozen {
		return nil
	}
	pause := heartbeat
	if m.current == screenInformers {
		pause = heartbeat / 4 // it waits for one informer and shows all
	}
	return m.start(pull{
		request: m.request(), wait: true, pause: pause,
		generation: f.snapshot.value.Generation, edge: f.read.Add(frameTime),
	})
}

// history returns the sparklines of the informer looked at.
func (m *Model) history() *history {
	h := m.histories[m.informer]
	if h == nil {
		h = &history{}
		m.histories[m.informer] = h
	}
	return h
}

// snapshot returns the vitals shown.
func (m *Model) snapshot() *inspect.Snapshot { return &m.frame.snapshot.value }

// press takes a key: what is typed goes to the prompt, the rest becomes an
// action.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	m.dirty = true
	m.note = ""
	if m.prompt != nil {
		return m.prompt.press(m, msg)
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
		return tea.Suspend
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
	}
	if m.help != nil {
		return m.help.handle(a)
	}
	switch a {
	case ActionFreeze:
		return m.freeze()
	case ActionInformers, ActionPipeline, ActionQueue, ActionStore, ActionIndices, ActionHandlers:
		m.show(screenOf(a))
		return nil
	case ActionNextInformer:
		m.cycle(1)
		return nil
	case ActionPreviousInformer:
		m.cycle(-1)
		return nil
	case ActionFilter:
		if f, ok := m.top().(filtered); ok {
			m.askFilter(f)
		}
		return nil
	}
	return m.top().handle(a)
}

func screenOf(a Action) screenID {
	switch a {
	case ActionInformers:
		return screenInformers
	case ActionQueue:
		return screenQueue
	case ActionStore:
		return screenStore
	case ActionIndices:
		return screenIndices
	case ActionHandlers:
		return screenHandlers
	}
	return screenPipeline
}

// exists says whether a screen is there: the list of informers only where there
// are several.
func (m *Model) exists(s screenID) bool { return s != screenInformers || len(m.summaries) > 1 }

// show switches to a screen, and closes what was open over the old one.
func (m *Model) show(s screenID) {
	if m.exists(s) {
		m.object, m.current = nil, s
	}
}

// back goes one level up: it closes what is on top, or what the screen has
// open. It returns false at the top.
func (m *Model) back() bool {
	switch {
	case m.help != nil:
		m.help = nil
	case m.object != nil:
		if !m.object.back() {
			m.object = nil
		}
	default:
		return m.screens[m.current].back()
	}
	return true
}

func (m *Model) toggleHelp() {
	if m.help != nil {
		m.help = nil
		return
	}
	m.help = newHelpScreen(m, m.top().scope())
	m.setSizes()
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
	m.informer, m.object, m.frozen = name, nil, false
	m.clear()
	m.frame = &frame{request: request{informer: name}, read: m.frame.read}
	m.setSizes()
}

// openObject shows the object under key over the current screen.
func (m *Model) openObject(key string) {
	m.object = newObjectScreen(m, key)
	m.setSizes()
}

// controlMsg is the outcome of a wish that changes the informer.
type controlMsg struct {
	done string
	err  error
}

// control asks the informer to change.
func (m *Model) control(done string, f func(context.Context, inspect.Controls) error) tea.Cmd {
	source, name, ctx := m.source, m.informer, m.ctx
	return func() tea.Msg {
		_, controls, err := source.find(name)
		if err == nil && controls == nil {
			err = inspect.ErrReadOnly
		}
		if err != nil {
			return controlMsg{err: err}
		}
		ctx, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		return controlMsg{done: done, err: f(ctx, controls)}
	}
}

func (m *Model) controlled(msg controlMsg) tea.Cmd {
	m.dirty = true
	switch {
	case errors.Is(msg.err, inspect.ErrReadOnly), errors.Is(msg.err, inspect.ErrUnsupported):
		m.note = "not possible here: " + msg.err.Error()
	case msg.err != nil:
		m.note = msg.err.Error()
	default:
		m.note = msg.done
	}
	if m.frozen {
		return nil
	}
	return m.pullNow()
}

// View returns the screen that was composed last.
func (m *Model) View() tea.View {
	v := tea.NewView(m.content)
	v.AltScreen = true
	v.WindowTitle = m.title()
	if !m.options.NoMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.prompt != nil {
		v.Cursor = m.prompt.cursor(m.layout)
	}
	return v
}

func (m *Model) title() string {
	i := &m.snapshot().Informer
	if i.Name == "" {
		return "informeter"
	}
	return strings.Join([]string{"informeter", clean(i.Name)}, " · ")
}
