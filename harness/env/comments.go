package env

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// FieldComments returns the comments of the fields of a struct type, by field name. Comments above
// and behind a field are joined into one line. The map is empty if the sources are missing.
func FieldComments(of reflect.Type) map[string]string {
	out := map[string]string{}
	t := programTree()
	if t.root == "" || of.Name() == "" {
		return out
	}
	dir := filepath.Join(t.root, filepath.FromSlash(strings.TrimPrefix(of.PkgPath(), t.module)))
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.TypeSpec)
			if !is || spec.Name.Name != of.Name() {
				return true
			}
			if fields, is := spec.Type.(*ast.StructType); is {
				for _, f := range fields.Fields.List {
					text := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
					for _, name := range f.Names {
						out[name.Name] = text
					}
				}
			}
			return false
		})
	}
	return out
}
