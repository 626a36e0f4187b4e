package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of deviations in doc.go and the comments on them hold each other: a
// comment that begins "Unlike client-go," names one row, in brackets, and every
// row is named where the code does it, or where a test shows it.

var (
	// A row: [name]  what  why. Cells are at least two spaces apart.
	tableRow = regexp.MustCompile(`(?m)^\t\[([a-z-]+(?: [a-z-]+)*)\] +(\S.*?)  +(\S.*)$`)
	rowName  = regexp.MustCompile(`\[([a-z-]+(?: [a-z-]+)*)\]`)
	unlike   = regexp.MustCompile(`(?i)\bunlike\b[^.;:]{0,12}\bclient-go\b,?`)
	// Where one statement of a comment ends: at a paragraph, and at an item of a
	// list.
	statementEnd = regexp.MustCompile(`\n\n|\n *- `)
	// The list of a stage's deviations in its doc.go, up to the next heading.
	stageList = regexp.MustCompile(`(?s)\n# Deviations from client-go\n(.*?)(?:\n# |$)`)
)

// statement is one of those that a comment is made of.
type statement struct{ at, text string }

func TestEveryDeviationHasItsRow(t *testing.T) {
	rows, named := tableRows(t), map[string]bool{}
	found := 0
	for _, s := range statements(t) {
		for _, name := range rowName.FindAllStringSubmatch(s.text, -1) {
			named[name[1]] = true
		}
		starts := unlike.FindAllStringIndex(s.text, -1)
		for n, start := range starts {
			rest := s.text[start[1]:]
			if n+1 < len(starts) {
				rest = s.text[start[1]:starts[n+1][0]]
			}
			found++
			if begins := s.text[start[0]:start[1]]; begins != "Unlike client-go," {
				t.Errorf("%s: %q is to begin \"Unlike client-go,\"", s.at, begins+rest)
			}
			if names := rowName.FindAllStringSubmatch(rest, -1); len(names) != 1 || !rows[names[0][1]] {
				t.Errorf("%s: \"Unlike client-go,%s\" is to name one row of the table in doc.go, and names %q", s.at, rest, names)
			}
		}
	}
	if found < len(rows)/2 {
		t.Errorf("only %d comments were found", found)
	}
	for name := range rows {
		if !named[name] {
			t.Errorf("the row [%s] of the table in doc.go is named by no comment and no test", name)
		}
	}
}

// TestEveryStagesListIsInTheTable: what a stage's own documentation lists is in
// the one table, too.
func TestEveryStagesListIsInTheTable(t *testing.T) {
	rows, lists := tableRows(t), 0
	each(t, func(path string, file *ast.File) {
		if filepath.Base(path) != "doc.go" || file.Doc == nil {
			return
		}
		list := stageList.FindStringSubmatch(file.Doc.Text())
		if list == nil {
			return
		}
		lists++
		for _, item := range statementEnd.Split(list[1], -1) {
			item = strings.Join(strings.Fields(item), " ")
			if names := rowName.FindAllStringSubmatch(item, -1); strings.Contains(item, "client-go") && (len(names) == 0 || !rows[names[0][1]]) {
				t.Errorf("%s: %q is to name a row of the table in engine/doc.go", path, item)
			}
		}
	})
	if lists < 2 {
		t.Errorf("only %d lists were found", lists)
	}
}

// TestEveryOptionOfHardeningIsInTheTable: what Options.Strict takes back is a
// deviation, all of it.
func TestEveryOptionOfHardeningIsInTheTable(t *testing.T) {
	rows, fields := tableRows(t), 0
	each(t, func(path string, file *ast.File) {
		if path != "options.go" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.TypeSpec)
			if !is || spec.Name.Name != "Hardening" {
				return true
			}
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				fields++
				if name := rowName.FindStringSubmatch(strings.ReplaceAll(field.Doc.Text(), "\n", " ")); name == nil || !rows[name[1]] {
					t.Errorf("%s names no row of the table in doc.go", field.Names[0].Name)
				}
			}
			return false
		})
	})
	if fields == 0 {
		t.Error("no field was found")
	}
}

// tableRows returns the names of the table's rows.
func tableRows(t *testing.T) map[string]bool {
	rows := map[string]bool{}
	each(t, func(path string, file *ast.File) {
		if path != "doc.go" {
			return
		}
		for _, row := range tableRow.FindAllStringSubmatch(file.Doc.Text(), -1) {
			if rows[row[1]] {
				t.Errorf("the table in doc.go has two rows [%s]", row[1])
			}
			rows[row[1]] = true
		}
		if brackets := strings.Count(file.Doc.Text(), "\n\t["); brackets != len(rows) {
			t.Errorf("the table in doc.go has %d rows, and %d that have a name, a what and a why", brackets, len(rows))
		}
	})
	return rows
}

// statements returns what all comments say but those of the table's own file.
func statements(t *testing.T) (all []statement) {
	each(t, func(path string, file *ast.File) {
		if path == "doc.go" || path == "deviations_test.go" {
			return
		}
		for _, comment := range file.Comments {
			for _, text := range statementEnd.Split(comment.Text(), -1) {
				all = append(all, statement{path, strings.Join(strings.Fields(text), " ")})
			}
		}
	})
	return all
}

// each parses the files of this folder and those below it, tests too.
func each(t *testing.T, do func(path string, file *ast.File)) {
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err == nil {
			do(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
