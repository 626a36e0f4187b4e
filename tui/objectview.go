package tui

import (
	"github.com/informeter/informeter/engine/inspect"
)

// title names the key and says what is to be said of it.
func (p *objectScreen) title(t *theme) string {
	l := newLine(p.w).skip(gutter)
	name := p.key
	if name == "" {
		name = "uid " + p.uid
	}
	l.key(t.title, name, min(width(clean(name)), p.w-gutter-20)).skip(3)
	switch d := p.document; {
	case p.page == pageBiography || p.page == pageDiff:
		l.segments(3, p.biography.head(t, p.m.frame.at)...)
	case p.err != nil && gone(p.err) && d != nil:
		l.put(t.warn, "not in the store any more; this is its last version")
	case p.err != nil && d != nil:
		l.put(t.bad, p.err.Error())
	case d != nil:
		l.put(t.muted, "rv "+d.object.ResourceVersion)
		if p.yaml.version != 0 {
			l.put(t.warn, "   an earlier version")
		}
		if d.object.Redacted {
			l.put(t.warn, "   contents hidden")
		}
	}
	return l.String()
}

// tabLine names the pages.
func (p *objectScreen) tabLine(t *theme) string {
	l := newLine(p.w).skip(1)
	p.tabs = p.tabs[:0]
	for i, page := range keyPages {
		from := l.used
		name, key := " "+page.name+" ", p.m.keymap.label(ScopeGlobal, page.action)
		if key != "" {
			key += " "
		}
		if keyPage(i) == p.page {
			l.put(t.tab, name+key)
		} else {
			l.put(t.muted, name).put(t.faint, key)
		}
		p.tabs = append(p.tabs, keyTab{from, l.used, keyPage(i)})
		l.skip(1)
	}
	return l.String()
}

func (p *objectScreen) lines() []string {
	t := p.m.theme
	lines := []string{p.title(t), p.tabLine(t), p.blank()}
	h := p.h - len(lines)
	switch p.page {
	case pageDiff:
		lines = append(lines, p.diff.lines(t, p.m.frame.at, &p.biography, p.w, h)...)
	case pageBiography:
		if waits := p.biography.waits.draw(t, p.w); waits != "" {
			lines[len(lines)-1] = waits // nothing moves when it comes and goes
		}
		lines = append(lines, p.biography.lines(t, p.m.frame.at, p.w, h)...)
	default:
		lines = append(lines, p.objectLines(t, h)...)
	}
	return block(lines, p.w, p.h)
}

func (p *objectScreen) objectLines(t *theme, h int) []string {
	switch {
	case p.document == nil && p.err == nil:
		return nil
	case p.document == nil && gone(p.err):
		return message(t, p.w, h, "not in the store", "It waits in the queue, or it has been deleted: its biography says which.")
	case p.document == nil:
		return message(t, p.w, h, "it could not be read", p.err.Error())
	case p.page == pageYAML:
		return p.yaml.lines(t, p.w)
	}
	return p.bucketLines(t, h)
}

// bucketLines lists the buckets that hold the object.
func (p *objectScreen) bucketLines(t *theme, h int) []string {
	if p.buckets.matched == 0 {
		return message(t, p.w, h, "no indices", "This informer was made without index functions: objects can be found by key only.")
	}
	g := newGrid(p.w, flexible("INDEX", 16, 40), flexible("BUCKET", 24, 120))
	lines := []string{g.header(t), p.blank()}[:1]
	return append(lines, p.buckets.draw(p.w, func(b bucketRef, selected bool) string {
		value := cell{st: t.faint, s: "no bucket: its index function has no value for it"}
		if b.ok {
			name := bucketName(t, b.index, b.value)
			value = cell{st: name.st, s: name.s}
		}
		return g.row(t, chosen(selected, true), part{}, cell{st: t.muted, s: inspect.IndexName(b.index)}, value)
	})...)
}

// bucketName writes a value of an index as people know it; the empty one is easily
// overlooked.
func bucketName(t *theme, index, v string) part {
	if v == "" {
		return part{t.warn, `"" (empty)`}
	}
	return part{"", inspect.BucketName(index, v)}
}

func (p *objectScreen) hints() []hint {
	switch p.page {
	case pageYAML:
		fields := "managed fields"
		if p.yaml.unfolded {
			fields = "hide managed fields"
		}
		return []hint{{ActionBack, "back"}, {ActionFilter, "find"}, {ActionNextMatch, "next match"}, {ActionFold, "fold"}, {ActionManagedFields, fields}, {ActionNextPane, "next page"}}
	case pageDiff:
		noise := "noise"
		if p.diff.noise {
			noise = "hide noise"
		}
		return []hint{{ActionBack, "back"}, {ActionLeft, "older"}, {ActionRight, "newer"}, {ActionFromOlder, "from older"}, {ActionManagedFields, noise}, {ActionFilter, "find"}}
	case pageBiography:
		return []hint{{ActionBack, "back"}, {ActionOpen, "diff"}, {ActionReverse, "other order"}, {ActionFilter, "find, or a UID"}, {ActionNextPane, "next page"}}
	}
	return []hint{{ActionBack, "back"}, {ActionOpen, "bucket"}, {ActionNextPane, "next page"}}
}

func (p *objectScreen) status() string {
	switch p.page {
	case pageYAML:
		if p.document == nil {
			return ""
		}
		return p.yaml.view.status()
	case pageDiff:
		return p.diff.status()
	case pageBiography:
		return place(p.biography.rows.cursor, p.biography.rows.matched, len(p.biography.events), p.biography.text)
	}
	return place(p.buckets.cursor, p.buckets.matched, p.buckets.total, "")
}
