package initscript

import (
	"fmt"
	"strings"
)

// quoteSh quotes a word for bash, zsh and POSIX shells. It holds with zsh's
// RC_QUOTES too, where ” inside single quotes is a quote.
func quoteSh(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteFish quotes a word for fish.
func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// plain says whether a byte stands for itself in every shell, quoted or not,
// also after word splitting and file name expansion.
func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._-+,", c) >= 0
}

// octal writes every byte that is not plain as \ooo.
func octal(s string) string {
	var out strings.Builder
	for i := range len(s) {
		if plain(s[i]) {
			out.WriteByte(s[i])
		} else {
			fmt.Fprintf(&out, `\%03o`, s[i])
		}
	}
	return out.String()
}

// joinable quotes a word so that it survives `eval $(...)` without quotes,
// where the shell splits the text at blanks, expands it as file names and
// joins it again with single blanks.
func joinable(shell, s string) string {
	if octal(s) == s {
		return s
	}
	switch shell {
	case "bash", "zsh":
		return "$'" + octal(s) + "'"
	case "fish":
		return joinableFish(s)
	case "pwsh":
		return quotePwsh(s) // given to Invoke-Expression as one text
	}
	// A trailing newline would be lost: no text or path given here has one.
	return `"$(printf '` + octal(s) + `')"`
}

// quotePwsh quotes a word for PowerShell, which takes typographic quotes, too.
func quotePwsh(s string) string {
	return "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(s) + "'"
}

// joinableFish writes all but plain bytes as \Xhh, which fish takes for bytes.
func joinableFish(s string) string {
	var out strings.Builder
	for i := range len(s) {
		if plain(s[i]) {
			out.WriteByte(s[i])
		} else {
			fmt.Fprintf(&out, `\X%02x`, s[i])
		}
	}
	return out.String()
}
