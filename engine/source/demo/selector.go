package demo

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selector says which objects a request is about. Nil selectors select all.
type selector struct {
	resource *resource
	labels   labels.Selector
	fields   fields.Selector
}

// newSelector parses selectors and answers with the server's errors. Several of
// one kind must all match.
func newSelector(r *resource, labelTexts, fieldTexts []string) (selector, error) {
	s := selector{resource: r}
	for _, text := range labelTexts {
		if text == "" {
			continue
		}
		parsed, err := labels.Parse(text)
		if err != nil {
			return selector{}, apierrors.NewBadRequest(err.Error())
		}
		requirements, _ := parsed.Requirements()
		if s.labels == nil {
			s.labels = labels.NewSelector()
		}
		s.labels = s.labels.Add(requirements...)
	}
	var parsed []fields.Selector
	for _, text := range fieldTexts {
		if text == "" {
			continue
		}
		one, err := fields.ParseSelector(text)
		if err != nil {
			return selector{}, apierrors.NewBadRequest(err.Error())
		}
		for _, requirement := range one.Requirements() {
			if r.fields[requirement.Field] == nil {
				return selector{}, apierrors.NewBadRequest(unknownField(r, requirement.Field))
			}
		}
		parsed = append(parsed, one)
	}
	if len(parsed) > 0 {
		s.fields = fields.AndSelectors(parsed...)
	}
	return s, nil
}

// unknownField words the refusal as the server does: types with selectable
// fields of their own have another text.
func unknownField(r *resource, field string) string {
	if r.kind == "Deployment" {
		return fmt.Sprintf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, field)
	}
	return "field label not supported: " + field
}

// everything reports whether no object can fail to match.
func (s selector) everything() bool {
	return (s.labels == nil || s.labels.Empty()) && (s.fields == nil || s.fields.Empty())
}

func (s selector) matches(o object) bool {
	if s.labels != nil && !s.labels.Matches(labels.Set(o.GetLabels())) {
		return false
	}
	return s.fields == nil || s.fields.Matches(objectFields{s.resource, o})
}

// objectFields reads the fields that a selector names, and no others.
type objectFields struct {
	resource *resource
	object   object
}

func (f objectFields) Has(field string) bool { return f.resource.fields[field] != nil }

func (f objectFields) Get(field string) string {
	get := f.resource.fields[field]
	if get == nil {
		return ""
	}
	return get(f.object)
}
