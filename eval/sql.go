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

// sqlStatements splits a text into statements and those into words in lower
// case. Strings, quoted names and comments hold no words.
func sqlStatements(s string) [][]string {
	var all [][]string
	var words []string
	var word strings.Builder
	endWord := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\'' || c == '"' || c == '`':
			endWord()
			j := i + 1
			for j < len(s) && s[j] != c {
				if s[j] == '\\' && c == '\'' {
					j++
				}
				j++
			}
			words = append(words, "?")
			i = j
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
			all = append(all, words)
			words = nil
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
	return append(all, words)
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
