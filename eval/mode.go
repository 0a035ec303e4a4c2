package eval

import (
	"strconv"
	"strings"
)

// setsMode evaluates the key mode for chmod:
//
//	others_write  everybody may write (777, o+w), other than in a sticky directory
//	others        the group or everybody may read or write
//	setid         the program runs as its owner or group
//	unusable      the owner can no longer read it or go through it
//	nothing       nobody may do anything (000)
func (v *view) setsMode(kinds []string, note func(string, ...any)) bool {
	mode := ""
	for i := 1; i < len(v.line.kinds); i++ {
		s, known := v.line.words[i].Text()
		if !known {
			continue
		}
		if v.line.kinds[i] == argOption && !v.modeOption() || v.line.kinds[i] == argEnd {
			continue
		}
		if v.line.kinds[i] == argOption && strings.HasPrefix(s, "--") {
			continue
		}
		mode = s // the first operand, or what looks like an option: chmod -x
		break
	}
	for _, k := range kinds {
		if modeHas(mode, k) {
			note("mode %s", clip(mode))
			return true
		}
	}
	return false
}

func modeHas(mode, kind string) bool {
	if n, err := strconv.ParseUint(mode, 8, 16); err == nil && mode != "" {
		switch kind {
		case "others_write":
			return n&0o002 != 0 && n&0o1000 == 0
		case "others":
			return n&0o066 != 0
		case "setid":
			return n&0o6000 != 0
		case "nothing":
			return n&0o777 == 0
		case "unusable":
			return n&0o500 != 0o500
		}
		return false
	}
	for _, part := range strings.Split(mode, ",") {
		i := strings.IndexAny(part, "+-=")
		if i < 0 {
			return false
		}
		who, op, perms := part[:i], part[i], part[i+1:]
		all := strings.Contains(who, "a")
		switch kind {
		case "others_write":
			if op != '-' && (all || strings.Contains(who, "o")) && strings.Contains(perms, "w") && !strings.Contains(perms, "t") {
				return true
			}
		case "others":
			if op != '-' && (all || strings.ContainsAny(who, "og")) && strings.ContainsAny(perms, "rw") {
				return true
			}
		case "setid":
			if op != '-' && strings.Contains(perms, "s") {
				return true
			}
		case "unusable": // the owner cannot read it or go through it
			own := who == "" || strings.ContainsAny(who, "ua")
			if own && (op == '-' && strings.ContainsAny(perms, "rxX") || op == '=' && (!strings.Contains(perms, "r") || !strings.ContainsAny(perms, "xX"))) {
				return true
			}
		case "nothing":
			if all && (op == '-' && strings.Contains(perms, "r") && strings.Contains(perms, "w") || op == '=' && perms == "") {
				return true
			}
		}
	}
	return false
}
