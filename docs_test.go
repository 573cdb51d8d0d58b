package kohort_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is a page of the documentation.
type page struct {
	name string // below the root
	text string
}

// read reads a page.
func read(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return page{name, string(text)}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("`([^`]+)`")
	method  = regexp.MustCompile(`^[A-Za-z]+\.[A-Za-z0-9]+$`)
	errCode = regexp.MustCompile(`^[A-Z]+(_[A-Z]+)+$`)
)

// links returns what is wrong with the links of a page to files and headings of the repository.
func (p page) links() []string {
	var complaints []string
	for _, found := range link.FindAllStringSubmatch(p.text, -1) {
		target, anchor, _ := strings.Cut(found[1], "#")
		if strings.Contains(target, "://") {
			continue
		}
		file := p.name
		if target != "" {
			file = path.Join(path.Dir(p.name), target)
		}
		text, err := os.ReadFile(file)
		if _, missing := os.Stat(file); missing != nil {
			complaints = append(complaints, fmt.Sprintf("%s links to %s, which does not exist", p.name, file))
		} else if anchor != "" && (err != nil || !slices.Contains(anchors(string(text)), anchor)) {
			complaints = append(complaints, fmt.Sprintf("%s links to #%s, and %s has no such heading", p.name, anchor, file))
		}
	}
	return complaints
}

// anchors are the names under which a page's headings can be linked to.
func anchors(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			title = strings.ToLower(strings.TrimSpace(title))
			list = append(list, strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(title, ""), " ", "-"))
		}
	}
	return list
}

// rows returns the cells of the tables under a head that begins with a word.
func (p page) rows(first string) [][]string {
	var rows [][]string
	inside := false
	for line := range strings.Lines(p.text) {
		line = strings.TrimSpace(line)
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			inside = false
		case cells[0] == first:
			inside = true
		case inside && !strings.HasPrefix(line, "|--"):
			rows = append(rows, cells)
		}
	}
	return rows
}

// functions are the functions of the house: by file, by "Type.method" or by name.
type functions map[string]map[string]*ast.FuncDecl

// functionsOf lists the functions of files that are no tests.
func functionsOf(sources []*source) functions {
	all := functions{}
	for _, s := range sources {
		if s.test() {
			continue
		}
		file := path.Join(s.dir, s.name)
		all[file] = map[string]*ast.FuncDecl{}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				all[file][fullName(f)] = f
			}
		}
	}
	return all
}

// fullName is "Type.method" or the function's name.
func fullName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// mentions tells whether a function's body names another: as a method, or, if it is none, as it is.
func mentions(f *ast.FuncDecl, name string) bool {
	_, last, isMethod := strings.Cut(name, ".")
	found := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || isMethod && n.Sel.Name == last || !isMethod && n.Sel.Name == name
		case *ast.Ident:
			found = found || !isMethod && n.Name == name
		}
		return !found
	})
	return found
}

// walks returns what is wrong with the tables of functions: each stands in the file of its row, and its name in the body
// of the one that it is said to be called in. A function that the text names exists.
func (p page) walks(all functions) []string {
	var complaints []string
	places := map[string]*ast.FuncDecl{}
	rows := p.rows("function")
	for _, cells := range rows {
		name, file := span(cells[0]), path.Join(path.Dir(p.name), target(cells[1]))
		f := all[file][name]
		if f == nil {
			complaints = append(complaints, fmt.Sprintf("%s: there is no function %s in %s", p.name, name, file))
			continue
		}
		places[name] = f
	}
	for _, cells := range rows {
		name, caller := span(cells[0]), span(cells[2])
		if caller == "" {
			continue
		}
		f := places[caller]
		if f == nil {
			f = all.find(caller)
		}
		switch {
		case f == nil:
			complaints = append(complaints, fmt.Sprintf("%s: %s, in which %s is said to be called, does not exist", p.name, caller, name))
		case !mentions(f, name):
			complaints = append(complaints, fmt.Sprintf("%s: %s does not call %s", p.name, caller, name))
		}
	}
	for _, found := range code.FindAllStringSubmatch(p.text, -1) {
		if name := found[1]; method.MatchString(name) && path.Ext(name) != ".go" && all.find(name) == nil {
			complaints = append(complaints, fmt.Sprintf("%s: there is no function %s", p.name, name))
		}
	}
	return complaints
}

// find returns a function wherever it is.
func (all functions) find(name string) *ast.FuncDecl {
	for _, file := range all {
		if f := file[name]; f != nil {
			return f
		}
	}
	return nil
}

// span returns the code in a cell.
func span(cell string) string {
	if found := code.FindStringSubmatch(cell); found != nil {
		return found[1]
	}
	return ""
}

// target returns where the link in a cell goes.
func target(cell string) string {
	if found := link.FindStringSubmatch(cell); found != nil {
		return found[1]
	}
	return ""
}

// arrows are the imports that a page draws.
func (p page) arrows() []string {
	var list []string
	for line := range strings.Lines(p.text) {
		if from, to, ok := strings.Cut(strings.TrimSpace(line), " --> "); ok {
			list = append(list, from+" --> "+to)
		}
	}
	return list
}

