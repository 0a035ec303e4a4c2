package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// layout draws blanks and, where allowed, comments.
func layout(t *rapid.T, comments bool) string {
	options := []string{"", "", " ", "  ", "\n", "\n  ", "\n\t", "\r\n    "}
	if comments {
		options = append(options, " // note, with } and \"\n", "/* [ */", "\n  // a, b\n  ")
	}
	return rapid.SampledFrom(options).Draw(t, "layout")
}

// jsonText draws a JSON value in an arbitrary layout.
func jsonText(t *rapid.T, loose bool, depth int) string {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth <= 0 && kind > 4 {
		kind = 0
	}
	switch kind {
	case 0:
		return quoteJSON(rapid.String().Draw(t, "string"))
	case 1:
		return rapid.SampledFrom([]string{"0", "-1", "3.25", "1e9", "-0.5E+3", "123456789012345678901"}).Draw(t, "number")
	case 2:
		return "true"
	case 3:
		return "null"
	case 4:
		return rapid.SampledFrom([]string{"{}", "[]", "\"\"", "false"}).Draw(t, "empty")
	case 5:
		return listText(t, loose, depth)
	}
	return objectText(t, loose, depth, nil)
}

func listText(t *rapid.T, loose bool, depth int) string {
	var b strings.Builder
	b.WriteByte('[')
	n := rapid.IntRange(0, 3).Draw(t, "n")
	for i := range n {
		b.WriteString(layout(t, loose) + jsonText(t, loose, depth-1) + layout(t, loose))
		if i < n-1 || loose && rapid.Bool().Draw(t, "comma") {
			b.WriteByte(',')
		}
	}
	b.WriteString(layout(t, loose) + "]")
	return b.String()
}

