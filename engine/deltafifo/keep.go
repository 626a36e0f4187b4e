package deltafifo

// Keep stands in the list of a Replace for an object whose state the list cannot
// give. Its key is listed, so it is not buried, and nothing is enqueued for it:
// what waits for it, is in flight or is in the store stays its newest state. An
// InOrder passes it on in the ReplacedAll, for its consumer to heed.
//
// Unlike client-go, where what a list does not bring is gone [keep].
type Keep struct{ Key string }

// withoutKeeps returns the list without what stands for something else, and the
// keys of that; the list itself if it has none. It does not write to the list.
func withoutKeeps(list []any) (objects []any, kept map[string]bool) {
	objects = list
	for i, obj := range list {
		keep, is := obj.(Keep)
		switch {
		case is && kept == nil:
			objects = append(make([]any, 0, len(list)-1), list[:i]...)
			kept = map[string]bool{keep.Key: true}
		case is:
			kept[keep.Key] = true
		case kept != nil:
			objects = append(objects, obj)
		}
	}
	return objects, kept
}
