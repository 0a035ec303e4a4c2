package eval

import "strings"

// sqlTexts are the SQL texts that a database client is given: by options, by
// operands, by its standard input.
func (v *view) sqlTexts() []string {
	var out []string
	add := func(s string) { out = append(out, s) }
	switch v.line.name {
	case "sqlite3", "duckdb", "sqlite":
		for i, w := range v.operandList(0) {
			if i > 0 {
				add(v.textOf(w))
			}
		}
		for _, o := range []string{"-cmd", "-c"} {
			v.line.eachOption(o, func(s string, given, known bool) bool { add(s); return true })
		}
	case "bq", "typeorm", "spanner-cli":
		for _, w := range v.operandList(1) {
			add(v.textOf(w))
		}
	default:
		for _, o := range []string{"-c", "-e", "-q", "-Q", "--command", "--execute", "--query", "--sql"} {
			for i := 1; i < len(v.line.words); i++ {
				text, _ := leading(v.line.words[i])
				long := strings.HasPrefix(o, "--")
				switch {
				case text == o, !long && len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.HasSuffix(text, o[1:]) && len(text) <= 4:
					if i+1 < len(v.line.words) {
						add(v.textOf(v.line.words[i+1]))
					}
				case long && strings.HasPrefix(text, o+"="):
					add(v.textOf(cutWord(v.line.words[i], len(o)+1)))
				case !long && strings.HasPrefix(text, o) && len(text) > 2:
					add(v.textOf(cutWord(v.line.words[i], 2)))
				}
			}
		}
	}
	if s, ok := v.input(); ok {
		add(s)
	}
	return out
}

// sqlStatement returns the first statement of one of the kinds:
//
//	drop      DROP ..., ALTER ... DROP
//	truncate  TRUNCATE
//	delete    DELETE or UPDATE of all rows
//	change    DELETE, UPDATE of some rows
//	admin     users, grants, ending other sessions
func (v *view) sqlStatement(kinds []string) string {
	for _, text := range v.sqlTexts() {
		for _, words := range sqlStatements(text) {
			kind := sqlKind(words)
			for _, k := range kinds {
				if k == kind {
					return strings.ToUpper(strings.Join(words[:min(3, len(words))], " "))
				}
			}
		}
	}
	return ""
}

// sqlText is a text taken apart: its statements as words in lower case, and
// what stands in its strings and dollar quotes, which hold no words of it.
type sqlText struct {
	statements [][]string
	strings    []string
	bodies     []string // dollar quotes of DO: code that runs
	dynamic    bool     // a text is executed: EXECUTE, PREPARE, \gexec
}

// maxSQL bounds how deep texts in texts are looked at.
const maxSQL = 3

// sqlStatements splits a text into statements and those into words in lower
// case. Strings, quoted names and comments hold no words, but what a DO block
// does, and what is executed as text, are statements too.
func sqlStatements(s string) [][]string { return sqlWithin(s, false, 0) }

func sqlWithin(s string, block bool, depth int) [][]string {
	t := scanSQL(s, block)
	if depth >= maxSQL {
		return t.statements
	}
	all := t.statements
	for _, b := range t.bodies {
		all = append(all, sqlWithin(b, true, depth+1)...)
	}
	if t.dynamic {
		for _, text := range t.strings {
			all = append(all, sqlWithin(text, false, depth+1)...)
		}
	}
	return all
}

