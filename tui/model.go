package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

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
	screenResync
	screenRequests
	screenFindings
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

// searcher is a screen that keeps all its lines when it is filtered: it marks
// those that match, and handles ActionNextMatch and ActionPreviousMatch.
type searcher interface {
	filtered
	matchCount() int
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
	dark    bool                 // the terminal's background
	colors  colorprofile.Profile // what the terminal can show
	source  *source

	layout  layout
	screens [screenCount]screen
	current screenID
	object  *objectScreen  // over the current screen; nil if closed
	columns *columnsScreen // beside the table it is about; nil if closed
	overlay screen         // over everything: the help or the log; nil if closed
	prompt  *prompt        // text being typed; nil if none
	visits  []visit        // where rows led from, the last one at the end

	informer  string // name of the one looked at; empty until the first frame
	summaries []inspect.Summary
	summed    time.Time // when summaries were read
	frame     *frame    // what is shown; never nil
	histories map[string]*history
	lookout   lookout
	tables    map[string]*table // by name; whichever informer is looked at
	frozen    bool
	wishes    wishes
	note      string // the answer to the last wish, until the next key
	failed    bool   // the answer is an error

	suspended chan struct{} // closed when the program goes on; nil if it is not suspended

	close      func()     // stops what is looked at; nil if nobody has to
	opening    *opening   // what is being opened; nil if nothing is
	own        []ownIndex // the indices that the user has added, whatever is open
	openings   uint64     // how often something was to be opened
	presses    uint64     // of keys
	accepting  string     // the line that is being done
	typedLines []string   // the command lines so far, the newest last
	lastFilter string     // the last one that was taken away
	names      map[NameKind][]string
	wanted     []NameKind // names to ask for

	asked   request // by the pull under way
	seq     uint64  // of the pull under way
	cancel  context.CancelFunc
	tabs    []span // where the tabs are
	counts  [screenCount]tabCount
	content string
	dirty   bool
	pulse   *pulse // of the writer; nil without a terminal

	keyboard *keyboard // nil if Bubble Tea reads the keys itself
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
		dark:      true,
		colors:    colorprofile.TrueColor,
		source:    &source{process: o.Process},
		current:   screenPipeline,
		frame:     &frame{},
		histories: map[string]*history{},
		tables:    map[string]*table{},
		names:     map[NameKind][]string{},
		close:     o.Close,
	}
	m.typedLines = append(m.typedLines, o.History[max(len(o.History)-linesKept, 0):]...)
	m.screens[screenInformers] = newInformersScreen(m)
	m.screens[screenFindings] = newFindingsScreen(m)
	m.clear()
	return m
}

// clear makes the screens of one informer anew.
func (m *Model) clear() {
	m.visits = nil
	m.screens[screenPipeline] = newPipelineScreen(m)
	m.screens[screenQueue] = newQueueScreen(m)
	m.screens[screenStore] = newStoreScreen(m)
	m.screens[screenIndices] = newIndicesScreen(m)
	m.screens[screenHandlers] = newHandlersScreen(m)
	m.screens[screenResync] = newResyncScreen(m)
	m.screens[screenRequests] = newRequestsScreen(m)
}

// Init begins to read.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, m.pullNow(), m.lookOut(0))
}

// Update takes what happened, in a fixed order: size, frames and results, the
// terminal's colours, then what the user did.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case frameMsg:
		cmd = m.take(msg.frame)
	case findingsMsg:
		cmd = m.takeFindings(msg)
	case controlMsg:
		cmd = m.controlled(msg)
	case resultMsg:
		m.dirty = true
		msg.take(m)
	case openedMsg:
		cmd = m.opened(msg)
	case namesMsg:
		m.names[msg.kind], m.dirty = msg.names, true
	case savedMsg:
		m.saved(msg)
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.paint()
	case tea.ColorProfileMsg:
		m.colors = msg.Profile
		m.paint()
	case tea.ResumeMsg:
		m.dirty = true
		cmd = m.resumed()
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
	if len(m.wanted) > 0 {
		cmd = tea.Batch(cmd, m.fetchNames())
	}
	return m, cmd
}

// paint chooses the theme for the terminal.
func (m *Model) paint() {
	m.theme = themeFor(m.dark, m.colors)
	m.dirty = true
}

// top returns the screen that has the keys: what is over the others.
func (m *Model) top() screen {
	switch {
	case m.overlay != nil:
		return m.overlay
	case m.columns != nil:
		return m.columns
	}
	return m.page()
}

// page returns the screen that fills the body: the pages of a key, or the
// current one.
func (m *Model) page() screen {
	if m.object != nil {
		return m.object
	}
	return m.screens[m.current]
}

// widest and highest bound what a terminal can be: one that says it is larger is
// not believed.
const widest, highest = 2000, 1000

func (m *Model) resize(w, h int) {
	m.layout = newLayout(max(min(w, widest), 0), max(min(h, highest), 0))
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
	if m.overlay != nil {
		m.overlay.setSize(m.layout.body.w, m.layout.body.h)
	}
	if m.columns != nil {
		m.columns.setSize(m.layout.body.w, m.layout.body.h)
	}
}

// request returns what the screens in sight need.
func (m *Model) request() request {
	r := request{informer: m.informer}
	m.page().ask(&r)
	if m.overlay != nil {
		m.overlay.ask(&r)
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
	p.seq, p.source, p.log = m.seq, m.source, m.options.Log
	p.summaries = p.request.informers || p.request.informer == "" || m.frame.read.Sub(m.summed) >= heartbeat
	if m.object != nil {
		p.have, p.haveDiff = m.object.document, m.object.diff.shown
	} else if s, ok := m.screens[m.current].(previewing); ok {
		p.have = s.previewed()
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
	if len(m.wishes.waiting) == 0 {
		m.wishes.gate = "" // this frame was read after the last of them
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
	if m.overlay != nil {
		m.overlay.refresh(f)
	}
	if m.frozen {
		return nil
	}
	pause := heartbeat
	if m.current == screenInformers {
		pause = heartbeat / 4 // it waits for one informer and shows all
	}
	r := m.request()
	if f.unfinished() || r != f.request {
		pause = 0 // asked again, it goes on from there; or what came asks for more
	}
	return m.start(pull{
		request: r, wait: true, pause: pause,
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

// View returns the screen that was composed last, and has it written.
func (m *Model) View() tea.View {
	m.pulse.beat()
	v := tea.NewView(m.content)
	v.AltScreen = true
	v.WindowTitle = m.title()
	if !m.options.NoMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.prompt != nil {
		v.Cursor = m.prompt.cursor(m.layout, m.status())
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
