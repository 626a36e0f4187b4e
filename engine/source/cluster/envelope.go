package cluster

import (
	"bytes"
	"encoding/binary"

	"k8s.io/apimachinery/pkg/watch"
)

// The functions here open the envelopes of watch events without copying what is
// in them, as servers write them: every field once, in order. They say false for
// anything else, which is then left to client-go's decoders.

// magic begins every protobuf message that says what it is.
var magic = []byte("k8s\x00")

// Protobuf tags of the fields of metav1.WatchEvent, runtime.RawExtension,
// runtime.Unknown and runtime.TypeMeta: all are length-delimited.
const (
	tagFirst  = 1<<3 | 2
	tagSecond = 2<<3 | 2
)

// field returns the content of the field with which message begins, and what
// comes after it.
func field(message []byte, tag byte) (content, rest []byte, ok bool) {
	if len(message) == 0 || message[0] != tag {
		return nil, nil, false
	}
	size, n := binary.Uvarint(message[1:])
	if n <= 0 || size > uint64(len(message)-1-n) {
		return nil, nil, false
	}
	content = message[1+n:]
	return content[:size], content[size:], true
}

// openProtobufEvent returns the type of a WatchEvent and its object.
func openProtobufEvent(frame []byte) (eventType, object []byte, ok bool) {
	eventType, rest, ok := field(frame, tagFirst)
	if !ok {
		return nil, nil, false
	}
	extension, rest, ok := field(rest, tagSecond)
	if !ok || len(rest) > 0 {
		return nil, nil, false
	}
	object, rest, ok = field(extension, tagFirst)
	return eventType, object, ok && len(rest) == 0
}

// openUnknown returns what a protobuf object says it is, as an encoded TypeMeta,
// and its content.
func openUnknown(object []byte) (typeMeta, content []byte, ok bool) {
	message, ok := bytes.CutPrefix(object, magic)
	if !ok {
		return nil, nil, false
	}
	typeMeta, rest, ok := field(message, tagFirst)
	if !ok {
		return nil, nil, false
	}
	content, rest, ok = field(rest, tagSecond)
	// An encoding and a content type may follow; empty ones are written too.
	return typeMeta, content, ok && bytes.Equal(rest, []byte("\x1a\x00\x22\x00"))
}

var (
	jsonEventType   = []byte(`{"type":"`)
	jsonEventObject = []byte(`","object":`)
)

// openJSONEvent returns the type of a WatchEvent and what would be its object if
// the frame is JSON and has no third field. If the object is JSON too, it is.
func openJSONEvent(frame []byte) (eventType, object []byte, ok bool) {
	rest, ok := bytes.CutPrefix(frame, jsonEventType)
	if !ok {
		return nil, nil, false
	}
	eventType, object, ok = bytes.Cut(rest, jsonEventObject)
	if !ok || len(object) == 0 || object[len(object)-1] != '}' {
		return nil, nil, false
	}
	return eventType, object[:len(object)-1], true
}

// objectEvent returns the type of an event that carries an object of the
// resource.
func objectEvent(text []byte) (watch.EventType, bool) {
	switch t := watch.EventType(text); t {
	case watch.Added:
		return watch.Added, true
	case watch.Modified:
		return watch.Modified, true
	case watch.Deleted:
		return watch.Deleted, true
	case watch.Bookmark:
		return watch.Bookmark, true
	}
	return "", false
}
