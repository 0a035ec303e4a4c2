package spool

import "strings"

// want says what a word is that an option or a name announces.
type want uint8

const (
	wantNothing  want = iota
	wantSecret        // token, key: paths and switches are left alone
	wantPassword      // anything literal
	wantUserPass      // user:password
	wantAttached      // a password, but only without a space (mysql -p)
)

// tool marks programs with options of their own.
type tool uint8

const (
	toolCurl tool = 1 << iota
	toolMySQL
	toolSSHPass
)

func toolNamed(name string) tool {
	switch name {
	case "curl":
		return toolCurl
	case "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mysqlshow", "mysqlsh",
		"mariadb", "mariadb-dump", "mariadb-admin", "mariadb-import":
		return toolMySQL
	case "sshpass":
		return toolSSHPass
	}
	return 0
}

// flagWants judges an option, without its =value. If a secret is attached to
// it, w says which and it starts at flag[n]; else next says what follows.
func flagWants(flag string, t tool) (n int, w, next want) {
	if strings.HasPrefix(flag, "--") {
		if t&toolCurl != 0 {
			for _, name := range []string{"--user", "--proxy-user"} {
				if flag == name {
					return 0, wantNothing, wantUserPass
				}
				if strings.HasPrefix(flag, name+"=") {
					return len(name) + 1, wantUserPass, wantNothing
				}
			}
		}
		return 0, wantNothing, nameWants(flag)
	}
	if len(flag) < 2 {
		return 0, wantNothing, wantNothing
	}
	switch {
	case t&(toolMySQL|toolSSHPass) != 0 && flag[1] == 'p' && len(flag) > 2:
		return 2, wantPassword, wantNothing
	case t&toolSSHPass != 0 && flag == "-p":
		return 0, wantNothing, wantPassword
	case t&toolMySQL != 0 && flag == "-p":
		return 0, wantNothing, wantAttached // alone it asks for it
	case t&toolCurl != 0 && (flag[1] == 'u' || flag[1] == 'U') && len(flag) > 2:
		return 2, wantUserPass, wantNothing
	case t&toolCurl != 0 && (flag[len(flag)-1] == 'u' || flag[len(flag)-1] == 'U') && runEnd(flag, 1) == len(flag):
		return 0, wantNothing, wantUserPass // -u, -su
	}
	return 0, wantNothing, nameWants(flag)
}

// nameWants judges the name of an option or variable by its end. Only the last
// bytes are looked at.
func nameWants(name string) want {
	tail := name[leadingDashes(name):]
	if len(tail) > 24 {
		tail = tail[len(tail)-24:]
	}
	tail = strings.ReplaceAll(strings.ToLower(tail), "-", "_")
	for _, end := range [...]string{"password", "passwd", "passphrase", "_pwd"} {
		if strings.HasSuffix(tail, end) {
			return wantPassword
		}
	}
	for _, end := range [...]string{"public_key", "primary_key", "foreign_key", "sort_key", "partition_key", "cache_key"} {
		if strings.HasSuffix(tail, end) {
			return wantNothing
		}
	}
	for _, end := range [...]string{"_key", "_token", "_secret", "apikey"} {
		if strings.HasSuffix(tail, end) {
			return wantSecret
		}
	}
	if tail == "token" || tail == "secret" {
		return wantSecret
	}
	return wantNothing
}

// maskable reports whether the literal v may be hidden.
func maskable(v string, w want) bool {
	if v == "" || v[0] == '$' {
		return false
	}
	if w != wantSecret {
		return true
	}
	switch v {
	case "true", "false", "True", "False", "yes", "no", "none", "None", "null", "0", "1":
		return false
	}
	return v[0] != '@' && v[0] != '-' && !isPath(v)
}

// isPath reports whether v looks like a path rather than like base64, which
// may begin with a slash too.
func isPath(v string) bool {
	for _, p := range [...]string{"./", "../", "~/", "~"} {
		if v == p || strings.HasPrefix(v, p) && p != "~" {
			return true
		}
	}
	return strings.HasPrefix(v, "/") && !strings.ContainsAny(v, "+=") && (len(v) < 24 || strings.Count(v, "/") > 1)
}

// hidesCommand reports whether v could hold a command that a mask would hide.
func hidesCommand(v string) bool {
	return strings.ContainsAny(v, "\n\r`") || strings.Contains(v, "$(") ||
		strings.ContainsAny(v, " \t") && strings.ContainsAny(v, ";|&")
}

// value finds the literal that starts at k. The value is s[from:to], end lies
// behind its closing quote.
func (m *masker) value(k int) (from, to, end int) {
	s := m.s
	if k >= len(s) {
		return k, k, k
	}
	open, stop := k, ""
	switch {
	case s[k] == '\\' && k+1 < len(s) && (s[k+1] == '"' || s[k+1] == '\''):
		open, stop = k+2, s[k:k+2]
	case s[k] == '\'' || s[k] == '"':
		open, stop = k+1, s[k:k+1]
	}
	if stop != "" {
		j := open
		for j < len(s) && !strings.HasPrefix(s[j:], stop) && (m.quote == 0 || s[j] != m.quote) {
			if s[j] == '\\' && stop == `"` {
				j++
			}
			j++
		}
		j = min(j, len(s))
		v := s[open:j]
		sure := m.quote == 0 || m.quote != stop[len(stop)-1]
		if j < len(s) && (sure || !strings.ContainsAny(v, " \t\n;|&<>()`")) {
			return open, j, min(len(s), j+len(stop))
		}
		if m.quote != 0 && !sure {
			return k, k, k // the quote around it ends here: no value
		}
		k = open
	}
	j := k
	for j < len(s) && !isSpace(s[j]) && !isSeparator(s[j]) && strings.IndexByte("'\"`<>", s[j]) < 0 {
		if s[j] == '$' && j > k || s[j] == '\\' && j+1 < len(s) && (s[j+1] == '"' || s[j+1] == '\'') {
			break
		}
		j++
	}
	return k, j, j
}

