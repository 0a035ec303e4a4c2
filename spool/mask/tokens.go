package mask

import (
	"slices"
	"strings"
)

//go:generate go run ./gen

// class is a set of ASCII characters.
type class [2]uint64

func (c class) has(b byte) bool { return b < 128 && c[b/64]&(1<<(b%64)) != 0 }

// token is a kind of token that is known by how it begins.
type token struct {
	prefix   string // in lower case where fold is set
	fold     bool   // the prefix counts in either case
	min, max int    // how many characters of class follow; max < 0: no limit
	class    class
}

// namedToken is a value that is known by its length, its characters, and a word
// in the name that it is assigned to.
type namedToken struct {
	word     string
	min, max int
	class    class
}

// Characters of tokens, as in the table that is generated.
var (
	wordClass   = class{0x3ff200000000000, 0x7fffffe87fffffe} // letters, digits, _ and -
	dottedClass = class{0x3ff600000000000, 0x7fffffe87fffffe} // and .
	base64Class = class{0x23ff880000000000 | 0x200000000000 | 0x400000000000, 0x7fffffe87fffffe}
)

// moreTokens are known by how they begin, too, from what their makers document.
// What follows has a digit and a letter in it. In the order of the first letters.
var moreTokens = [...]token{
	{"1//0", false, 20, -1, wordClass},
	{"AGE-SECRET-KEY-", false, 10, -1, wordClass},
	{"AKIA", false, 16, 16, wordClass},
	{"amzn.mws.", false, 16, -1, wordClass},
	{"amzn1.oa2-cs.", false, 10, -1, dottedClass},
	{"apify_api_", false, 16, -1, wordClass},
	{"ASIA", false, 16, 16, wordClass},
	{"ATATT3", false, 20, -1, base64Class},
	{"ATBB", false, 24, -1, base64Class},
	{"ATCTT3", false, 20, -1, base64Class},
	{"cfut_", false, 20, -1, wordClass},
	{"cio", false, 32, 32, wordClass},
	{"dckr_oat_", false, 16, -1, wordClass},
	{"dckr_pat_", false, 16, -1, wordClass},
	{"dop_v1_", false, 10, -1, wordClass},
	{"dp.audit.", false, 16, -1, dottedClass},
	{"dp.ct.", false, 16, -1, dottedClass},
	{"dp.pt.", false, 16, -1, dottedClass},
	{"dp.sa.", false, 16, -1, dottedClass},
	{"dp.scim.", false, 16, -1, dottedClass},
	{"dp.st.", false, 12, -1, dottedClass},
	{"dt0s01.", false, 16, -1, dottedClass},
	{"fc-", false, 32, 32, wordClass},
	{"figd_", false, 16, -1, wordClass},
	{"fw_", false, 20, -1, wordClass},
	{"glcbt-", false, 16, -1, wordClass},
	{"gldt-", false, 16, -1, wordClass},
	{"glpat-", false, 16, -1, dottedClass},
	{"glptt-", false, 16, -1, wordClass},
	{"glrt-", false, 16, -1, wordClass},
	{"GOCSPX-", false, 16, -1, wordClass},
	{"gsk_", false, 16, -1, wordClass},
	{"hvb.", false, 16, -1, wordClass},
	{"hvr.", false, 16, -1, wordClass},
	{"hvs.", false, 10, -1, wordClass},
	{"jina_", false, 24, -1, wordClass},
	{"lin_oauth_", false, 16, -1, wordClass},
	{"lsv2_pt_", false, 16, -1, wordClass},
	{"lsv2_sk_", false, 16, -1, wordClass},
	{"nfp_", false, 20, -1, wordClass},
	{"nvapi-", false, 20, -1, wordClass},
	{"ops_", false, 20, -1, wordClass},
	{"oy2", false, 43, 43, wordClass},
	{"pat-na1-", false, 20, -1, wordClass},
	{"pat-eu1-", false, 20, -1, wordClass},
	{"pcsk_", false, 20, -1, wordClass},
	{"phx_", false, 20, -1, wordClass},
	{"pypi-", false, 30, -1, wordClass},
	{"r8_", false, 24, -1, wordClass},
	{"re_", false, 20, -1, wordClass},
	{"sb_secret_", false, 16, -1, wordClass},
	{"sbp_", false, 20, -1, wordClass},
	{"secret_", false, 40, 50, wordClass},
	{"SG.", false, 20, -1, dottedClass},
	{"shpat_", false, 10, -1, wordClass},
	{"sk-ant-", false, 10, -1, wordClass},
	{"sk-lf-", false, 16, -1, wordClass},
	{"sk-or-v1-", false, 16, -1, wordClass},
	{"sk-proj-", false, 16, -1, wordClass},
	{"sntrys_", false, 20, -1, wordClass},
	{"sq0csp-", false, 20, -1, wordClass},
	{"tgp_v1_", false, 20, -1, wordClass},
	{"tskey-", false, 16, -1, wordClass},
	{"tvly-", false, 16, -1, wordClass},
	{"vercel_", false, 20, -1, wordClass},
	{"whsec_", false, 16, -1, base64Class},
	{"xai-", false, 16, -1, wordClass},
	{"xapp-", false, 10, -1, wordClass},
	{"xoxa-", false, 10, -1, wordClass},
	{"xoxb-", false, 10, -1, wordClass},
	{"xoxc-", false, 10, -1, wordClass},
	{"xoxd-", false, 10, -1, wordClass},
	{"xoxe-", false, 10, -1, dottedClass},
	{"xoxp-", false, 10, -1, wordClass},
	{"xoxr-", false, 10, -1, wordClass},
	{"xoxs-", false, 10, -1, wordClass},
	{"ya29.", false, 10, -1, dottedClass},
}