// objectText draws an object; fixed gives members that must be in it.
func objectText(t *rapid.T, loose bool, depth int, fixed map[string]string) string {
	var members []string
	for k, v := range fixed {
		members = append(members, quoteJSON(k)+layout(t, loose)+":"+layout(t, loose)+v)
	}
	for _, k := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-g]{1,3}`), 0, 3, rapid.ID).Draw(t, "keys") {
		members = append(members, quoteJSON(k)+layout(t, loose)+":"+layout(t, loose)+jsonText(t, loose, depth-1))
	}
	members = rapid.Permutation(members).Draw(t, "order")
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range members {
		b.WriteString(layout(t, loose) + m + layout(t, loose))
		if i < len(members)-1 || loose && rapid.Bool().Draw(t, "comma") {
			b.WriteByte(',')
		}
	}
	b.WriteString(layout(t, loose) + "}")
	return b.String()
}

// configText draws a settings file, often with hooks in it.
func configText(t *rapid.T, loose bool, event string) string {
	fixed := map[string]string{}
	if rapid.Bool().Draw(t, "hooks") {
		inner := map[string]string{}
		if rapid.Bool().Draw(t, "event") {
			inner[event] = listText(t, loose, 2)
		}
		fixed["hooks"] = objectText(t, loose, 2, inner)
	}
	text := layout(t, loose) + objectText(t, loose, 3, fixed) + layout(t, loose)
	if rapid.IntRange(0, 9).Draw(t, "bom") == 0 {
		text = bom + text
	}
	return text
}

// plain returns the value as encoding/json would see it.
func plain(t interface{ Fatalf(string, ...any) }, src []byte) any {
	doc, err := parseJSON(src, looseJSON, true)
	if err != nil {
		t.Fatalf("%v in %q", err, src)
		return nil
	}
	if doc.root == nil {
		return map[string]any{}
	}
	return value(doc, doc.root)
}

func value(doc *document, n *node) any {
	switch n.kind {
	case '{':
		m := map[string]any{}
		for _, x := range n.members {
			m[x.key.str] = value(doc, x.val)
		}
		return m
	case '[':
		l := []any{}
		for _, x := range n.elems {
			l = append(l, value(doc, x))
		}
		return l
	case '"':
		return "s" + n.str
	}
	return string(n.raw(doc.src))
}

// drop removes what an installation may add, so that the rest can be compared.
func drop(v any, event string) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	hooks, _ := m["hooks"].(map[string]any)
	if list, ok := hooks[event].([]any); ok {
		keep := []any{}
		for _, el := range list {
			if !strings.Contains(fmt.Sprint(el), "safeshell hook gemini") {
				keep = append(keep, el)
			}
		}
		hooks[event] = keep
		if len(keep) == 0 {
			delete(hooks, event)
		}
	}
	if hooks != nil && len(hooks) == 0 {
		delete(m, "hooks")
	}
	return m
}

// TestJSONEditorProperties: whatever a settings file looks like, installing
// adds our hook and touches nothing else, uninstalling leads back byte for
// byte, and with an edit of the user's in between only ours goes.
func TestJSONEditorProperties(t *testing.T) {
	env, a := testEnv(t), mustFind(t, "gemini")
	path := configPath(t, env, a)
	o := InstallOptions{Binary: testBinary}
	rapid.Check(t, func(rt *rapid.T) {
		os.RemoveAll(env.Home)
		text := configText(rt, true, "BeforeTool")
		write(t, path, text)
		if _, err := Install(env, a, o); err != nil {
			rt.Fatalf("install into %q: %v", text, err)
		}
		after := []byte(read(t, path))
		if s := Status(env, a, o); !s.Installed || !s.Current {
			rt.Fatalf("not current: %+v\n%s", s, after)
		}
		want := drop(plain(rt, []byte(text)), "BeforeTool")
		if got := drop(plain(rt, after), "BeforeTool"); !reflect.DeepEqual(got, want) {
			rt.Fatalf("the rest changed:\n%s\n---\n%s", text, after)
		}
		if res, err := Install(env, a, o); err != nil || res.Files[0].Change != Unchanged {
			rt.Fatalf("not idempotent: %v", err)
		}
		if !rapid.Bool().Draw(rt, "edited") {
			if _, err := Uninstall(env, a, o); err != nil {
				rt.Fatal(err)
			}
			if got := read(t, path); got != text {
				rt.Fatalf("not as before:\n%q\n%q", text, got)
			}
			return
		}
		// The user adds a key at the end and an entry in front of our event.
		doc, serr := parseJSON(after, looseJSON, false)
		if serr != nil {
			rt.Fatal(serr)
		}
		e := addItem(doc, doc.root, false, memberText("zz", "1"))
		edited, err := apply(after, []edit{e})
		if err != nil {
			rt.Fatal(err)
		}
		if rapid.Bool().Draw(rt, "front") {
			if doc, serr = parseJSON(edited, looseJSON, false); serr != nil {
				rt.Fatalf("%v in %q", serr, edited)
			}
			e, _, serr := addElement(doc, []string{"hooks", "BeforeTool"}, `{"hooks":[{"command":"mine"}]}`, true)
			if serr != nil {
				rt.Fatal(serr)
			}
			if edited, err = apply(edited, []edit{e}); err != nil {
				rt.Fatal(err)
			}
		}
		if rapid.Bool().Draw(rt, "record lost") {
			os.RemoveAll(env.Home + "/.safeshell")
		}
		write(t, path, string(edited))
		if _, err := Uninstall(env, a, o); err != nil {
			rt.Fatalf("uninstall from\n%s\n%v", edited, err)
		}
		left := []byte(read(t, path))
		if got, want := drop(plain(rt, left), "BeforeTool"), drop(plain(rt, edited), "BeforeTool"); !reflect.DeepEqual(got, want) {
			rt.Fatalf("an edit was lost:\n%s\n---\n%s", edited, left)
		}
		if bytes.Contains(left, []byte("safeshell hook gemini")) {
			rt.Fatalf("our hook is still there:\n%s", left)
		}
	})
}

// tomlText draws a TOML file.
func tomlText(t *rapid.T) string {
	nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	values := []string{"1", "-0.5", "true", "\"a # b\"", "'c:\\d'", "[1, 2,]", "[]", "{ x = 1, y.z = \"q\" }",
		"1979-05-27T07:32:00Z", "1979-05-27 07:32:00", "[" + nl + "  'a', # one" + nl + "  'b'" + nl + "]",
		"\"\"\"" + nl + "[[hooks]]" + nl + "\"\"\"", "'''x'''", "\"\\u00e9\\\"\"", "inf", "0x1F"}
	var b strings.Builder
	n := 0
	pair := func(indent string) {
		n++
		b.WriteString(fmt.Sprintf("%sk%d%s= %s%s", indent, n, rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "blank"),
			rapid.SampledFrom(values).Draw(t, "value"), rapid.SampledFrom([]string{"", " # why"}).Draw(t, "note")) + nl)
	}
	for range rapid.IntRange(0, 2).Draw(t, "top") {
		pair("")
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "tables") {
		b.WriteString(rapid.SampledFrom([]string{"", nl, "# comment" + nl, nl + nl}).Draw(t, "gap"))
		b.WriteString(rapid.SampledFrom([]string{
			fmt.Sprintf("[t%d]", i), fmt.Sprintf("[a.\"b.c\".t%d]", i), fmt.Sprintf("[[list%d]]", i), "[[hooks]]", "[[ hooks ]] # x",
		}).Draw(t, "header") + nl)
		for range rapid.IntRange(0, 2).Draw(t, "pairs") {
			pair("  ")
		}
	}
	text := b.String()
	if rapid.Bool().Draw(t, "cut") {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

func statements(src []byte, items []tomlItem) []string {
	var out []string
	for _, it := range items {
		out = append(out, string(src[it.start:it.end]))
	}
	return out
}

// TestTOMLEditorProperties: the same for config.toml.
func TestTOMLEditorProperties(t *testing.T) {
	env, a := testEnv(t), mustFind(t, "kimi")
	path := configPath(t, env, a)
	o := InstallOptions{Binary: testBinary}
	rapid.Check(t, func(rt *rapid.T) {
		os.RemoveAll(env.Home)
		text := tomlText(rt)
		write(t, path, text)
		before, serr := parseTOML([]byte(text))
		if serr != nil {
			rt.Fatalf("%v in\n%s", serr, text)
		}
		if _, err := Install(env, a, o); err != nil {
			rt.Fatalf("install into\n%s\n%v", text, err)
		}
		after := read(t, path)
		if !strings.HasPrefix(after, text) {
			rt.Fatalf("the rest changed:\n%s\n---\n%s", text, after)
		}
		items, serr := parseTOML([]byte(after))
		if serr != nil || len(tomlEntries(a, path, []byte(after), items)) != 1 {
			rt.Fatalf("no hook, %v:\n%s", serr, after)
		}
		if !rapid.Bool().Draw(rt, "edited") {
			if _, err := Uninstall(env, a, o); err != nil {
				rt.Fatal(err)
			}
			if got := read(t, path); got != text {
				rt.Fatalf("not as before:\n%q\n%q", text, got)
			}
			return
		}
		os.RemoveAll(env.Home + "/.safeshell")
		write(t, path, after+"\n[mine]\n# mine\nx = 1\n")
		if _, err := Uninstall(env, a, o); err != nil {
			rt.Fatal(err)
		}
		left := read(t, path)
		items, serr = parseTOML([]byte(left))
		if serr != nil {
			rt.Fatalf("%v in\n%s", serr, left)
		}
		want := append(statements([]byte(text), before), "[mine]", "x = 1")
		if got := statements([]byte(left), items); !reflect.DeepEqual(got, want) || !strings.Contains(left, "# mine") {
			rt.Fatalf("got %q\nwant %q", got, want)
		}
	})
}

// FuzzJSON compares the parser with encoding/json and drives the editor.
func FuzzJSON(f *testing.F) {
	for _, c := range realFiles {
		if c.agent != "kimi" {
			f.Add([]byte(c.text))
		}
	}
	f.Add([]byte(`{"a":"\ud83d\ude00\ud800x\u0041","b":[1.5e-3,-0,{"c":null}],"b":2}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		doc, err := parseJSON(src, strictJSON, false)
		std := bytes.TrimPrefix(src, []byte(bom))
		valid := json.Valid(std) && utf8.Valid(src)
		if (err == nil) != valid && !(err != nil && (strings.Contains(err.Msg, "nested deeper") || strings.Contains(err.Msg, "values"))) {
			t.Fatalf("parseJSON says %v, encoding/json %v: %q", err, valid, src)
		}
		if err == nil && doc.root.kind == '"' {
			var s string
			if json.Unmarshal(std, &s) != nil || s != doc.root.str {
				t.Fatalf("%q and %q", s, doc.root.str)
			}
			if quoted := quoteJSON(doc.root.str); json.Unmarshal([]byte(quoted), &s) != nil || s != doc.root.str {
				t.Fatalf("quoteJSON: %q", quoted)
			}
		}
		loose, lerr := parseJSON(src, looseJSON, true)
		if lerr != nil {
			if lerr.Line < 1 || lerr.Col < 1 {
				t.Fatal(lerr)
			}
			return
		}
		if loose.root == nil || loose.root.kind != '{' {
			return
		}
		for _, front := range []bool{true, false} {
			e, _, serr := addElement(loose, []string{"hooks", "X"}, `{"command":"y"}`, front)
			if serr != nil {
				return
			}
			out, aerr := apply(src, []edit{e})
			if aerr != nil {
				t.Fatal(aerr)
			}
			after, perr := parseJSON(out, looseJSON, true)
			if perr != nil {
				t.Fatalf("%v after adding to %q: %q", perr, src, out)
			}
			if err == nil {
				if _, perr := parseJSON(out, strictJSON, false); perr != nil {
					t.Fatalf("strict JSON did not stay strict: %q", out)
				}
			}
			list := after.root.lookup([]string{"hooks", "X"})
			i := 0
			if !front {
				i = len(list.elems) - 1
			}
			if s, _ := list.elems[i].get("command").text(); s != "y" {
				t.Fatalf("not where it should be: %q", out)
			}
			back, aerr := apply(out, invert([]edit{e}))
			if aerr != nil || !bytes.Equal(back, src) {
				t.Fatalf("not undone: %q", back)
			}
			cut, aerr := apply(out, removeItem(after, list, i))
			if aerr != nil {
				t.Fatal(aerr)
			}
			left, perr := parseJSON(cut, looseJSON, true)
			if perr != nil {
				t.Fatalf("%v after removing from %q: %q", perr, out, cut)
			}
			rest := left.root.lookup([]string{"hooks", "X"})
			if len(rest.elems) != len(list.elems)-1 {
				t.Fatalf("removed too much: %q", cut)
			}
		}
	})
}