// assigned returns where the value of the name that ends at j starts: after
// "=", or after ": or = and a quote (JSON, source code). 0: no value.
func assigned(s string, j int) int {
	if strings.HasPrefix(s[j:], "=") && !strings.HasPrefix(s[j:], "==") {
		return j + 1
	}
	k := j
	if strings.HasPrefix(s[k:], `\`) {
		k++
	}
	if k < len(s) && (s[k] == '"' || s[k] == '\'') {
		k++
	}
	k = skipBlanks(s, k)
	if k >= len(s) || s[k] != ':' && s[k] != '=' {
		return 0
	}
	k = skipBlanks(s, k+1)
	if k < len(s) && (s[k] == '"' || s[k] == '\'' || strings.HasPrefix(s[k:], `\"`)) {
		return k
	}
	return 0
}

// tokenPrefix returns the length of the part of a known token that may be
// shown, 0 for anything else. word is a maximal run.
func tokenPrefix(word string) int {
	for _, t := range [...]struct {
		prefix string
		min    int // length of the rest
	}{
		{"ghp_", 20}, {"gho_", 20}, {"ghu_", 20}, {"ghs_", 20}, {"ghr_", 20}, {"github_pat_", 20},
		{"glpat-", 16}, {"npm_", 30}, {"pypi-", 30}, {"AIza", 30},
		{"sk-", 20}, {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16},
		{"xoxa-", 10}, {"xoxb-", 10}, {"xoxp-", 10}, {"xoxr-", 10}, {"xoxs-", 10},
	} {
		if strings.HasPrefix(word, t.prefix) {
			if rest := word[len(t.prefix):]; len(rest) >= t.min && (isDense(rest) || t.prefix[0] == 'x') {
				return len(t.prefix)
			}
			return 0
		}
	}
	if len(word) == 20 && (strings.HasPrefix(word, "AKIA") || strings.HasPrefix(word, "ASIA")) &&
		word == strings.ToUpper(word) && !strings.ContainsAny(word, "_-") {
		return 4
	}
	return 0
}

// isDense reports whether s holds a stretch of 16 letters and digits, at least
// one of each: a random string, not words joined by dashes.
func isDense(s string) bool {
	n, digit, letter := 0, false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c == '_' || c == '-':
			n, digit, letter = 0, false, false
			continue
		default:
			letter = true
		}
		if n++; n >= 16 && digit && letter {
			return true
		}
	}
	return false
}

// jwtEnd returns the end of a JSON web token whose first part is s[i:j].
func jwtEnd(s string, i, j int) int {
	if j-i < 8 || !strings.HasPrefix(s[i:], "eyJ") || j >= len(s) || s[j] != '.' {
		return 0
	}
	end := runEnd(s, j+1)
	if end-j < 6 {
		return 0
	}
	if end < len(s) && s[end] == '.' {
		end = runEnd(s, end+1)
	}
	return end
}

func isSecretHeader(name string) bool {
	if len(name) > 20 {
		return false
	}
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "x-api-key", "api-key", "x-auth-token", "private-token", "job-token", "x-vault-token":
		return true
	}
	return false
}

func isScheme(s string) bool {
	if len(s) > 20 {
		return false
	}
	switch strings.ToLower(s) {
	case "bearer", "basic", "token", "digest", "negotiate", "apikey", "aws4-hmac-sha256":
		return true
	}
	return false
}

func isSpace(c byte) bool     { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isSeparator(c byte) bool { return strings.IndexByte(";|&()\n", c) >= 0 }
func isRun(c byte) bool       { return isAlnum(c) || c == '_' || c == '-' }
func isBase64(c byte) bool    { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func runEnd(s string, i int) int {
	for i < len(s) && isRun(s[i]) {
		i++
	}
	return i
}

func leadingDashes(s string) int { return len(s) - len(strings.TrimLeft(s, "-")) }

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// skipPEMSpace also skips line ends written as \n, as in JSON.
func skipPEMSpace(s string, i int) int {
	for i < len(s) {
		switch {
		case isSpace(s[i]):
			i++
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r'):
			i += 2
		default:
			return i
		}
	}
	return i
}

// pemHeaderEnd returns the end of a short header line whose colon would be at
// or just after j ("Proc-Type" has a dash); 0 if there is none.
func pemHeaderEnd(s string, j int) int {
	end := j
	for end < len(s) && end < j+120 && strings.IndexByte("\n\\'\"", s[end]) < 0 {
		end++
	}
	if j = runEnd(s[:end], j); j < end && s[j] == ':' {
		return end
	}
	return 0
}

// wordStart and wordEnd say whether a word of a command begins or ends there.
func wordStart(s string, i int) bool {
	return i == 0 || isSpace(s[i-1]) || isSeparator(s[i-1]) || strings.IndexByte("'\"`", s[i-1]) >= 0
}

func wordEnd(s string, j int) bool {
	return j >= len(s) || isSpace(s[j]) || isSeparator(s[j]) || strings.IndexByte("'\"`", s[j]) >= 0
}
