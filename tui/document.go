package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/informeter/informeter/engine/inspect"
)

// document is one version of an object, ready to be drawn.
type document struct {
	query    objectQuery
	object   inspect.Object
	lines    []string // of YAML, clean
	managers int      // managed-field entries folded away
}

// readDocument reads an object and lays it out, unless have is the same version
// laid out already.
func readDocument(ctx context.Context, i inspect.Inspector, q objectQuery, have *document) (*document, error) {
	object, err := i.Object(ctx, inspect.ObjectRequest{Key: q.key})
	if err != nil {
		return nil, err
	}
	d := &document{query: q, object: object}
	if have != nil && have.query == q && have.object.ResourceVersion == object.ResourceVersion && have.object.UID == object.UID {
		d.lines, d.managers = have.lines, have.managers
		return d, nil
	}
	text := object.JSON
	if !q.unfolded {
		if text, d.managers, err = foldManagedFields(text); err != nil {
			return nil, fmt.Errorf("read the JSON of %s: %w", q.key, err)
		}
	}
	out, err := yaml.JSONToYAML(escapeUnprintable(text))
	if err != nil {
		return nil, fmt.Errorf("write %s as YAML: %w", q.key, err)
	}
	d.lines = strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	for n, l := range d.lines {
		d.lines[n] = clean(l)
	}
	return d, nil
}

// escapeUnprintable writes what YAML refuses in a document, such as DEL and the
// C1 controls, the way JSON would: an object may hold it, and has to be seen all
// the same. Other control characters are escaped in JSON already.
func escapeUnprintable(text []byte) []byte {
	if bytes.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if unprintable(r) {
			fmt.Fprintf(&b, `\\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// unprintable says whether YAML refuses a character that JSON takes as it is.
func unprintable(r rune) bool {
	return r == 0x7f || r >= 0x80 && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff
}

// foldManagedFields returns the object without metadata.managedFields, and how
// many entries that had. They are half of most objects and read by few.
func foldManagedFields(text json.RawMessage) (json.RawMessage, int, error) {
	var object, metadata map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, 0, err
	}
	if err := json.Unmarshal(object["metadata"], &metadata); err != nil || metadata["managedFields"] == nil {
		return text, 0, nil // not an object with metadata: nothing to fold
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(metadata["managedFields"], &entries); err != nil {
		return text, 0, nil
	}
	delete(metadata, "managedFields")
	var err error
	if object["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, 0, err
	}
	folded, err := json.Marshal(object)
	return folded, len(entries), err
}
