package demo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/btree"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// listQuery is a LIST, understood.
type listQuery struct {
	// atLeast is the revision to wait for; exact says that the answer is as of
	// that revision and no later.
	atLeast uint64
	exact   bool
	// from is the key to begin at, from a continue token; paged says that there
	// was one.
	from  string
	paged bool
	limit int
}

// newListQuery reads a LIST's options and refuses what contradicts itself.
func newListQuery(o metav1.ListOptions) (listQuery, error) {
	if errs := validateList(o); len(errs) > 0 {
		return listQuery{}, errOptions(errs)
	}
	revision, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return listQuery{}, apierrors.NewBadRequest(err.Error())
	}
	q := listQuery{atLeast: revision}
	// A list that any revision will do for is answered from memory, whole.
	if o.ResourceVersion != "0" && o.Limit > 0 {
		q.limit = int(o.Limit)
	}
	switch {
	case o.Continue != "":
		if revision > 0 {
			return listQuery{}, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		token, err := decodeContinue(o.Continue)
		if err != nil {
			return listQuery{}, apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
		}
		q.from, q.paged = token.StartKey, true
		if token.ResourceVersion > 0 {
			q.atLeast, q.exact = uint64(token.ResourceVersion), true
		}
	case o.ResourceVersionMatch == metav1.ResourceVersionMatchExact:
		q.exact = true
	case o.ResourceVersionMatch == "":
		// A limit with a revision has always meant that very revision.
		q.exact = q.limit > 0 && revision > 0
	}
	return q, nil
}

func validateList(o metav1.ListOptions) field.ErrorList {
	var errs field.ErrorList
	if match := o.ResourceVersionMatch; match != "" {
		path := field.NewPath("resourceVersionMatch")
		if o.ResourceVersion == "" {
			errs = append(errs, field.Forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if o.Continue != "" {
			errs = append(errs, field.Forbidden(path, "resourceVersionMatch is forbidden when continue is provided"))
		}
		if match != metav1.ResourceVersionMatchExact && match != metav1.ResourceVersionMatchNotOlderThan {
			errs = append(errs, field.NotSupported(path, match, []string{
				string(metav1.ResourceVersionMatchExact), string(metav1.ResourceVersionMatchNotOlderThan), "",
			}))
		}
		if match == metav1.ResourceVersionMatchExact && o.ResourceVersion == "0" {
			errs = append(errs, field.Forbidden(path, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if o.SendInitialEvents != nil {
		errs = append(errs, field.Forbidden(field.NewPath("sendInitialEvents"), "sendInitialEvents is forbidden for list"))
	}
	return errs
}

// list answers a LIST: the objects that match in one namespace ("" is all), in
// the order of their keys.
func (s *server) list(ctx context.Context, t *table, namespace string, sel selector, q listQuery) (runtime.Object, error) {
	objects, revision, err := s.snapshot(ctx, t, q)
	if err != nil {
		return nil, err
	}
	first, last := keyRange(objects, namespace)
	if q.paged {
		first = max(first, rank(objects, q.from))
	}
	var items []object
	next := first
	for ; next < last && (q.limit == 0 || len(items) < q.limit); next++ {
		if _, o, _ := objects.GetAt(next); sel.matches(o) {
			items = append(items, o)
		}
	}
	result := t.resource.newList(items)
	m, err := meta.ListAccessor(result)
	if err != nil {
		return nil, fmt.Errorf("list of %s: %w", t.resource.name(), err)
	}
	m.SetResourceVersion(formatRevision(revision))
	if next < last {
		m.SetContinue(encodeContinue(revision, keyOf(items[len(items)-1])+"\x00"))
		// What the selectors will let through is not known before it is read.
		if sel.everything() {
			remaining := int64(last - next)
			m.SetRemainingItemCount(&remaining)
		}
	}
	return result, nil
}

// snapshot returns the objects of which a LIST speaks, and their revision.
func (s *server) snapshot(ctx context.Context, t *table, q listQuery) (*btree.Map[string, object], uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, 0, errShutDown()
	}
	if err := s.awaitLocked(ctx, q.atLeast); err != nil {
		return nil, 0, err
	}
	if !q.exact {
		return t.objects.Copy(), s.revision, nil
	}
	if q.atLeast < t.history.floor {
		if q.paged {
			return nil, 0, errContinueExpired(encodeContinue(0, q.from))
		}
		return nil, 0, errListExpired()
	}
	return t.asOfLocked(q.atLeast), q.atLeast, nil
}

// keyRange returns the ranks of a namespace's objects: first <= rank < last.
func keyRange(objects *btree.Map[string, object], namespace string) (first, last int) {
	if namespace == "" {
		return 0, objects.Len()
	}
	// "0" follows "/" in the order of bytes.
	return rank(objects, namespace+"/"), rank(objects, namespace+"0")
}

// rank returns how many keys are less than the key.
func rank(objects *btree.Map[string, object], key string) int {
	low, high := 0, objects.Len()
	for low < high {
		mid := low + (high-low)/2
		if k, _, _ := objects.GetAt(mid); k < key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// continueToken is the API server's: clients treat it as opaque, people decode
// it.
type continueToken struct {
	APIVersion string `json:"v"`
	// ResourceVersion is -1 where the list goes on at the present revision.
	ResourceVersion int64  `json:"rv"`
	StartKey        string `json:"start"`
}

const continueVersion = "meta.k8s.io/v1"

// encodeContinue makes the token for a list as of a revision (0: the present)
// that goes on at a key.
func encodeContinue(revision uint64, from string) string {
	token := continueToken{APIVersion: continueVersion, ResourceVersion: int64(revision), StartKey: from}
	if revision == 0 {
		token.ResourceVersion = -1
	}
	text, err := json.Marshal(token)
	if err != nil {
		panic("bug: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func decodeContinue(text string) (continueToken, error) {
	var token continueToken
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &token)
	}
	switch {
	case err != nil:
		return token, fmt.Errorf("continue key is not valid: %w", err)
	case token.APIVersion != continueVersion:
		return token, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %v", token.APIVersion)
	case token.ResourceVersion == 0:
		return token, errors.New("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case token.StartKey == "" || strings.Contains(token.StartKey, ".."):
		return token, fmt.Errorf("continue key is not valid: %v", token.StartKey)
	}
	return token, nil
}
