package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// document is one version of an object, ready to be drawn. It does not change.
type document struct {
	query    objectQuery
	object   inspect.Object
	lines    []yamlLine
	managers int // managed-field entries left out
}

// text returns the document as a file has it.
func (d *document) text() string {
	var b strings.Builder
	for i := range d.lines {
		b.WriteString(d.lines[i].text)
		b.WriteByte('\n')
	}
	return b.String()
}

// readDocument reads an object and lays it out, unless have is the same version
// laid out already.
func readDocument(ctx context.Context, i inspect.Inspector, q objectQuery, have *document) (*document, error) {
	object, err := i.Object(ctx, inspect.ObjectRequest{Key: q.key, Version: q.version})
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
	if d.lines, err = yamlLines(text); err != nil {
		return nil, fmt.Errorf("write %s as YAML: %w", q.key, err)
	}
	return d, nil
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
