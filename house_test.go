package kohort_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is this module's path.
const module = "github.com/kohort/kohort"

// source is one parsed Go file.
type source struct {
	dir   string // directory below the root, with slashes; "." for the root
	name  string
	text  string
	set   *token.FileSet
	file  *ast.File
	lines int
}

// test tells whether the file is compiled for tests only. Packages whose name ends in "test" are for tests, too.
func (s *source) test() bool {
	return strings.HasSuffix(s.name, "_test.go")
}

// at returns the place of a node for a message.
func (s *source) at(n ast.Node) string {
	return path.Join(s.dir, s.set.Position(n.Pos()).String())
}

// parse reads one file.
func parse(t testing.TB, dir, name, text string) *source {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		t.Fatalf("%s/%s: %v", dir, name, err)
	}
	return &source{dir: dir, name: name, text: text, set: set, file: file, lines: strings.Count(text, "\n")}
}

// house parses every Go file of the module, and of the nested one, whose rules are fewer.
func house(t *testing.T) []*source {
	t.Helper()
	var sources []*source
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(file))
		sources = append(sources, parse(t, dir, filepath.Base(file), string(text)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 20 {
		t.Fatalf("found only %d Go files: the walk is wrong", len(sources))
	}
	return sources
}

// rule looks at one file and returns what breaks it, each with its place and what to do instead.
type rule struct {
	name     string
	check    func(*source) []string
	examples []example
}

// example proves a rule: the smallest file that breaks it, and one that comes close without.
type example struct {
	dir, breaks, keeps string
}

// rules are the rules about single files.
var rules = []rule{
	{"imports go only where the house permits", checkImports, []example{
		{"coordinator", `package p; import _ "github.com/kohort/kohort/partitionlog"`, `package p; import _ "github.com/twmb/franz-go/pkg/kmsg"`},
		{"coordinator", `package p; import _ "github.com/rs/zerolog"`, `package p; import _ "container/heap"`},
		{"partitionlog/journal", `package p; import _ "github.com/twmb/franz-go/pkg/kmsg"`, `package p; import _ "github.com/kohort/kohort/partitionlog/vfs"`},
		{"partitionlog", `package p; import _ "github.com/kohort/kohort/coordinator"`, `package p; import _ "github.com/kohort/kohort/partitionlog/journal"`},
		{"offsetslog", `package p; import _ "github.com/kohort/kohort/broker"`, `package p; import _ "github.com/kohort/kohort/coordinator"`},
		{"protocol", `package p; import _ "github.com/kohort/kohort/coordinator"`, `package p; import _ "encoding/binary"`},
		{"broker/groups", `package p; import _ "github.com/kohort/kohort/broker/api"`, `package p; import _ "github.com/kohort/kohort/offsetslog"`},
		{".", `package p; import _ "github.com/kohort/kohort/broker"`, `package p; import _ "go/parser"`},
	}},
	{"the coordinator is a function", checkPure, []example{
		{"coordinator", `package p; import "time"; func f() { _ = time.Now() }`, `package p; import "time"; func f(now time.Time) time.Time { return now.Add(time.Second) }`},
		{"coordinator", `package p; import clock "time"; func f() { _ = clock.Since(t) }`, `package p; func f() { _ = time.Second }`},
		{"coordinator", `package p; func f() { go f() }`, `package p; func f() { defer f() }`},
		{"coordinator", `package p; type t struct { c chan int }`, `package p; type t struct { channel int }`},
		{"coordinator", `package p; func f() { select {} }`, `package p; func f() { switch {} }`},
		{"coordinator", `package p; import _ "log/slog"`, `package p; import _ "math/rand/v2"`},
		{"coordinator", `package p; import _ "sync/atomic"`, `package p; import _ "strings"`},
	}},
	{"files have at most 600 lines", checkFileLength, []example{
		{"broker", "package p\n" + strings.Repeat("\n", 601), "package p\n" + strings.Repeat("\n", 590)},
	}},
	{"functions have at most 80 lines", checkFuncLength, []example{
		{"broker", "package p\nfunc f() {\n" + strings.Repeat("_ = 0\n", 80) + "}\n", "package p\nfunc f() {\n" + strings.Repeat("_ = 0\n", 70) + "}\n"},
	}},
	{"no init", checkInit, []example{{"broker", `package p; func init() {}`, `package p; type t int; func (t) init() {}`}}},
	{"nothing is left to be done", checkUnfinished, []example{
		{"broker", "package p\n// " + "TO" + "DO: more\n", "package p\n// the method of a mastodon\n"},
		{"broker", "package p\n// " + "FIX" + "ME\n", "package p\n// fixed\n"},
	}},
	{"tests run or do not exist", checkSkip, []example{
		{"broker", `package p; func TestF(t *testing.T) { t.Skip("later") }`, `package p; func TestF(t *testing.T) { b.Skip(3) }`},
	}},
	{"tests do not sleep", checkSleep, []example{
		{"broker", `package p; import "time"; func TestF(t *testing.T) { time.Sleep(1) }`, `package p; import "time"; func TestF(t *testing.T) { clock.Sleep(time.Second) }`},
		{"broker", `package p; func TestF(t *testing.T) { time.Sleep(1) }`, `package p; import "testing/synctest"; func TestF(t *testing.T) { time.Sleep(1) }`},
	}},
}

// TestHouse holds every file against every rule.
func TestHouse(t *testing.T) {
	sources := house(t)
	for _, r := range rules {
		t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) {
			for _, s := range sources {
				for _, complaint := range r.check(s) {
					t.Error(complaint)
				}
			}
		})
	}
}

