package cluster

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
)

const (
	// readSize is how much is asked of the connection at a time.
	readSize = 64 << 10
	// maxFrame is the length beyond which client-go takes no frame either.
	maxFrame = 16 << 20
)

// framer cuts a stream into frames.
type framer interface {
	// next returns one frame, which stays as it is until the next call, or what
	// ends the stream: io.EOF where no frame has begun.
	next() ([]byte, error)
}

// lengthFramer reads frames that follow their length in four bytes, big endian.
type lengthFramer struct {
	r     *bufio.Reader
	spent int    // length of the frame returned last, still in r
	large []byte // a frame that does not fit into r
}

func newLengthFramer(r io.Reader) *lengthFramer {
	return &lengthFramer{r: bufio.NewReaderSize(r, readSize)}
}

func (f *lengthFramer) next() ([]byte, error) {
	const header = 4
	// What is buffered can be discarded.
	_, _ = f.r.Discard(f.spent)
	f.spent, f.large = 0, nil
	head, err := f.r.Peek(header)
	if err != nil {
		return nil, cutOff(err, len(head) > 0)
	}
	size := int64(binary.BigEndian.Uint32(head))
	switch {
	case size > maxFrame:
		// Unlike client-go, which reads 16 MiB of it first [large frame].
		return nil, streaming.ErrObjectTooLarge
	case header+size <= readSize:
		frame, err := f.r.Peek(int(header + size))
		if err != nil {
			return nil, cutOff(err, true)
		}
		f.spent = len(frame)
		return frame[header:], nil
	}
	_, _ = f.r.Discard(header)
	f.large = make([]byte, size)
	if _, err := io.ReadFull(f.r, f.large); err != nil {
		return nil, cutOff(err, true)
	}
	return f.large, nil
}

// cutOff returns err, and for an end within a frame the error that says so.
func cutOff(err error, within bool) error {
	if within && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// jsonFramer reads JSON objects, with or without space between them. It only
// counts braces: whether what is in them is JSON, the decoder finds out.
type jsonFramer struct {
	r   io.Reader
	err error // of the last read; met once what was read is used up

	buf        []byte
	start, end int // buf[start:end] was read and not returned yet

	// Of the object that begins at start, the bytes before seen have been looked
	// at; depth is how many braces are open there.
	seen, depth      int
	quoted, escaping bool

	// plain reads the rest of a stream in which something else than objects was
	// found.
	plain *json.Decoder
}

func newJSONFramer(r io.Reader) *jsonFramer {
	return &jsonFramer{r: r, buf: make([]byte, readSize)}
}

func (f *jsonFramer) next() ([]byte, error) {
	for f.plain == nil {
		switch {
		case f.depth == 0 && !f.begin(), f.depth > 0 && !f.scan():
			if err := f.fill(); err != nil {
				return nil, cutOff(err, f.start < f.end)
			}
		case f.depth == 0 && f.plain == nil:
			frame := f.buf[f.start:f.seen]
			f.start = f.seen
			return frame, nil
		}
	}
	var frame json.RawMessage
	err := f.plain.Decode(&frame)
	return frame, err
}

// begin looks for the first byte of an object and says whether there was one,
// of whatever.
func (f *jsonFramer) begin() bool {
	f.skipSpace()
	if f.start == f.end {
		return false
	}
	if f.buf[f.start] == '{' {
		f.depth, f.seen = 1, f.start+1
		return true
	}
	read := bytes.Clone(f.buf[f.start:f.end])
	f.plain = json.NewDecoder(io.MultiReader(bytes.NewReader(read), f.r))
	return true
}

func (f *jsonFramer) skipSpace() {
	for f.start < f.end {
		switch f.buf[f.start] {
		case ' ', '\t', '\r', '\n':
			f.start++
			continue
		}
		return
	}
}

// scan looks for the end of the object and says whether it was found, in which
// case no brace is open any more and seen is the end.
func (f *jsonFramer) scan() bool {
	for f.seen < f.end {
		if f.quoted {
			f.skipQuoted()
			continue
		}
		c := f.buf[f.seen]
		f.seen++
		switch c {
		case '"':
			f.quoted = true
		case '{':
			f.depth++
		case '}':
			if f.depth--; f.depth == 0 {
				return true
			}
		}
	}
	return false
}

// skipQuoted goes to the end of the string that seen is in, if it is there.
func (f *jsonFramer) skipQuoted() {
	if f.escaping {
		f.escaping = false
		f.seen++
		return
	}
	rest := f.buf[f.seen:f.end]
	quote := bytes.IndexByte(rest, '"')
	if quote >= 0 {
		rest = rest[:quote]
	}
	switch escape := bytes.IndexByte(rest, '\\'); {
	case escape >= 0:
		f.escaping = true
		f.seen += escape + 1
	case quote >= 0:
		f.quoted = false
		f.seen += quote + 1
	default:
		f.seen = f.end
	}
}

// fill reads more, behind what is there.
func (f *jsonFramer) fill() error {
	if f.err != nil {
		return f.err
	}
	if f.end-f.start > maxFrame {
		return streaming.ErrObjectTooLarge
	}
	if f.start > 0 {
		copy(f.buf, f.buf[f.start:f.end])
		f.seen -= f.start
		f.end -= f.start
		f.start = 0
	}
	if f.end == len(f.buf) {
		f.buf = append(f.buf, make([]byte, len(f.buf))...)
	}
	var n int
	n, f.err = f.r.Read(f.buf[f.end:])
	f.end += n
	if n > 0 {
		return nil
	}
	return f.err
}
