package cluster

import (
	"fmt"
	"mime"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
)

// codec decodes the watch events of one resource. Each of its decodings has two
// ways: the short one, for an event as servers write it with an object of the
// expected type, and client-go's own decoders for all else. It is not changed
// once made, and what it returns shares no memory with the frame.
type codec struct {
	negotiator runtime.ClientNegotiator
	// wire is what the objects say they are; empty takes the short way never.
	wire schema.GroupVersionKind
	// example's type is the objects'; nil for unstructured ones.
	example reflect.Type
	// finish is called with every object that is not an error's.
	finish func(runtime.Object)
}

// newCodec returns a codec for objects of the example's type, which call
// themselves wire.
func newCodec(n runtime.NegotiatedSerializer, wire schema.GroupVersionKind, example runtime.Object) *codec {
	c := &codec{
		negotiator: runtime.NewClientNegotiator(n, wire.GroupVersion()),
		wire:       wire,
		finish:     func(runtime.Object) {},
	}
	if _, ok := example.(*unstructured.Unstructured); !ok {
		c.example = reflect.TypeOf(example).Elem()
	}
	return c
}

// decoder decodes the events of one stream. It may be used by several goroutines
// at a time.
type decoder struct {
	*codec
	typeMeta []byte // wire, as protobuf
	json     bool
	events   runtime.Decoder
	objects  runtime.Decoder
}

// open returns the decoder of an answer with these headers; false if it is an
// answer that only client-go can read, if anybody.
func (c *codec) open(h http.Header) (*decoder, bool) {
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || h.Get("Content-Encoding") != "" {
		return nil, false
	}
	d := &decoder{codec: c, json: mediaType == runtime.ContentTypeJSON}
	if !d.json && mediaType != runtime.ContentTypeProtobuf {
		return nil, false
	}
	if d.objects, d.events, _, err = c.negotiator.StreamDecoder(mediaType, params); err != nil {
		return nil, false
	}
	apiVersion, kind := c.wire.ToAPIVersionAndKind()
	said := runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}
	if d.typeMeta, err = said.Marshal(); err != nil {
		return nil, false
	}
	return d, true
}

// unreadableError says that an object can't be decoded, in an event that can.
type unreadableError struct {
	event watch.EventType
	err   error
}

func (e *unreadableError) Error() string { return e.err.Error() }

// decode returns the event in a frame. The error is an *unreadableError if the
// events after it can still be trusted.
func (d *decoder) decode(frame []byte) (e watch.Event, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("decoding panicked: %v", p)
			if t, ok := d.eventType(frame); ok {
				err = &unreadableError{t, err}
			}
		}
	}()
	e, ok := d.short(frame)
	if !ok {
		e, err = d.long(frame)
	}
	if err == nil && e.Type != watch.Error {
		d.finish(e.Object)
	}
	return e, err
}

// eventType returns the type of an event whose object went wrong; false if it
// does not matter to whom it comes what is in the object.
func (d *decoder) eventType(frame []byte) (watch.EventType, bool) {
	split := openProtobufEvent
	if d.json {
		split = openJSONEvent
	}
	text, _, ok := split(frame)
	if !ok {
		return "", false
	}
	t, ok := objectEvent(text)
	return t, ok && t != watch.Bookmark
}

// short decodes an ordinary event.
func (d *decoder) short(frame []byte) (watch.Event, bool) {
	var obj runtime.Object
	var text []byte
	var ok bool
	switch {
	case d.json && d.example == nil:
		text, obj, ok = d.shortUnstructured(frame)
	case !d.json && d.example != nil:
		text, obj, ok = d.shortProtobuf(frame)
	}
	if !ok {
		return watch.Event{}, false
	}
	t, ok := objectEvent(text)
	return watch.Event{Type: t, Object: obj}, ok
}

// protobufObject is what types that are encoded as protobuf have in common.
type protobufObject interface {
	runtime.Object
	Unmarshal(data []byte) error
}

func (d *decoder) shortProtobuf(frame []byte) ([]byte, runtime.Object, bool) {
	text, object, ok := openProtobufEvent(frame)
	if !ok {
		return nil, nil, false
	}
	typeMeta, content, ok := openUnknown(object)
	if !ok || string(typeMeta) != string(d.typeMeta) {
		return nil, nil, false
	}
	obj, ok := reflect.New(d.example).Interface().(protobufObject)
	if !ok || obj.Unmarshal(content) != nil {
		return nil, nil, false
	}
	return text, obj, true
}

func (d *decoder) shortUnstructured(frame []byte) ([]byte, runtime.Object, bool) {
	text, object, ok := openJSONEvent(frame)
	if !ok {
		return nil, nil, false
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if err := utiljson.Unmarshal(object, &u.Object); err != nil || u.GroupVersionKind() != d.wire {
		return nil, nil, false
	}
	return text, u, true
}

// long decodes an event as client-go does.
func (d *decoder) long(frame []byte) (watch.Event, error) {
	var got metav1.WatchEvent
	res, _, err := d.events.Decode(frame, nil, &got)
	if err != nil {
		return watch.Event{}, err
	}
	if res != &got {
		return watch.Event{}, fmt.Errorf("a %T is no watch event", res)
	}
	e := watch.Event{Type: watch.EventType(got.Type)}
	switch e.Type {
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark, watch.Error:
	default:
		return watch.Event{}, fmt.Errorf("unknown type of watch event: %q", got.Type)
	}
	e.Object, err = runtime.Decode(d.objects, got.Object.Raw)
	switch {
	case err == nil:
		return e, nil
	case e.Type == watch.Error || e.Type == watch.Bookmark:
		// Not wrapped: an end within the object is none of the stream's.
		return watch.Event{}, fmt.Errorf("unable to decode the object of a watch event of type %s: %v", e.Type, err)
	}
	return watch.Event{}, &unreadableError{e.Type, err}
}