// TestRulesCatch proves that each rule finds what breaks it, and lets pass what only looks like it.
func TestRulesCatch(t *testing.T) {
	for _, r := range rules {
		name := "broken.go"
		if strings.HasPrefix(r.name, "tests ") {
			name = "broken_test.go"
		}
		for _, e := range r.examples {
			if got := r.check(parse(t, e.dir, name, e.breaks)); len(got) == 0 {
				t.Errorf("rule %q does not find what breaks it:\n%.200s", r.name, e.breaks)
			}
			for _, name := range []string{"kept.go", "kept_test.go"} {
				if got := r.check(parse(t, e.dir, name, e.keeps)); len(got) > 0 {
					t.Errorf("rule %q complains about good code: %q\n%.200s", r.name, got, e.keeps)
				}
			}
		}
	}
}

// TestDocs demands a doc.go in each package, with a word about what the package may not know.
func TestDocs(t *testing.T) {
	texts := map[string]string{}
	for _, s := range house(t) {
		if s.test() || strings.HasPrefix(s.dir, "integration") {
			continue
		}
		if _, seen := texts[s.dir]; !seen {
			texts[s.dir] = ""
		}
		if s.name == "doc.go" {
			texts[s.dir] = s.file.Doc.Text()
		}
	}
	for dir, text := range texts {
		if complaint := checkDoc(dir, text); complaint != "" {
			t.Error(complaint)
		}
	}
	for _, bad := range []string{"", "Package p does things."} {
		if checkDoc("p", bad) == "" {
			t.Errorf("doc %q passes", bad)
		}
	}
	if complaint := checkDoc("p", "Package p does things. It may not know any socket."); complaint != "" {
		t.Error(complaint)
	}
}

// checkDoc returns what is wrong with the text of a doc.go.
func checkDoc(dir, text string) string {
	if text == "" {
		return dir + ": no doc.go with the package's comment; begin it with the package's one responsibility"
	}
	flat := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, phrase := range []string{"may not know", "may never know", "never knows", "knows no", "know no", "knows nothing", "not know"} {
		if strings.Contains(flat, phrase) {
			return ""
		}
	}
	return dir + "/doc.go: say what the package may not know"
}

