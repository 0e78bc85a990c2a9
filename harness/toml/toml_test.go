package toml_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dgkip/harness/toml"
)

const sample = `title = "T" # a remark
a.b."c d" = [1, {x = '''y''', z = "\""}]

[[t]]
when = 1979-05-27 07:32:00Z
[t.u]
big = 1_000
[[t]]
share = +0.5
hex = 0xff
on = true
`

func TestParse(t *testing.T) {
	root, faults := toml.Parse("f.toml", sample)
	if faults != nil {
		t.Fatal(faults)
	}
	if got := strings.Join(root.Keys(), " "); got != "title a t" {
		t.Errorf("keys %q", got)
	}
	list := root.Get("a").Get("b").Get("c d").List
	t0, t1 := root.Get("t").List[0], root.Get("t").List[1]
	for what, c := range map[string]struct{ got, want any }{
		"string":         {root.Get("title").Value, "T"},
		"integer":        {list[0].Value, int64(1)},
		"literal string": {list[1].Get("x").Value, "y"},
		"escape":         {list[1].Get("z").Value, `"`},
		"date":           {t0.Get("when").Value, toml.Date("1979-05-27 07:32:00Z")},
		"underscore":     {t0.Get("u").Get("big").Value, int64(1000)},
		"float":          {t1.Get("share").Value, 0.5},
		"hexadecimal":    {t1.Get("hex").Value, int64(255)},
		"boolean":        {t1.Get("on").Value, true},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
	for at, n := range map[string]*toml.Node{
		"1:9 \"T\"": root.Get("title"), "2:14 1": list[0], "6:4 u": t0.Get("u"), "7:7 1_000": t0.Get("u").Get("big"),
		"2:13 " + `[1, {x = '''y''', z = "\""}]`: root.Get("a").Get("b").Get("c d"),
		"2:17 " + `{x = '''y''', z = "\""}`:      list[1],
	} {
		f := n.Fault(false, "", "")
		line := []rune(f.Source)
		if got := fmt.Sprintf("%d:%d %s", f.Line, f.Col, string(line[f.Col-1:][:f.Len])); got != at {
			t.Errorf("place %q, want %q", got, at)
		}
	}
}

// If a document has several mistakes, the first is reported.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"a = [1\nb = 2":                  "f.toml:2:1: expected a comma (',') or array terminator (']'), but got 'b'",
		"a = [\n1,\n[2\n]\nb = 2":        "hint: the list that begins in line 1 is not closed, or lacks a comma",
		"a = [1,\n[2\nb = 2":             "hint: the list that begins in line 2 is not closed, or lacks a comma",
		"a = 1 b = 2":                    "f.toml:1:7: expected a top-level item to end with a newline, comment, or EOF, but got 'b' instead",
		"a = 01\na = 2":                  "f.toml:1:5: Invalid integer",
		"a = 1\na = 2\na = 03":           "f.toml:2:1: key a is already defined\n\ta = 2\n\t^",
		"[a]\n[a]":                       "f.toml:2:2: key a is already defined",
		"[[a]]\n[a]":                     "f.toml:2:2: key a is already defined",
		"a = [{ b = 1 }]\n[[a]]":         "f.toml:2:3: key a is already defined",
		"a = { b = 1 }\n[a.c]":           "f.toml:2:2: key a is already defined",
		"[a]\nb.c = 1\n[a.b]":            "f.toml:3:4: key b is already defined",
		"[[a.b]]\n[a]\nb.c = 1":          "f.toml:3:1: key b is already defined",
		"a = { b.c = 1, b = { d = 2 } }": "f.toml:1:16: key b is already defined",
		`a = """\\""""""`:                "f.toml:1:15: this is not TOML", // six quotes, which the TOML package accepts
	} {
		if _, faults := toml.Parse("f.toml", text); !strings.Contains(faults.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, faults, want)
		}
	}
}

// Keys may be quoted and escaped as in TOML, and a byte order mark is ignored.
func TestNames(t *testing.T) {
	root, faults := toml.Parse("f.toml", "\ufeff\"\\u0041\\x42\\e\\\\x\" = 1\n[ 'b\\u' . \"\" ]\nc = []\n")
	if faults != nil {
		t.Fatal(faults)
	}
	if root.Get("AB\x1b\\x").Value != int64(1) || root.Get(`b\u`).Get("").Get("c").Kind() != "a list" {
		t.Errorf("keys %q", root.Keys())
	}
	if f := root.Get(`b\u`).Fault(true, "", ""); f.Line != 2 || f.Col != 3 || f.Len != 5 {
		t.Errorf("place %+v", f)
	}
}

func TestMerge(t *testing.T) {
	parse := func(text string) *toml.Node {
		n, faults := toml.Parse("f.toml", text)
		if faults != nil {
			t.Fatal(faults)
		}
		return n
	}
	n := toml.Merge(parse("a = [1, 2]\nb = { c = 1, d = 2 }\n[[t]]\nx = 1\n"), parse("e = 1\na = [3]\nb = { d = 3, f = 4 }\n[[t]]\nx = 2\n"))
	if got := strings.Join(n.Keys(), " ") + " " + strings.Join(n.Get("b").Keys(), " "); got != "a b t e c d f" {
		t.Errorf("keys %s", got)
	}
	if b := n.Get("b"); b.Get("c").Value != int64(1) || b.Get("d").Value != int64(3) || len(n.Get("a").List) != 1 {
		t.Errorf("got %v", b)
	}
	if list := n.Get("t").List; len(list) != 2 || list[1].Get("x").Value != int64(2) {
		t.Errorf("lists of tables: %v", list)
	}
}

