package mask

import "strings"

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
	if m.plain.from <= k && k < m.plain.to { // a=b,c=d,...: one word, looked at once
		return k, m.plain.to, m.plain.to
	}
	j := k
	for j < len(s) && !isSpace(s[j]) && !isSeparator(s[j]) && strings.IndexByte("'\"`<>", s[j]) < 0 {
		if m.quote == 0 && s[j] == '\\' && j+1 < len(s) && s[j+1] == ' ' {
			j += 2
			continue
		}
		if s[j] == '$' && j > k || s[j] == '\\' && j+1 < len(s) && (s[j+1] == '"' || s[j+1] == '\'') {
			break
		}
		j++
	}
	m.plain = span{k, j}
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
	if k < len(s) && (s[k] == ']' || s[k] == '}') && k > 0 { // environ["X"] = "y"
		k++
		if strings.HasPrefix(s[k:], ` "`) { // of sops
			return k + 1
		}
	}
	k = skipBlanks(s, k)
	if k >= len(s) || s[k] != ':' && s[k] != '=' {
		return 0
	}
	if s[k] == '=' && k+1 < len(s) && s[k+1] == '>' { // of PHP, Perl, Ruby
		k++
	}
	k = skipBlanks(s, k+1)
	if k < len(s) && (s[k] == '"' || s[k] == '\'' || strings.HasPrefix(s[k:], `\"`)) {
		return k
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

// unlikeUser: more than small letters, which is a token where a user may stand
// alone, as in https://TOKEN@host.
func unlikeUser(s string) bool {
	return s != "" && s[0] != '$' && !strings.HasSuffix(s, stars) && (len(s) > 24 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz.-_%+") != "")
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

// wordStart says whether a word of a command begins there.
func wordStart(s string, i int) bool {
	return i == 0 || isSpace(s[i-1]) || isSeparator(s[i-1]) || strings.IndexByte("'\"`", s[i-1]) >= 0
}

const pemBegin = "-----BEGIN "

// pemEnd is how the first line of a private key ends.
func pemEnd(s string) string {
	for _, end := range [...]string{"PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"} {
		if strings.HasPrefix(s, end) {
			return end
		}
	}
	return ""
}

// pem masks the body of a private key block: base64 words only, so that no
// command can hide in a block that does not end.
func (m *masker) pem(i int) {
	s := m.s
	head := s[i:min(len(s), i+64)]
	n := strings.Index(head, "PRIVATE KEY")
	if n < 0 || pemEnd(head[n:]) == "" {
		return
	}
	k := i + n + len(pemEnd(head[n:]))
	from, to, headers := -1, -1, 0
	for {
		k = skipPEMSpace(s, k)
		j := k
		for j < len(s) && isBase64(s[j]) {
			j++
		}
		if from < 0 && j > k && headers < 4 { // Proc-Type: 4,ENCRYPTED
			if h := pemHeaderEnd(s, j); h > j {
				k = h
				headers++
				continue
			}
		}
		if j-k < 32 && !(j > k && strings.HasPrefix(s[skipPEMSpace(s, j):], "-----END")) {
			break
		}
		if from < 0 {
			from = k
		}
		to, k = j, j
	}
	if from >= 0 {
		m.replace(from, to)
	}
}