// room is one row of the import matrix.
type room struct {
	dir string
	// ours are the directories of this module that it may import, with those below them.
	ours []string
	// others are prefixes of the import paths outside this module and the standard library.
	others []string
	// std, if not nil, are the only packages of the standard library.
	std []string
}

// rooms is the import matrix; the first row whose directory is that of a file, or above it, is the file's.
var rooms = []room{
	{dir: "docs/fixtures", ours: []string{"broker/brokertest"}, others: []string{""}},
	{dir: "protocol", others: []string{"github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr"}},
	{
		dir: "coordinator", others: []string{"github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr"},
		std: []string{
			"bytes", "cmp", "container/heap", "encoding/binary", "encoding/hex", "errors", "fmt", "hash", "hash/fnv", "hash/maphash",
			"iter", "maps", "math", "math/bits", "math/rand/v2", "slices", "sort", "strconv", "strings", "time", "unicode/utf16",
			"unicode/utf8", "unsafe", "encoding/base64",
		},
	},
	{
		dir: "offsetslog", ours: []string{"coordinator", "partitionlog"},
		others: []string{"github.com/twmb/franz-go/pkg/kmsg"},
	},
	{dir: "partitionlog/vfs", others: []string{"golang.org/x/sys"}},
	{dir: "partitionlog/journal", ours: []string{"partitionlog/vfs"}},
	{
		dir: "partitionlog", ours: []string{"partitionlog/vfs", "partitionlog/journal"},
		others: []string{"github.com/twmb/franz-go/pkg/kmsg", "github.com/klauspost/compress", "github.com/pierrec/lz4/v4"},
	},
	{
		dir: "broker/settings", ours: []string{"coordinator", "partitionlog"},
		others: []string{"github.com/agnivade/levenshtein", "github.com/magiconair/properties"},
	},
	{
		dir: "broker/topics", ours: []string{"partitionlog"},
		others: []string{"github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr", "github.com/rs/zerolog"},
	},
	{
		dir: "broker/groups", ours: []string{"coordinator", "offsetslog", "partitionlog"},
		others: []string{"github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr", "github.com/rs/zerolog"},
	},
	{
		dir: "broker/api", ours: []string{
			"broker/settings", "broker/topics", "broker/groups", "protocol", "coordinator", "offsetslog", "partitionlog",
		},
		others: []string{"github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr", "github.com/rs/zerolog"},
	},
	{
		dir: "broker", ours: []string{"broker", "protocol", "coordinator", "offsetslog", "partitionlog"},
		others: []string{"github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr", "github.com/twmb/franz-go/pkg/kgo", "github.com/rs/zerolog", "golang.org/x/sync"},
	},
	{
		dir: "cmd", ours: []string{"broker", "partitionlog", "offsetslog"},
		others: []string{
			"github.com/alecthomas/kong", "github.com/mattn/go-isatty", "github.com/rs/zerolog",
			"github.com/twmb/franz-go", "golang.org/x/sys",
		},
	},
	{dir: "integration", ours: []string{"."}, others: []string{""}},
	{dir: "."},
}

// beneath tells whether p is dir or below it.
func beneath(p, dir string) bool {
	return dir == "." || p == dir || strings.HasPrefix(p, dir+"/")
}

// checkImports holds a file against the import matrix. Tests may use the client and the test brokers besides, but no
// room that is above their own.
func checkImports(s *source) []string {
	i := slices.IndexFunc(rooms, func(r room) bool { return beneath(s.dir, r.dir) })
	r := &rooms[i]
	var complaints []string
	for _, spec := range s.file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if !r.permits(s, imported) {
			complaints = append(complaints, s.at(spec)+": "+s.dir+" may not import "+imported+
				"; hand the thing in from above, or move the code to the room that may know it")
		}
	}
	return complaints
}

