package ts

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestDeclared(t *testing.T) {
	for name, c := range map[string]struct {
		src  string
		want []string
	}{
		"none":              {`console.log("hello")`, nil},
		"empty script":      {``, nil},
		"design":            {`const [curl, cargo, build] = await initCmds(["curl", "cargo", "./scripts/build.sh"])`, []string{"curl", "cargo", "./scripts/build.sh"}},
		"imported":          {"import { initCmds } from \"safeshell\";\nawait initCmds(['a', `b`,\n]);", []string{"a", "b"}},
		"namespace":         {`await safeshell.initCmds(["a"])`, []string{"a"}},
		"optional call":     {`await initCmds?.(["a"])`, []string{"a"}},
		"as const":          {`await initCmds(["a"] as const)`, []string{"a"}},
		"two calls":         {`await initCmds(["a", "b"]); await initCmds(["b", "c"])`, []string{"a", "b", "c"}},
		"empty list":        {`await initCmds([])`, nil},
		"line comment":      {"// initCmds([\"a\"])\nawait initCmds([/* x */ \"b\" /* , \"c\" */])", []string{"b"}},
		"block comment":     {"/* initCmds([\"a\"]) \n */", nil},
		"in a string":       {`const s = "initCmds([\"a\"])"; const t = 'initCmds(["b"])'`, nil},
		"in a template":     {"const s = `initCmds([\"a\"])`", nil},
		"in a value":        {"const s = `x ${await initCmds([\"a\"])} initCmds([\"no\"]) ${`${initCmds([\"b\"])}`} y`; initCmds([\"c\"])", []string{"a", "b", "c"}},
		"braces in a value": {"`${(() => { return {} })()}`; initCmds([\"a\"])", []string{"a"}},
		"in a regexp":       {`const r = /initCmds(["a"])/; const q = /[/]"/.test(x); initCmds(["b"])`, []string{"b"}},
		"division":          {`const a = b / 2; initCmds(["x"]); const c = d / 3`, []string{"x"}},
		"division of )":     {`const a = (b) / 2; const s = "/"; initCmds(["x"])`, []string{"x"}},
		"regexp of keyword": {`function f() { return /"/ } initCmds(["x"])`, []string{"x"}},
		"definition":        {`function initCmds(a) {} `, nil},
		"other name":        {`myinitCmds(x); initCmdsX(y); initCmds2(z)`, nil},
		"passed on":         {`const f = initCmds; import { initCmds } from "x"`, nil},
		"escapes": {`initCmds(["\x61\u0062\u{63}\
d\'"])`, []string{"abcd'"}},
		"shebang":            {"#!/usr/bin/env -S safeshell run '\"\ninitCmds([\"a\"])", []string{"a"}},
		"byte order mark":    {"\ufeffinitCmds([\"a\"])", []string{"a"}},
		"not ended string":   {"const s = \"abc\ninitCmds([\"a\"])", []string{"a"}},
		"not ended comment":  {"/* initCmds([\"a\"])", nil},
		"not ended template": {"` initCmds([\"a\"])", nil},
		"names with spaces":  {`initCmds(["/opt/my tools/x"])`, []string{"/opt/my tools/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Declared([]byte(c.src))
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestDeclaredRefuses(t *testing.T) {
	for _, c := range []struct {
		src       string
		line, col int
		why       string
	}{
		{"const n = [\"a\"]\n await initCmds(n)", 2, 17, "not known before"},
		{`await initCmds()`, 1, 16, "not known before"},
		{`await initCmds(["a", ...more])`, 1, 22, "not a plain string"},
		{`await initCmds(["a" + x])`, 1, 17, "not a plain string"},
		{"await initCmds([`a${x}`])", 1, 17, "not a plain string"},
		{`await initCmds([""])`, 1, 17, "without a name"},
		{`await initCmds(["a`, 1, 17, "not a plain string"},
		{`await initCmds([,"a"])`, 1, 17, "not a plain string"},
		{`await initCmds(["a" "b"])`, 1, 17, "not a plain string"},
		{"await initCmds([\"\xff\"])", 1, 17, "not UTF-8"},
		{strings.Repeat(" ", maxSource+1), 1, 1, "at most"},
	} {
		_, err := Declared([]byte(c.src))
		var d *DeclareError
		if !errors.As(err, &d) || d.Line != c.line || d.Col != c.col || !strings.Contains(d.Why, c.why) {
			t.Errorf("%.40q: %v; want %d:%d: ...%s", c.src, err, c.line, c.col, c.why)
		}
	}
}

func FuzzDeclared(f *testing.F) {
	f.Add(`await initCmds(["a", 'b', ` + "`c`" + `]) /x/ // /* ${ */`)
	f.Add("`${`${a}`}` initCmds([\"\\u{61}\"])")
	f.Fuzz(func(t *testing.T, s string) {
		names, err := Declared([]byte(s))
		if err == nil && slices.Contains(names, "") {
			t.Errorf("an empty name from %q", s)
		}
	})
}