// scanSQL takes a text apart; block is set for procedural code, where
// statements also begin after THEN, ELSE, LOOP and BEGIN.
func scanSQL(s string, block bool) (t sqlText) {
	var words []string
	var word strings.Builder
	end := func() {
		t.statements = append(t.statements, words)
		words = nil
	}
	endWord := func() {
		if word.Len() == 0 {
			return
		}
		w := strings.ToLower(word.String())
		word.Reset()
		switch last := len(words) - 1; {
		case last >= 0 && words[last] == "execute" && (w == "function" || w == "procedure" || w == "on"):
			words[last] = "?" // a trigger's, a grant's
		case block && (w == "then" || w == "else" || w == "loop" || w == "begin"):
			end()
			return
		}
		words = append(words, w)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\'' || c == '"' || c == '`':
			if c == '\'' && (strings.EqualFold(word.String(), "e") || strings.EqualFold(word.String(), "n")) {
				word.Reset() // E'...', N'...'
			}
			endWord()
			j := i + 1
			for ; j < len(s); j++ {
				if s[j] == c && j+1 < len(s) && s[j+1] == c || s[j] == '\\' && c == '\'' {
					j++
				} else if s[j] == c {
					break
				}
			}
			if c == '\'' {
				t.strings = append(t.strings, strings.ReplaceAll(s[i+1:min(j, len(s))], "''", "'"))
			}
			words = append(words, "?")
			i = j
		case c == '$' && word.Len() == 0 && dollarTag(s[i:]) > 0:
			n := dollarTag(s[i:])
			from := i + n
			j := strings.Index(s[from:], s[i:from])
			body := s[from:]
			if i = len(s); j >= 0 {
				body, i = body[:j], from+j+n-1
			}
			if len(words) > 0 && words[0] == "do" {
				t.bodies = append(t.bodies, body)
			} else {
				t.strings = append(t.strings, body)
			}
			words = append(words, "?")
		case c == '-' && strings.HasPrefix(s[i:], "--") && (i+2 == len(s) || s[i+2] == ' ' || s[i+2] == '\t' || s[i+2] == '\n'), c == '#' && (i == 0 || s[i-1] == '\n'):
			endWord()
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], "/*"):
			endWord()
			if j := strings.Index(s[i+2:], "*/"); j >= 0 {
				i += j + 3
			} else {
				i = len(s)
			}
		case c == ';':
			endWord()
			end()
		case c == '=' || c == '(' || c == ')' || c == ',':
			endWord()
			words = append(words, string(c))
		case c == '_' || c == '.' || c == '$' || isWordByte(c) || c >= 0x80:
			word.WriteByte(c)
		default:
			endWord()
		}
	}
	endWord()
	end()
	for _, words := range t.statements {
		for _, w := range words {
			switch w {
			case "execute", "exec", "prepare", "sp_executesql", "immediate", "gexec":
				t.dynamic = true
			}
		}
	}
	return t
}

// dollarTag returns the length of the $tag$ that a text begins with; 0 when it
// does not.
func dollarTag(s string) int {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			return i + 1
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 1 && c >= '0' && c <= '9':
		default:
			return 0
		}
	}
	return 0
}

func sqlKind(w []string) string {
	if len(w) == 0 {
		return ""
	}
	has := func(x string) bool {
		for _, y := range w {
			if y == x {
				return true
			}
		}
		return false
	}
	first := w[0]
	if first == "with" || first == "do" || first == "begin" || first == "(" {
		for _, k := range []string{"drop", "truncate", "delete", "update"} {
			if has(k) {
				first = k
				break
			}
		}
	}
	switch first {
	case "drop":
		return "drop"
	case "truncate":
		return "truncate"
	case "alter":
		if has("drop") {
			return "drop"
		}
		if len(w) > 1 && (w[1] == "user" || w[1] == "role" || w[1] == "system") {
			return "admin"
		}
	case "delete", "update":
		if !has("where") || alwaysTrue(w) {
			return "delete"
		}
		return "change"
	case "grant", "revoke", "reassign":
		return "admin"
	case "create":
		if len(w) > 1 && (w[1] == "user" || w[1] == "role") {
			return "admin"
		}
	case "select":
		for _, x := range w {
			if strings.HasPrefix(x, "pg_terminate_backend") || strings.HasPrefix(x, "pg_cancel_backend") {
				return "admin"
			}
		}
	case "flushall", "flushdb":
		return "drop"
	case "reset":
		if len(w) > 1 && (w[1] == "master" || w[1] == "slave" || w[1] == "replica") {
			return "admin"
		}
	}
	return ""
}

// alwaysTrue recognises WHERE true and WHERE 1=1.
func alwaysTrue(w []string) bool {
	for i, x := range w {
		if x == "where" {
			rest := strings.Join(w[i+1:], "")
			return rest == "true" || rest == "1" || rest == "1=1" || rest == ""
		}
	}
	return false
}