// No document takes long or much memory, and each error is short and names its place.
func TestLimits(t *testing.T) {
	many := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	for name, c := range map[string]struct{ text, want string }{
		"size":           {"a = \"" + strings.Repeat("x", 10<<20) + "\"", "f.toml: the file is larger than 1048 kB"},
		"dotted key":     {"a = 1\n" + strings.Repeat("a.", 20000) + "a = 1", "f.toml:2:1: tables and lists are nested more than 32 deep"},
		"header":         {"[" + strings.Repeat("a.", 20000) + "a]", "more than 32 deep"},
		"lists":          {"a = " + strings.Repeat("[", 500_000), "deep"},
		"closed lists":   {"a = " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "f.toml:1:1: tables and lists are nested more than 32 deep"},
		"inline":         {"a = " + strings.Repeat("{a=", 9000) + "1" + strings.Repeat("}", 9000), "more than 32 deep"},
		"growing header": {many(2000, func(i int) string { return "[" + strings.Repeat("a.", i%200) + "b" + fmt.Sprint(i) + "]\n" }), "more than 32 deep"},
		"keys":           {many(50_000, func(i int) string { return fmt.Sprintf("k%d = 1\n", i) }), "f.toml:10001:1: the file has more than 10000 keys"},
		"dotted keys":    {many(1000, func(i int) string { return fmt.Sprintf("k%d", i) + strings.Repeat(".a", 30) + " = 1\n" }), "f.toml:323:1: the file has more than 10000 keys"},
		"long line":      {strings.Repeat(" ", 5000) + "a = = 1" + strings.Repeat(" ", 5000), "f.toml:1:5005: "},
	} {
		start := time.Now()
		_, faults := toml.Parse("f.toml", c.text)
		if len(faults) == 0 || !strings.Contains(faults.Error(), c.want) || len(faults.Error()) > 1000 {
			t.Errorf("%s: got %.1000v, want %q", name, faults.Error(), c.want)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: it took %v", name, d)
		}
	}
}

func TestManyFaults(t *testing.T) {
	var text strings.Builder
	for i := range 9_000 {
		fmt.Fprintf(&text, "k%d = 1\n", i)
	}
	root, faults := toml.Parse("f.toml", text.String())
	if faults != nil {
		t.Fatal(faults)
	}
	var d toml.Decoder
	var doc struct {
		Known int `toml:"known"`
	}
	d.Into(root, &doc, "the file")
	got := d.Faults.Err().Error()
	if !strings.Contains(got, "f.toml:1:1: unknown key \"k0\"") || !strings.HasSuffix(got, "470 more mistakes are not shown") || len(got) > 10_000 {
		t.Errorf("%d bytes: %.2000s", len(got), got)
	}
}

func ExampleDecoder() {
	root, _ := toml.Parse("demo.toml", "rate = 2\nsetps = 3\n")
	var settings struct {
		Rate  float64 `toml:"rate" max:"1"`
		Steps int     `toml:"steps"`
	}
	var d toml.Decoder
	d.Into(root, &settings, "the file")
	fmt.Println(strings.ReplaceAll(d.Faults.Err().Error(), "\t", "    "))
	// Output:
	// demo.toml:1:8: rate must be at most 1
	//     rate = 2
	//            ^
	// demo.toml:2:1: unknown key "setps" in the file
	//     setps = 3
	//     ^^^^^
	//     hint: did you mean "steps"?
}

// Parse returns for any text, and every value of a valid text has a position.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("[a]\nb = { c = { d = [ [1], [2] ] } }\n[a.e]\n")
	f.Add("a.\"\" = [0, {}]\n")
	f.Add("[[t]]\n\"\" = \"\"\"a\"\"\"\"\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		root, faults := toml.Parse("f.toml", text)
		if (root == nil) != (len(faults) > 0) {
			t.Fatal("a tree and faults, or neither")
		}
		_ = faults.Error()
		if root != nil {
			checkPlaces(t, text, root, "")
		}
	})
}

func checkPlaces(t *testing.T, text string, n *toml.Node, key string) {
	if n.Value != nil {
		f := n.Fault(false, "", "")
		line := []rune(f.Source)
		if f.Line == 0 || f.Col-1+f.Len > len(line) && !strings.Contains(f.Source, "\r") {
			t.Errorf("%s: %v has no position in %q: %+v", key, n.Value, text, f)
			return
		}
		if b, ok := n.Value.(bool); ok && string(line[f.Col-1:][:f.Len]) != fmt.Sprint(b) {
			t.Errorf("%s: %v is at %q", key, b, string(line[f.Col-1:][:f.Len]))
		}
	}
	for k, x := range n.Table {
		checkPlaces(t, text, x, key+"."+k)
	}
	for i, x := range n.List {
		checkPlaces(t, text, x, fmt.Sprint(key, "#", i))
	}
}
