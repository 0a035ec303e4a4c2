package eval

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/syntax"
)

// echo is bash's, without xpg_echo.
func (x *inShell) echo(args []string, io inIO) int {
	newline, escapes := true, false
	for len(args) > 0 && echoOption(args[0]) {
		for _, o := range args[0][1:] {
			switch o {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		var stop, ok bool
		if text, stop, ok = echoEscapes(text); !ok {
			return x.leave()
		}
		newline = newline && !stop
	}
	if newline {
		text += "\n"
	}
	return io.write(x, text)
}

func echoOption(s string) bool {
	return len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "neE") == ""
}

// echoEscapes knows the escapes that are one character; stop is for \c.
func echoEscapes(s string) (out string, stop, ok bool) {
	if !strings.Contains(s, `\`) {
		return s, false, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			b.WriteByte('\\')
			break
		}
		if s[i] == 'c' {
			return b.String(), true, true
		}
		k := strings.IndexByte(`abefnrtvE\`, s[i])
		if k < 0 {
			if strings.IndexByte("01234567xuU", s[i]) >= 0 {
				return "", false, false
			}
			b.WriteByte('\\')
			b.WriteByte(s[i])
			continue
		}
		b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b\\"[k])
	}
	return b.String(), false, true
}

// printf knows text, %s, %% and the common escapes.
func (x *inShell) printf(args []string, io inIO) int {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return x.leave()
	}
	format, args := args[0], args[1:]
	var b strings.Builder
	for {
		took := false
		for i := 0; i < len(format); i++ {
			c := format[i]
			if c != '%' && c != '\\' {
				b.WriteByte(c)
				continue
			}
			i++
			if i == len(format) {
				return x.leave()
			}
			switch {
			case c == '%' && format[i] == '%':
				b.WriteByte('%')
			case c == '%' && format[i] == 's':
				took = true
				if len(args) > 0 {
					if !x.spend(len(args[0])) {
						return 0
					}
					b.WriteString(args[0])
					args = args[1:]
				}
			case c == '\\' && strings.IndexByte(`ntr\`, format[i]) >= 0:
				b.WriteByte("\n\t\r\\"[strings.IndexByte(`ntr\`, format[i])])
			default:
				return x.leave()
			}
		}
		if !took || len(args) == 0 {
			return io.write(x, b.String())
		}
		if !x.spend(len(format)) {
			return 0
		}
	}
}

// bracket is test and [, which go by the number of arguments.
func (x *inShell) bracket(args []string) int {
	switch n := len(args); {
	case n == 0:
		return 1
	case n == 1:
		return truth(args[0] != "")
	case n == 2 && args[0] == "!":
		return truth(args[1] == "")
	case n == 2:
		return truth(x.unary(args[0], args[1]))
	case n == 3 && binaryOperator(args[1]):
		return truth(x.binaryTest(args[0], args[1], args[2]))
	case n == 3 && args[0] == "!" && args[1] != "-a" && args[1] != "-o":
		return 1 - x.bracket(args[1:])
	case n == 4 && args[0] == "!" && binaryOperator(args[2]):
		return 1 - x.bracket(args[1:])
	}
	return x.leave()
}

func binaryOperator(op string) bool {
	switch op {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		return true
	}
	return false
}

func (x *inShell) binaryTest(a, op, b string) bool {
	switch op {
	case "=", "==":
		return a == b
	case "!=":
		return a != b
	case "<", ">":
		if !isASCII(a) || !isASCII(b) || !x.m.loc.order {
			x.leave()
		}
		return op == "<" && a < b || op == ">" && a > b
	}
	m, ok := plainInt(a)
	n, ok2 := plainInt(b)
	if !ok || !ok2 {
		x.leave()
	}
	switch op {
	case "-eq":
		return m == n
	case "-ne":
		return m != n
	case "-lt":
		return m < n
	case "-le":
		return m <= n
	case "-gt":
		return m > n
	}
	return m >= n
}

// plainInt reads a decimal integer that test, [[ and C read alike.
func plainInt(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 15 || digits[0] == '0' && len(digits) > 1 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// Ways of access, as in access(2).
const (
	accessExec  = 1
	accessWrite = 2
	accessRead  = 4
)

func accessible(path string, how uint32) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, how, unix.AT_EACCESS) == nil
}

func (x *inShell) unary(op, s string) bool {
	switch op {
	case "-n":
		return s != ""
	case "-z":
		return s == ""
	case "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h":
		return x.fileTest(op[1], s)
	}
	x.leave()
	return false
}

// path returns the file that a condition means. What is below /dev and /proc
// is another thing in each process.
func (x *inShell) path(name string) string {
	if !filepath.IsAbs(name) {
		name = x.dir() + "/" + name
	}
	for _, d := range [...]string{"/dev", "/proc"} {
		if clean := filepath.Clean(name); clean == d || strings.HasPrefix(clean, d+"/") {
			x.leave()
		}
	}
	return name
}

func (x *inShell) fileTest(op byte, name string) bool {
	if name == "" {
		return false
	}
	path := x.path(name)
	if x.left {
		return false
	}
	if op == 'L' || op == 'h' {
		fi, err := os.Lstat(path)
		return err == nil && fi.Mode()&fs.ModeSymlink != 0
	}
	fi, err := os.Stat(path)
	if err != nil {
		return false
	}
	switch op {
	case 'f':
		return fi.Mode().IsRegular()
	case 'd':
		return fi.IsDir()
	case 's':
		return fi.Size() > 0
	case 'r':
		return accessible(path, accessRead)
	case 'w':
		return accessible(path, accessWrite)
	case 'x':
		return accessible(path, accessExec)
	}
	return true
}

// testExpr is [[ ]].
func (x *inShell) testExpr(e syntax.TestExpr) bool {
	if x.left {
		return false
	}
	switch e := e.(type) {
	case *syntax.ParenTest:
		return x.testExpr(e.X)
	case *syntax.Word:
		return x.joined(e) != ""
	case *syntax.UnaryTest:
		if e.Op == syntax.TsNot {
			return !x.testExpr(e.X)
		}
		if w, ok := e.X.(*syntax.Word); ok {
			s := x.joined(w)
			return !x.left && x.unary(e.Op.String(), s)
		}
	case *syntax.BinaryTest:
		switch e.Op {
		case syntax.AndTest:
			return x.testExpr(e.X) && x.testExpr(e.Y)
		case syntax.OrTest:
			return x.testExpr(e.X) || x.testExpr(e.Y)
		}
		a, ok := e.X.(*syntax.Word)
		b, ok2 := e.Y.(*syntax.Word)
		if !ok || !ok2 {
			break
		}
		s := x.joined(a)
		if x.left {
			return false
		}
		switch e.Op {
		case syntax.TsMatch, syntax.TsMatchShort:
			return x.globWord(b, s)
		case syntax.TsNoMatch:
			return !x.globWord(b, s)
		case syntax.TsReMatch:
			return x.regexWord(b, s)
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr, syntax.TsBefore, syntax.TsAfter:
			t := x.joined(b)
			return !x.left && x.binaryTest(s, e.Op.String(), t)
		}
	}
	x.leave()
	return false
}
