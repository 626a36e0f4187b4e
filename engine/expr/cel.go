package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
	"k8s.io/client-go/tools/cache"
)

// The variables of an expression, named as in admission policies.
const (
	objectVariable = "object"
	oldVariable    = "oldObject"
)

// costLimit is what one evaluation may cost, in CEL's units: about as many steps.
// It stands for some milliseconds.
const costLimit = 100_000

// environment compiles CEL expressions over some variables.
type environment struct {
	env     *cel.Env
	adapter *adapter
}

func newEnvironment(v *view, variables ...string) *environment {
	e := &environment{adapter: newAdapter(v)}
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(e.adapter),
		cel.OptionalTypes(),
		cel.CrossTypeNumericComparisons(true),
		ext.Strings(),
		ext.Lists(),
		ext.Sets(),
	}
	for _, name := range variables {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	var err error
	if e.env, err = cel.NewEnv(options...); err != nil {
		panic("bug: " + err.Error()) // the options are constants
	}
	return e
}

// program compiles cel:EXPR; allowed says whether the type it gives is of use.
func (e *environment) program(text string, allowed func(*cel.Type) bool, wanted string) (p cel.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, wrong(text, len(celPrefix), "CEL cannot compile it: %v", r)
		}
	}()
	expression := strings.TrimPrefix(text, celPrefix)
	if strings.TrimSpace(expression) == "" {
		return nil, wrong(text, len(celPrefix), "there is nothing after cel:; write an expression, as in cel:object.spec.nodeName")
	}
	ast, issues := e.env.Compile(expression)
	if issues.Err() != nil {
		return nil, e.complain(text, issues)
	}
	if !allowed(ast.OutputType()) {
		return nil, wrong(text, len(celPrefix), "it gives a %s; write one that gives %s", ast.OutputType(), wanted)
	}
	if p, err = e.env.Program(ast, cel.CostLimit(costLimit), cel.EvalOptions(cel.OptOptimize)); err != nil {
		return nil, wrong(text, len(celPrefix), "CEL cannot run it: %v", err)
	}
	return p, nil
}

// complain turns the first of what CEL has found into an Error.
func (e *environment) complain(text string, issues *cel.Issues) *Error {
	errs := issues.Errors()
	if len(errs) == 0 {
		return wrong(text, len(celPrefix), "%v", issues.Err())
	}
	first := errs[0]
	// Lines are counted from 1, columns in characters from 0.
	column := utf8.RuneCountInString(celPrefix) + first.Location.Column() + 1
	lines := strings.SplitAfter(strings.TrimPrefix(text, celPrefix), "\n")
	for _, line := range lines[:min(max(first.Location.Line()-1, 0), len(lines))] {
		column += utf8.RuneCountInString(line)
	}
	reason, _, _ := strings.Cut(first.Message, "\n")
	// What the parser expected is every token there is.
	reason, _, _ = strings.Cut(reason, " expecting {")
	reason = strings.ReplaceAll(reason, "mismatched input '<EOF>'", "something is missing at the end")
	if strings.HasPrefix(reason, "undeclared reference to 'self'") {
		reason += "; the object is called object"
	} else if strings.HasPrefix(reason, "undeclared reference to") {
		reason += "; fields are reached through object, as in object.spec.nodeName"
	}
	return &Error{Text: text, Column: column, Reason: reason}
}

// variables are the values of an evaluation. They implement cel.Activation
// without a map.
type variables struct{ object, old any }

// ResolveName implements cel.Activation.
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case objectVariable:
		return v.object, true
	case oldVariable:
		return v.old, true
	}
	return nil, false
}

// Parent implements cel.Activation.
func (v *variables) Parent() cel.Activation { return nil }

// indexFunc makes cel:EXPR for an index.
func (e *environment) indexFunc(text string) (cache.IndexFunc, error) {
	program, err := e.program(text, isText, "a string, number or bool, or a list of them")
	if err != nil {
		return nil, err
	}
	return func(obj any) (values []string, err error) {
		defer contain(&err)
		object, err := e.adapter.object(obj)
		if err != nil {
			return nil, err
		}
		result, _, err := program.Eval(&variables{object: object})
		if err != nil {
			return nil, explain(err)
		}
		return texts(nil, result, true)
	}, nil
}

// condition makes cel:EXPR for a predicate.
func (e *environment) condition(text string) (func(obj, old any) (bool, error), error) {
	program, err := e.program(text, isBool, "a bool")
	if err != nil {
		return nil, err
	}
	return func(obj, old any) (holds bool, err error) {
		defer contain(&err)
		var v variables
		if v.object, err = e.adapter.object(obj); err != nil {
			return false, err
		}
		if v.old, err = e.adapter.object(old); err != nil {
			return false, err
		}
		result, _, err := program.Eval(&v)
		if err != nil {
			return false, explain(err)
		}
		b, ok := result.(types.Bool)
		if !ok {
			return false, fmt.Errorf("it gave a %s, not a bool", result.Type().TypeName())
		}
		return bool(b), nil
	}, nil
}

// explain adds to an error of an evaluation what to do about it, where that is
// known.
func explain(err error) error {
	switch text := err.Error(); {
	case strings.HasPrefix(text, "no such key: "):
		key := strings.TrimPrefix(text, "no such key: ")
		return fmt.Errorf("%w; where it may be missing, write .?%s", err, key)
	case strings.Contains(text, "cost limit exceeded"):
		return fmt.Errorf("it takes more than %d steps: %w", costLimit, err)
	}
	return err
}

// isText says whether a type can be what an object is filed under. What is only
// known at run time is left to texts.
func isText(t *cel.Type) bool {
	switch t.Kind() {
	case types.DynKind, types.AnyKind, types.TypeParamKind, types.NullTypeKind,
		types.StringKind, types.BoolKind, types.IntKind, types.UintKind, types.DoubleKind:
		return true
	case types.ListKind:
		return len(t.Parameters()) == 0 || t.Parameters()[0].Kind() != types.ListKind && isText(t.Parameters()[0])
	case types.OpaqueKind:
		return t.TypeName() == types.OptionalType.TypeName() && (len(t.Parameters()) == 0 || isText(t.Parameters()[0]))
	}
	return false
}

func isBool(t *cel.Type) bool { return t.IsDyn() || t.Kind() == types.BoolKind }

// texts appends a result as texts: none for null and for an optional without
// value, several for a list.
func texts(values []string, result ref.Val, listed bool) ([]string, error) {
	switch result := result.(type) {
	case types.Null:
		return values, nil
	case types.String:
		return append(values, string(result)), nil
	case types.Bool, types.Int, types.Uint:
		return append(values, fmt.Sprint(result.Value())), nil
	case types.Double:
		return append(values, textOf(float64(result))), nil
	case *types.Optional:
		if !result.HasValue() {
			return values, nil
		}
		return texts(values, result.GetValue(), listed)
	case traits.Lister:
		if !listed {
			break
		}
		for it := result.Iterator(); it.HasNext() == types.True; {
			var err error
			if values, err = texts(values, it.Next(), false); err != nil {
				return nil, err
			}
		}
		return values, nil
	case *types.Err:
		return nil, result
	}
	return nil, fmt.Errorf("it gave a %s; it has to give a string, number or bool, or a list of them", result.Type().TypeName())
}
