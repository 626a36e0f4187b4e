package cluster

import (
	"context"
	"io"
	"net/http"
)

// takenKey is the context key under which a *taking goes with a request.
type takenKey struct{}

// taking asks for the body of the answer to one request, and holds it then.
type taking struct {
	// wants says whether the body of an answer of that kind is to be taken.
	wants func(http.Header) bool
	body  io.ReadCloser // nil: the answer was left to client-go
}

// with returns a context whose request has its body taken.
func (t *taking) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, takenKey{}, t)
}

// taker is the transport that takes bodies. All that comes before a body is
// client-go's: the request, its retries, the errors it makes of refusals, the
// warnings. It finds an empty body then, and its own reader of the stream ends.
type taker struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t taker) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	if taking, ok := r.Context().Value(takenKey{}).(*taking); ok && taking.wants(answer.Header) {
		taking.body, answer.Body = answer.Body, http.NoBody
	}
	return answer, nil
}

// WrappedRoundTripper is how apimachinery looks through a transport.
func (t taker) WrappedRoundTripper() http.RoundTripper { return t.base }

// takingClient returns a copy of client through which bodies can be taken.
func takingClient(client *http.Client) *http.Client {
	c := *client
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = taker{c.Transport}
	return &c
}
