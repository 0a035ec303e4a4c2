package eval

import "safeshell/script"

// isParseError says that an Unknown is about text that is no valid shell.
func isParseError(u script.Unknown) bool { return false }

// runsCode evaluates the key code.
func (v *view) runsCode(kinds []string, note func(string, ...any)) bool { return false }
