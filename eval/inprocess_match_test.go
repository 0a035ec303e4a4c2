package eval

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// locales returns environments whose locale is there, with real ones built where
// their sources are installed.
func locales(t *testing.T) [][]string {
	out := [][]string{{"LC_ALL=C"}, {"LC_ALL=C.UTF-8"}}
	def, err := exec.LookPath("localedef")
	if err != nil {
		t.Log("localedef is not installed: C and C.UTF-8 only")
		return out
	}
	dir := t.TempDir()
	for _, name := range []string{"en_US", "tr_TR"} {
		if exec.Command(def, "--no-archive", "-i", name, "-f", "UTF-8", filepath.Join(dir, name+".UTF-8")).Run() != nil {
			t.Logf("the source of locale %s is not installed", name)
			continue
		}
		out = append(out, []string{"LC_ALL=" + name + ".UTF-8", "LOCPATH=" + dir})
	}
	return out
}

// localeOf is what the judge would believe where it does not know LOCPATH.
func localeOf(env []string) inLocale { return newInProcess(env[:1]).loc }

func matchLines() []string {
	lines := []string{"", "a", "b", "ab", "ba", "aab", "abab", "a b", " a", "a ", "a-b", "a_b", "b a b", "AB", "Ab aB", "a.b", "a\tb", "é", "aéb", "é a", "a é",
		"—a—", "a—b", "\xff", "a\xffb", "\xffa", "a\xc3", "\xc3\xa9b", "🎉a", "a🎉", "k", "K", "\u212a", "s", "\u017f", "i", "I", "\u0130", "\u0131", "\u00a0a", "a\u2003b",
		"a1", "1a", "01", "a+b", "a{2}", "(a)", "a|b", "[a]", "^a", "a$", "\\a", "a\\b", "a*b", "aaa", "bbb", "aaaaab", "É", "ÄB", "ß", "中a", "a中b", "٣", "²", "]", "-", "a]b", "/a/b",
		"\r", "a\r", "ab ab", "ab-ab ba", "_", "__a", "\xed\xa0\x80a", "\xf4\x90\x80\x80", "\xe3a", "aé\xffb", "x", "xa", "ax", "z", "Z", "ñ"}
	rng := rand.New(rand.NewSource(7))
	for range 40 {
		var b strings.Builder
		for range rng.Intn(9) {
			b.WriteString([]string{"a", "b", "a", "b", " ", "_", "-", "é", "A", "1", "k"}[rng.Intn(11)])
		}
		lines = append(lines, b.String())
	}
	return lines
}

