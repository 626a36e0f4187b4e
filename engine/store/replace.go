package store

// Replace makes the store hold these objects and no others, as one change, and
// takes rv for the store's resource version. If the key of one of them cannot be
// told, nothing is changed. Of several with one key the last is stored.
//
// Objects that were there before keep their positions, and indices change only
// where values do.
func (x *Indexer) Replace(objs []any, rv string) error {
	ops := make([]Op, len(objs))
	for i, obj := range objs {
		key, err := x.storingKey(obj)
		if err != nil {
			return err
		}
		ops[i] = Op{Key: key, Object: obj}
	}

	x.writing.Lock()
	defer x.writing.Unlock()
	defer x.forget()
	x.ask(ops)

	x.mu.Lock()
	defer x.mu.Unlock()
	// Objects behind the first `before` positions are new and stay; of those
	// before it, the ones that nobody named go.
	before := x.objects.n
	named := make([]bool, before)
	for i := range ops {
		op := &ops[i]
		if pos, ok := x.positionLocked(op); ok && int(pos) < before {
			named[pos] = true
		}
		x.applyLocked(op, x.said(i), false)
	}
	// From the back, so that what moves into a freed position stays anyway.
	for pos := before - 1; pos >= 0; pos-- {
		if !named[pos] {
			x.removeLocked(uint32(pos), x.positions.hash(*x.keys.at(uint32(pos))))
			x.deleted++
		}
	}
	x.rv = rv
	return nil
}
