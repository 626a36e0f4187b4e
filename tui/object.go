package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// keyPage is one of the pages of a key.
type keyPage int

const (
	pageYAML keyPage = iota
	pageDiff
	pageBiography
	pageBuckets
	pageCount
)

var keyPages = [pageCount]struct {
	name   string
	action Action
}{
	{"Object", ActionYAML},
	{"Diff", ActionDiff},
	{"Biography", ActionBiography},
	{"Buckets", ActionBuckets},
}

// pageFor returns the page that an action opens from a row with a key.
func pageFor(a Action) (keyPage, bool) {
	if a == ActionOpen {
		return pageYAML, true
	}
	for i, p := range keyPages {
		if p.action == a {
			return keyPage(i), true
		}
	}
	return 0, false
}

// objectScreen shows all there is about one key, over the screen it was opened
// from: the object as YAML, what differs between its versions, what happened to
// it, and which buckets hold it.
//
//	the key, and what is to be said of it
//	Object  Diff  Biography  Buckets
//
//	the page
type objectScreen struct {
	pane
	key string
	// uid finds the key by the UID of an object that has or had it.
	uid  string
	page keyPage
	// from is the page that back goes to, -1 for none.
	from keyPage
	tabs []keyTab

	yaml      yamlPage
	diff      diffPage
	biography biographyPage
	buckets   list[bucketRef]

	document *document // the newest there was; nil until read
	err      error     // since then
}

// keyTab is where the name of a page stands.
type keyTab struct {
	from, to int
	page     keyPage
}

// bucketRef is one bucket that holds the object; ok is false for an index that
// has none.
type bucketRef struct {
	index, value string
	ok           bool
}

func newObjectScreen(m *Model, key string, page keyPage) *objectScreen {
	p := &objectScreen{pane: pane{m: m}, key: key, page: page, from: -1}
	p.yaml = yamlPage{folded: map[string]bool{}}
	p.diff = diffPage{}
	p.biography = newBiographyPage(m)
	p.buckets = list[bucketRef]{keyOf: func(b bucketRef) string { return b.index + "\x00" + b.value }}
	return p
}

func (p *objectScreen) name() string { return keyPages[p.page].name }
func (p *objectScreen) scope() Scope { return ScopeObject }

// headHeight is how many lines stand above a page.
const objectHead = 3

func (p *objectScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.layout()
}

// layout gives the pages their sizes.
func (p *objectScreen) layout() {
	h := max(p.h-objectHead, 1)
	p.yaml.view.height = max(h-p.yaml.headHeight(p.document), 1)
	p.diff.view.height = max(h-diffHead, 1)
	p.buckets.setHeight(max(h-2, 1))
}

func (p *objectScreen) ask(r *request) {
	switch p.page {
	case pageDiff:
		r.biography = want(inspect.BiographyRequest{Key: p.key, UID: p.uid})
		if q, ok := p.diff.query(p.key); ok {
			r.diff = want(q)
		}
	case pageBiography:
		r.biography = want(inspect.BiographyRequest{Key: p.key, UID: p.uid})
		if p.key != "" {
			r.queue = want(waitsQuery(p.key))
		}
	default:
		r.object = want(objectQuery{key: p.key, version: p.yaml.version, unfolded: p.yaml.unfolded})
	}
}

func (p *objectScreen) refresh(f *frame) {
	if q := f.request.object; q.on && q.query.key == p.key && q.query.version == p.yaml.version {
		p.err = f.object.err
		if f.object.ok {
			p.document = f.object.value
			p.yaml.show(p.document)
			p.showBuckets()
		}
		p.layout()
	}
	if q := f.request.biography; q.on && q.query.UID == p.uid && (p.uid != "" || q.query.Key == p.key) {
		p.biography.handled = slices.ContainsFunc(f.snapshot.value.Listeners, func(l inspect.ListenerVitals) bool { return !l.Explorer })
		p.takeBiography(f.biography)
		p.diff.know(p.biography.events)
	}
	if q := f.request.queue; q.on && f.queue.ok && q.query == waitsQuery(p.key) {
		p.biography.waits = waitsOf(p.key, &f.queue.value)
	}
	if q := f.request.diff; q.on && q.query.Key == p.key {
		p.diff.take(q.query, f.diff)
	}
}

// takeBiography takes what happened to the key, or to the one that was found by
// its UID.
func (p *objectScreen) takeBiography(a answer[inspect.Biography]) {
	switch {
	case p.uid != "" && a.ok:
		p.key, p.uid, p.document, p.err = a.value.Key, "", nil, nil
	case p.uid != "" && gone(a.err) && p.key != "":
		p.m.note, p.uid = "no object of that UID is known", ""
		return
	}
	p.biography.take(a)
}