func randomPattern(rng *rand.Rand, depth int, extended bool) string {
	pick := func(list ...string) string { return list[rng.Intn(len(list))] }
	op := func(s string) string {
		if extended {
			return s
		}
		return `\` + s
	}
	var b strings.Builder
	if rng.Intn(5) == 0 {
		b.WriteByte('^')
	}
	for range rng.Intn(4) {
		switch rng.Intn(12) {
		case 0:
			b.WriteString(pick(".", ".*", `\s`, `\w`, `\W`, `\S`, `\b`, `\<`, `\>`, `\.`, `\*`, `\]`, `\+`, `\\`))
		case 1:
			b.WriteString(pick("[ab]", "[^a]", "[a-z]", "[A-Z]", "[0-9]", "[^0-9]", "[[:space:]]", "[[:alpha:]]", "[^[:alnum:]_]", "[[:upper:]b]", "[[:punct:]]", "[]a]", "[^]a]", "[a-]", "[é]", "[^é]", "[k]", "[^k]", "[!a]", "[a^]", "[[:digit:]-]", `[\a]`, "[.]", "[[]", "[a-bx-z]", "[--a]"))
		case 2:
			if depth > 0 {
				b.WriteString(op("(") + randomPattern(rng, depth-1, extended) + op("|") + randomPattern(rng, depth-1, extended) + op(")"))
			}
		case 3:
			if depth > 0 {
				b.WriteString(op("(") + randomPattern(rng, depth-1, extended) + op(")"))
			}
		case 4:
			b.WriteString(pick("é", "—", "k", "s", "i", "I", "K", "+", "|", "$", "^", "{", "}", "?", "-", "/", op("|")))
		default:
			b.WriteString(pick("a", "b", "a", "b", "ab", " ", "_", "-", "1"))
		}
		switch rng.Intn(6) {
		case 0:
			b.WriteString(pick("*", op("+"), op("?"), "*"+op("?")))
		case 1:
			if rng.Intn(2) == 0 {
				b.WriteString(op("{") + pick("2", "1,", "0,2", "1,3", "0", "0,0", "3") + op("}"))
			}
		}
	}
	if rng.Intn(5) == 0 {
		b.WriteByte('$')
	}
	if rng.Intn(25) == 0 {
		b.WriteString("\n" + pick("a", "b$", "^", ""))
	}
	return b.String()
}

func TestPatternsInLocales(t *testing.T) {
	envs := locales(t)
	t.Run("grep", func(t *testing.T) { grepPatternsEqualGrep(t, envs) })
	t.Run("classes", func(t *testing.T) { wideClassesEqualGrep(t, envs) })
	t.Run("bash", func(t *testing.T) { bashPatternsEqualBash(t, envs) })
}

// Each line that grep selects, and no other, is found.
func grepPatternsEqualGrep(t *testing.T, envs [][]string) {
	needs1(t, "grep")
	patterns := 1000
	if testing.Short() {
		patterns = 200
	}
	data := strings.Join(matchLines(), "\n") + "\n"
	rng := rand.New(rand.NewSource(testSeed(11)))
	taken, sureLines, maybeLines := 0, 0, 0
	for range patterns {
		key := matcherKey{kind: extendedExpression}
		flags := "-aEn"
		switch rng.Intn(6) {
		case 0, 1:
			key.kind, flags = basicExpression, "-an"
		case 2:
			key.kind, flags = fixedText, "-aFn"
		}
		key.text = randomPattern(rng, 2, key.kind != basicExpression)
		switch rng.Intn(9) {
		case 0, 1:
			key.fold, flags = true, flags+"i"
		case 2:
			key.word, flags = true, flags+"w"
		case 3:
			key.line, flags = true, flags+"x"
		}
		env := envs[rng.Intn(len(envs))]
		m := newMatcher(key, localeOf(env))
		if m == nil {
			continue
		}
		taken++
		want := grepSelects(t, env, flags, key.text, data)
		if want == nil {
			t.Errorf("grep %s %q in %s is an error", flags, key.text, env[0])
			continue
		}
		for i, line := range matchLines() {
			got := m.line(line)
			if got == maybe {
				maybeLines++
				continue
			}
			sureLines++
			if (got == sure) != want[i+1] {
				t.Errorf("grep %s %q in %s on %q: grep %v, here %v", flags, key.text, env[0], line, want[i+1], got == sure)
			}
		}
	}
	t.Logf("%d of %d patterns taken, %d lines judged, %d left", taken, patterns, sureLines, maybeLines)
	if taken < patterns/2 || maybeLines > sureLines/10 {
		t.Error("too few were judged")
	}
}

// grepSelects returns the numbers of the selected lines; nil after an error.
func grepSelects(t *testing.T, env []string, flags, pattern, data string) map[int]bool {
	t.Helper()
	cmd := exec.Command("grep", flags, "-e", pattern)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stdin = strings.NewReader(data)
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
		t.Log(err)
		return nil
	}
	lines := map[int]bool{}
	for _, l := range bytes.Split(out, []byte("\n")) {
		var n int
		if _, err := fmt.Sscanf(string(l), "%d:", &n); err == nil {
			lines[n] = true
		}
	}
	return lines
}

// What is believed of characters beyond ASCII holds in each locale.
func wideClassesEqualGrep(t *testing.T, envs [][]string) {
	needs1(t, "grep")
	var runes []rune
	var data strings.Builder
	for r := rune(0x80); r < 0x20000; r++ {
		if (r < 0xd800 || r > 0xdfff) && (r < 0x3200 || r%9 == 0) {
			runes = append(runes, r)
			data.WriteRune(r)
			data.WriteByte('\n')
		}
	}
	for _, env := range envs {
		if env[0] == "LC_ALL=C" {
			continue
		}
		for pattern, class := range map[string]func(rune) certainty{`\w`: wordRune, `\s`: spaceRune} {
			want := grepSelects(t, env, "-an", pattern, data.String())
			for i, r := range runes {
				if c := class(r); c != maybe && (c == sure) != want[i+1] {
					t.Errorf("%s in %s: U+%04X: grep %v", pattern, env[0], r, want[i+1])
				}
			}
		}
	}
}

// [[ =~ ]] and [[ == ]] find the same as bash.
func bashPatternsEqualBash(t *testing.T, envs [][]string) {
	needs1(t, "bash")
	count := 2500
	if testing.Short() {
		count = 300
	}
	lines := append(matchLines(), "a\nb", "\n", "a\n")
	dir := t.TempDir()
	rng := rand.New(rand.NewSource(testSeed(13)))
	for _, env := range envs {
		// An environment that names the locale but not where it is.
		j := &bashJudge{environ: env[:1], memo: newInProcess(env[:1])}
		type pair struct {
			text string
			got  []certainty
		}
		var pairs []pair
		var b strings.Builder
		b.WriteString("L=(")
		for _, l := range lines {
			b.WriteString(" " + singleQuote(l))
		}
		b.WriteString(")\n")
		for range count / len(envs) {
			text := "=~ " + bashWord(rng, randomPattern(rng, 2, true))
			if rng.Intn(2) == 0 {
				text = "== " + bashWord(rng, randomGlob(rng))
			}
			p := pair{text: text}
			took := 0
			for _, l := range lines {
				j.memo.environ["L"] = l
				status, ok := j.inProcess("[[ $L "+text+" ]]", commandValues{})
				c := maybe
				if ok {
					took++
					c = never
					if status == 0 {
						c = sure
					}
				}
				p.got = append(p.got, c)
			}
			if took > 0 {
				pairs = append(pairs, p)
				b.WriteString("eval " + singleQuote(`for l in "${L[@]}"; do [[ $l `+text+` ]]; printf %s "$?"; done`) + "; echo\n")
			}
		}
		file := filepath.Join(dir, "patterns.sh")
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(findBash(), "--norc", "--noprofile", file)
		cmd.Env = env
		out, _ := cmd.Output()
		answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(answers) != len(pairs) {
			t.Fatalf("bash answered %d of %d", len(answers), len(pairs))
		}
		judged := 0
		for i, p := range pairs {
			for k, c := range p.got {
				if c == maybe {
					continue
				}
				judged++
				if k >= len(answers[i]) || (c == sure) != (answers[i][k] == '0') {
					t.Errorf("[[ %q %s ]] in %s: bash %.200s, here %v", lines[k], p.text, env[0], answers[i], c == sure)
				}
			}
		}
		t.Logf("%s: %d patterns, %d results", env[0], len(pairs), judged)
	}
}

func randomGlob(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.Intn(4) {
		list := []string{"*", "*", "?", "a", "b", "ab", "[ab]", "[!a]", "[^a]", "[a-z]", "[0-9]", "[[:space:]]", "[[:upper:]]", "[]a]", "[!]a]", "[a-]", "[a", "]", "-", "_", "é", "[é]", "\\*", "\\[", "A", "k", "{a,b}", "[a/b]", "/", "**", "[[:alpha:]_]", "[.]"}
		b.WriteString(list[rng.Intn(len(list))])
	}
	return b.String()
}

// bashWord escapes what would end the word.
func bashWord(rng *rand.Rand, s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case strings.IndexByte(" \t\n'\"&;<>`#!", c) >= 0:
			b.WriteString(singleQuote(string(c)))
		case c == 'a' && rng.Intn(8) == 0:
			b.WriteString(`"a"`)
		default:
			b.WriteByte(c)
		}
	}
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}
