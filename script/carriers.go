package script

// carries names the programs that carrier looks into.
func carries(name string) bool {
	switch name {
	case "xargs", "gxargs", "parallel", "find", "gfind", "fd", "fdfind", "bfs":
		return true
	}
	return false
}

// carrier follows programs that run other programs in ways of their own.
func (a *analyzer) carrier(k *call, i int, name string) bool {
	switch name {
	case "xargs", "gxargs":
		a.xargs(k, i)
	case "parallel":
		a.parallel(k, i)
	case "find", "gfind", "bfs":
		a.find(k, i, name)
	case "fd", "fdfind":
		a.fd(k, i, name)
	default:
		return false
	}
	return true
}

func (a *analyzer) su(inner, k *call, name string) {}

func interpreterOf(name string) string { return "" }

func (a *analyzer) interpreter(k *call, i int, name, lang string) {}

func (a *analyzer) source2(k *call, i int, text, lang, name string) {}