// permits tells whether a file of the room may import a package.
func (r *room) permits(s *source, imported string) bool {
	if imported == module || strings.HasPrefix(imported, module+"/") {
		own := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
		return own == s.dir || slices.ContainsFunc(r.ours, func(dir string) bool { return beneath(own, dir) })
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") { // the standard library
		return r.std == nil || s.test() || slices.Contains(r.std, imported)
	}
	if s.test() && strings.HasPrefix(imported, "github.com/twmb/franz-go") {
		return true
	}
	return slices.ContainsFunc(r.others, func(prefix string) bool { return prefix == "" || beneath(imported, prefix) })
}

// checkPure finds what a function of (event, now) has no use for in coordinator/.
func checkPure(s *source) []string {
	if !beneath(s.dir, "coordinator") || s.test() {
		return nil
	}
	var complaints []string
	complain := func(n ast.Node, what string) {
		complaints = append(complaints, s.at(n)+": "+what+" in the coordinator; it is a function of (event, now)")
	}
	clock := "time"
	for _, spec := range s.file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if imported == "time" && spec.Name != nil {
			clock = spec.Name.Name
		}
		for _, world := range []string{"sync", "context", "os", "net", "log", "io", "syscall", "runtime", "testing"} {
			if beneath(imported, world) {
				complain(spec, "package "+imported)
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			complain(n, "a goroutine")
		case *ast.ChanType, *ast.SendStmt:
			complain(n, "a channel")
		case *ast.SelectStmt:
			complain(n, "select")
		case *ast.SelectorExpr:
			for _, name := range []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"} {
				if isSelector(n, clock, name) {
					complain(n, "time."+name)
				}
			}
		}
		return true
	})
	return complaints
}

// isSelector tells whether an expression is pkg.name.
func isSelector(n *ast.SelectorExpr, pkg, name string) bool {
	x, ok := n.X.(*ast.Ident)
	return ok && x.Name == pkg && n.Sel.Name == name
}

func checkFileLength(s *source) []string {
	if s.test() || s.lines <= 600 {
		return nil
	}
	return []string{path.Join(s.dir, s.name) + ": more than 600 lines; find the second idea in it and give it a file"}
}

func checkFuncLength(s *source) []string {
	if s.test() {
		return nil
	}
	var complaints []string
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		lines := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1
		if lines > 80 {
			complaints = append(complaints, s.at(f)+": function "+f.Name.Name+" has more than 80 lines; name its steps")
		}
	}
	return complaints
}

func checkInit(s *source) []string {
	var complaints []string
	for _, decl := range s.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			complaints = append(complaints, s.at(f)+": init runs behind the reader's back; call it from a constructor")
		}
	}
	return complaints
}

func checkUnfinished(s *source) []string {
	var complaints []string
	for _, group := range s.file.Comments {
		for _, word := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "not " + "implemented"} {
			if strings.Contains(group.Text(), word) {
				complaints = append(complaints, s.at(group)+": "+word+": do it, or say what holds today")
			}
		}
	}
	return complaints
}

// checkSkip finds t.Skip and its relatives on the usual receivers.
func checkSkip(s *source) []string {
	return s.calls([]string{"t", "tb"}, []string{"Skip", "Skipf", "SkipNow"}, "a test that does not run proves nothing; make what it needs, or delete it")
}

// checkSleep lets files with a synctest bubble sleep: there it takes no time and is no guess.
func checkSleep(s *source) []string {
	for _, spec := range s.file.Imports {
		if spec.Path.Value == `"testing/synctest"` {
			return nil
		}
	}
	return s.calls([]string{"time"}, []string{"Sleep"}, "wait for the event itself, or run in a synctest bubble")
}

// calls finds selectors in test files.
func (s *source) calls(receivers, names []string, instead string) []string {
	if !s.test() {
		return nil
	}
	var complaints []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		for _, receiver := range receivers {
			for _, name := range names {
				if isSelector(sel, receiver, name) {
					complaints = append(complaints, s.at(sel)+": "+receiver+"."+name+": "+instead)
				}
			}
		}
		return true
	})
	return complaints
}