// FuzzTOML drives the TOML reader and editor.
func FuzzTOML(f *testing.F) {
	for _, c := range realFiles {
		if c.agent == "kimi" {
			f.Add([]byte(c.text))
		}
	}
	a, _ := Find("kimi")
	ts, err := targets(Env{Home: "/h"}, a, InstallOptions{Binary: testBinary})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		items, serr := parseTOML(src)
		if serr != nil {
			if serr.Line < 1 || serr.Col < 1 || serr.Msg == "" {
				t.Fatal(serr)
			}
			return
		}
		e, serr := addTOMLHook(src, items, ts[0].text)
		if serr != nil {
			return
		}
		out, err := apply(src, []edit{e})
		if err != nil {
			t.Fatal(err)
		}
		after, serr := parseTOML(out)
		if serr != nil {
			t.Fatalf("%v after adding to %q: %q", serr, src, out)
		}
		var have []entry
		have = append(have, tomlEntries(a, "f", out, after)...)
		if len(have) == 0 {
			t.Fatalf("not found in %q", out)
		}
		if back, err := apply(out, invert([]edit{e})); err != nil || !bytes.Equal(back, src) {
			t.Fatalf("not undone: %q", back)
		}
		for _, en := range have {
			cut, err := apply(out, []edit{removeTOMLHook(out, *en.toml)})
			if err != nil {
				t.Fatal(err)
			}
			if _, serr := parseTOML(cut); serr != nil {
				t.Fatalf("%v after removing from %q: %q", serr, out, cut)
			}
		}
	})
}