const shortestToken = 12

// tokenAt looks for a token that begins s: its first shown characters may be
// shown, and it ends at end. end is 0 if there is none.
func tokenAt(s string) (shown, end int) {
	if len(s) < shortestToken {
		return 0, 0
	}
	if shown, end = firstOf(keptTokens[:], s, true); end == 0 {
		shown, end = firstOf(moreTokens[:], s, false)
	}
	if end == 0 {
		shown, end = unmarked(s)
	}
	return shown, end
}

// firstOf looks for a token of the table. One that is exact has the very length
// that the table says, or else begins with what nothing else does and is random.
func firstOf(table []token, s string, exact bool) (shown, end int) {
	c := lower(s[0])
	i, _ := slices.BinarySearchFunc(table, c, func(t token, c byte) int { return int(lower(t.prefix[0])) - int(c) })
	for ; i < len(table) && lower(table[i].prefix[0]) == c; i++ {
		t := &table[i]
		p := len(t.prefix)
		if len(s) < p || s[:p] != t.prefix && !(t.fold && strings.EqualFold(s[:p], t.prefix)) {
			continue
		}
		n := p
		for n < len(s) && t.class.has(s[n]) {
			n++
		}
		whole := n == len(s) || !isAlnum(s[n]) && s[n] != '_'
		fits := whole && n-p >= t.min && (t.max < 0 || n-p <= t.max)
		switch {
		case fits && (exact && p > 2 || p > 3 && hasBoth(s[p:n]) || isDense(s[p:n])):
			return p, n
		case exact && p >= 3 && !isAlnum(t.prefix[p-1]):
			n = p
			for n < len(s) && wordClass.has(s[n]) {
				n++
			}
			if n-p >= 16 && isDense(s[p:n]) {
				return p, n
			}
		}
	}
	return 0, 0
}

// unmarked are tokens whose first letters vary: those of bots on Telegram and
// Discord, and of Microsoft's directory.
func unmarked(s string) (shown, end int) {
	if c := s[0]; c >= '0' && c <= '9' {
		n := digits(s, 0)
		if n < 8 || n > 10 || n >= len(s) || s[n] != ':' {
			return 0, 0
		}
		if e := runEnd(s, n+1); e-n-1 >= 30 && hasBoth(s[n+1:e]) {
			return n + 1, e
		}
		return 0, 0
	}
	n := runEnd(s, 0)
	switch {
	case n >= 3 && n+31 < len(s) && strings.Contains(s[:min(len(s), n+2)], "Q~"):
		e := n + 1
		for e < len(s) && (dottedClass.has(s[e]) || s[e] == '~') {
			e++
		}
		if e-n > 28 {
			return 3, e
		}
	case n >= 23 && n <= 28 && strings.IndexByte("MNO", s[0]) >= 0 && n < len(s) && s[n] == '.' && hasBoth(s[:n]):
		e := runEnd(s, n+1)
		if e-n-1 == 6 && e < len(s) && s[e] == '.' {
			if last := runEnd(s, e+1); last-e-1 >= 27 {
				return 0, last
			}
		}
	}
	return 0, 0
}

// namedValue reports whether a value assigned to name is a token by the table of
// those that are known by their names.
func namedValue(name, v string) bool {
	if len(v) < 20 || len(v) > 150 || !hasBoth(v) {
		return false
	}
	var buf [64]byte
	low := lowered(buf[:0], name)
	for i := range keptNamed {
		t := &keptNamed[i]
		if len(v) < t.min || len(v) > t.max || !strings.Contains(string(low), t.word) {
			continue
		}
		j := 0
		for j < len(v) && t.class.has(v[j]) {
			j++
		}
		if j == len(v) {
			return true
		}
	}
	return false
}

// lowered appends the last bytes of s to b, in lower case and with _ for -.
func lowered(b []byte, s string) []byte {
	for i := max(0, len(s)-cap(b)); i < len(s); i++ {
		c := lower(s[i])
		if c == '-' {
			c = '_'
		}
		b = append(b, c)
	}
	return b
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func digits(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// hasBoth: a digit and a letter.
func hasBoth(s string) bool {
	digit, letter := false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		digit = digit || c >= '0' && c <= '9'
		letter = letter || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return digit && letter
}
