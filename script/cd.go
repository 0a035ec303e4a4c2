package script

import "strings"

// cd follows a change of directory.
func (a *analyzer) cd(k *call) outcome {
	a.emit(k)
	args := k.argv[1:]
	for len(args) > 0 {
		t, ok := args[0].Text()
		if !ok || len(t) < 2 || t[0] != '-' || strings.Trim(t[1:], "LPeqs@") != "" {
			break
		}
		args = args[1:]
	}
	if len(args) > 0 {
		if t, _ := args[0].Text(); t == "--" {
			args = args[1:]
		}
	}
	lost := k.st.clone()
	a.enter(k, args)
	return outcome{lost: lost, sure: true}
}

// enter changes the directory as cd with these operands does.
func (a *analyzer) enter(k *call, args []Word) {
	st := k.st
	to := noDir()
	if d, ok := st.dir.Text(); ok {
		a.spend(len(d) / 256)
	}
	switch {
	case len(args) > 1:
	case len(args) == 0:
		e := expander{a: a, st: st, c: k.c}
		to = e.home()
	default:
		t, known := args[0].Text()
		switch {
		case known && t == "-":
			if st.oldKnown {
				to = st.old
			}
		case known && t == "":
			to = st.dir
		case known && len(t) > 1 && (t[0] == '-' || t[0] == '+') && isDigits(t[1:]):
		case known && !strings.HasPrefix(t, "/") && t != "." && t != ".." && !strings.HasPrefix(t, "./") &&
			!strings.HasPrefix(t, "../") && a.hasCdpath(st):
		default:
			to = under(st.dir, args[0])
		}
	}
	st.own()
	st.old, st.oldKnown = st.dir, true
	st.dir = to
	delete(st.vars, "PWD")
	delete(st.vars, "OLDPWD")
}

func (a *analyzer) hasCdpath(st *state) bool {
	v := a.lookup("CDPATH", st)
	if v.kind == isScalar {
		t, ok := (Word{Parts: v.parts}).Text()
		return !ok || t != ""
	}
	_, assigned := st.vars["CDPATH"]
	return assigned && v.kind != isUnset
}

func (a *analyzer) pushd(k *call, name string) outcome {
	a.emit(k)
	k.c.sink.lose()
	st := k.st
	lost := st.clone()
	st.own()
	a.spend(len(st.stack) / 8)
	args := k.argv[1:]
	for len(args) > 0 {
		if t, _ := args[0].Text(); t != "-n" && t != "--" && t != "-q" {
			break
		} else if t == "-n" {
			st.stackLost, st.stack = true, nil
			return outcome{lost: lost, sure: true}
		}
		args = args[1:]
	}
	if name == "popd" {
		from := st.dir
		switch {
		case len(args) > 0 || st.stackLost || len(st.stack) == 0:
			st.dir, st.stackLost, st.stack = noDir(), true, nil
		default:
			st.dir, st.stack = st.stack[0], st.stack[1:]
		}
		st.old, st.oldKnown = from, true
		delete(st.vars, "PWD")
		return outcome{lost: lost, sure: true}
	}
	if len(args) == 0 {
		from := st.dir
		if st.stackLost || len(st.stack) == 0 {
			st.dir, st.stackLost, st.stack = noDir(), true, nil
		} else {
			st.dir = st.stack[0]
			st.stack = append([]Word{from}, st.stack[1:]...)
		}
		st.old, st.oldKnown = from, true
		delete(st.vars, "PWD")
		return outcome{lost: lost, sure: true}
	}
	from := st.dir
	a.enter(k, args)
	if t, ok := args[0].Text(); ok && len(t) > 1 && (t[0] == '+' || t[0] == '-') && isDigits(t[1:]) {
		st.stackLost, st.stack = true, nil
		return outcome{lost: lost, sure: true}
	}
	st.stack = append([]Word{from}, st.stack...)
	return outcome{lost: lost, sure: true}
}