// imports are those of our own packages, tests apart.
func imports(sources []*source) []string {
	var list []string
	for _, s := range sources {
		if s.test() || strings.HasPrefix(s.dir, "integration") {
			continue
		}
		for _, spec := range s.file.Imports {
			if to, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/"); ok {
				list = append(list, s.dir+" --> "+to)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// difference is what one list has, and another has not.
func difference(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// claims returns the list items of a page, each on one line.
func (p page) claims() []string {
	var list []string
	inside := false
	for line := range strings.Lines(p.text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "- "):
			list, inside = append(list, line), true
		case inside && strings.HasPrefix(line, "  "):
			list[len(list)-1] += " " + strings.TrimSpace(line)
		default:
			inside = false
		}
	}
	return list
}

// transcripts is where the stories are that prove claims.
const transcripts = "coordinator/testdata"

// unproved returns what is wrong with the claims of a page: each links to a transcript, and the error codes that it names
// are in one of those that it links to. What the page quotes of a transcript is in there word by word.
func (p page) unproved() []string {
	var complaints []string
	for _, claim := range p.claims() {
		proof := ""
		for _, found := range link.FindAllStringSubmatch(claim, -1) {
			file := path.Join(path.Dir(p.name), found[1])
			if text, err := os.ReadFile(file); err == nil && path.Dir(file) == transcripts {
				proof += string(text)
			}
		}
		if proof == "" {
			complaints = append(complaints, "without a transcript: "+claim)
			continue
		}
		for _, found := range code.FindAllStringSubmatch(claim, -1) {
			if errCode.MatchString(found[1]) && !strings.Contains(proof, found[1]) {
				complaints = append(complaints, "its transcript does not show "+found[1]+": "+claim)
			}
		}
	}
	_, rest, found := strings.Cut(p.text, "```transcript ")
	for ; found; _, rest, found = strings.Cut(rest, "```transcript ") {
		name, quote, _ := strings.Cut(rest, "\n")
		quote, _, _ = strings.Cut(quote, "```")
		if text, err := os.ReadFile(path.Join(transcripts, name)); err != nil || !strings.Contains(string(text), quote) {
			complaints = append(complaints, name+" does not say:\n"+quote)
		}
	}
	return complaints
}

// TestPages holds the documentation against the code.
func TestPages(t *testing.T) {
	var complaints []string
	seen := 0
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (name != "." && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".md") {
			complaints = append(complaints, read(t, filepath.ToSlash(name)).links()...)
			seen++
		}
		return err
	})
	if err != nil || seen < 5 {
		t.Fatalf("%d pages, %v", seen, err)
	}
	sources := house(t)
	architecture, groups := read(t, "docs/architecture.md"), read(t, "docs/groups.md")
	if n := len(architecture.rows("function")); n < 50 {
		t.Errorf("the walks have %d steps: they are not read", n)
	}
	complaints = append(complaints, architecture.walks(functionsOf(sources))...)
	for _, arrow := range difference(imports(sources), architecture.arrows()) {
		complaints = append(complaints, "docs/architecture.md lacks the import "+arrow)
	}
	for _, arrow := range difference(architecture.arrows(), imports(sources)) {
		complaints = append(complaints, "docs/architecture.md draws an import that is not there: "+arrow)
	}
	if n := len(groups.claims()); n < 30 {
		t.Errorf("docs/groups.md has %d claims: they are not read", n)
	}
	for _, complaint := range append(complaints, groups.unproved()...) {
		t.Error(complaint)
	}
}

// TestPageRulesCatch proves that what is wrong in a page is found.
func TestPageRulesCatch(t *testing.T) {
	const file = "package p\ntype s struct{}\nfunc (x *s) a() { x.b() }\nfunc (x *s) b() { c() }\nfunc c() {}\n"
	all := functionsOf([]*source{parse(t, "room", "f.go", file)})
	walk := func(rows ...string) []string {
		text := "| function | file | called in |\n|---|---|---|\n" + strings.Join(rows, "\n")
		return page{"docs/x.md", text}.walks(all)
	}
	row := func(name, file, caller string) string {
		return fmt.Sprintf("| ‖ `%s` | [f](../room/%s) | %s |", name, file, caller)
	}
	if got := walk(row("s.a", "f.go", ""), row("s.b", "f.go", "`s.a`"), row("c", "f.go", "`s.b`")); len(got) > 0 {
		t.Errorf("a good walk: %q", got)
	}
	for what, got := range map[string][]string{
		"no such function":   walk(row("s.z", "f.go", "")),
		"no such file":       walk(row("s.a", "g.go", "")),
		"no such call":       walk(row("s.a", "f.go", ""), row("c", "f.go", "`s.a`")),
		"no such caller":     walk(row("s.a", "f.go", "`s.z`")),
		"a name in the text": page{"docs/x.md", "see `s.z`"}.walks(all),
		"a dead link":        page{"docs/x.md", "[x](../nowhere.go)"}.links(),
		"a dead anchor":      page{"docs/x.md", "[x](../README.md#nowhere)"}.links(),
		"no transcript":      page{"docs/x.md", "- a claim\n  ([x](../README.md))"}.unproved(),
		"another code":       page{"docs/x.md", "- `NOT_COORDINATOR` ([x](../coordinator/testdata/spec051_sync.txt))"}.unproved(),
		"a wrong quotation":  page{"docs/x.md", "```transcript spec051_sync.txt\nnever\n```"}.unproved(),
		"an import":          difference(page{"docs/x.md", "  a --> b\n"}.arrows(), imports(nil)),
	} {
		if len(got) == 0 {
			t.Errorf("not found: %s", what)
		}
	}
	if got := (page{"docs/x.md", "[x](../README.md#the-house) [y](https://example.org)"}).links(); len(got) > 0 {
		t.Errorf("good links: %q", got)
	}
}