func (p *objectScreen) showBuckets() {
	var refs []bucketRef
	for _, i := range p.document.object.Indices {
		if len(i.Values) == 0 {
			refs = append(refs, bucketRef{index: i.Index})
		}
		for _, v := range i.Values {
			refs = append(refs, bucketRef{i.Index, v, true})
		}
	}
	p.buckets.show(refs, 0, len(refs), len(refs))
}

// turn shows another page of the key.
func (p *objectScreen) turn(to keyPage) {
	if to != p.page {
		p.page = (to + pageCount) % pageCount
		p.from = -1
		p.layout()
	}
}

func (p *objectScreen) back() bool {
	switch {
	case p.page == pageYAML && p.yaml.view.search != "":
		p.setFilter("")
	case p.page == pageDiff && p.diff.view.search != "":
		p.setFilter("")
	case p.page == pageBiography && p.biography.text != "":
		p.setFilter("")
	case p.page == pageYAML && p.yaml.version != 0:
		p.yaml.version = 0
	case p.from >= 0:
		p.turn(p.from)
	default:
		return false
	}
	return true
}

func (p *objectScreen) handle(a Action) tea.Cmd {
	if to, ok := pageFor(a); ok && a != ActionOpen {
		p.turn(to)
		return nil
	}
	switch {
	case a == ActionNextPane:
		p.turn(p.page + 1)
	case a == ActionPreviousPane:
		p.turn(p.page - 1)
	case p.page == pageYAML:
		p.yaml.handle(a)
		p.layout()
	case p.page == pageDiff:
		p.diff.handle(a)
	case p.page == pageBiography:
		p.handleBiography(a)
	case a == ActionOpen:
		if b, ok := p.buckets.selected(); ok && b.ok {
			p.m.openBucket(b.index, b.value)
		}
	default:
		p.buckets.handle(a)
	}
	return nil
}

// handleBiography opens the diff of an event, or moves.
func (p *objectScreen) handleBiography(a Action) {
	e, ok := p.biography.rows.selected()
	if a != ActionOpen || !ok {
		p.biography.handle(a)
		return
	}
	if e.Version == 0 {
		p.m.note = "this version is not kept"
		return
	}
	p.diff.choose(e.Version)
	p.turn(pageDiff)
	p.from = pageBiography
}

func (p *objectScreen) wheel(n int) {
	switch p.page {
	case pageYAML:
		p.yaml.view.scroll(n)
	case pageDiff:
		p.diff.view.scroll(n)
	case pageBiography:
		p.biography.rows.scroll(n)
	default:
		p.buckets.scroll(n)
	}
}

func (p *objectScreen) click(x, y int) tea.Cmd {
	if y == 1 {
		for _, tab := range p.tabs {
			if x >= tab.from && x < tab.to {
				p.turn(tab.page)
			}
		}
		return nil
	}
	y -= objectHead
	switch p.page {
	case pageYAML:
		if v := &p.yaml.view; y >= p.yaml.headHeight(p.document) {
			row := v.top + y - p.yaml.headHeight(p.document)
			again := row == v.cursor
			v.cursor = row
			v.settle()
			if again {
				p.yaml.handle(ActionFold)
			}
		}
	case pageBiography:
		if y == 1 {
			p.biography.handle(ActionReverse)
		} else if _, again := p.biography.rows.click(y - 2); again {
			p.handleBiography(ActionOpen)
		}
	case pageBuckets:
		if _, again := p.buckets.click(y - 2); again {
			return p.handle(ActionOpen)
		}
	}
	return nil
}

func (p *objectScreen) filter() string {
	switch p.page {
	case pageYAML:
		return p.yaml.view.search
	case pageDiff:
		return p.diff.view.search
	case pageBiography:
		return p.biography.text
	}
	return ""
}

func (p *objectScreen) setFilter(text string) {
	switch p.page {
	case pageYAML:
		p.yaml.search(text)
		p.layout()
	case pageDiff:
		p.diff.search(text)
	case pageBiography:
		p.biography.setFilter(text)
		if uidText.MatchString(text) && p.biography.rows.matched == 0 {
			p.uid = text // it may be of another key
		}
	}
}

func (p *objectScreen) matchCount() int {
	switch p.page {
	case pageYAML:
		return p.yaml.view.matches
	case pageDiff:
		return p.diff.view.matches
	case pageBiography:
		return len(p.biography.rows.rows)
	}
	return 0
}
