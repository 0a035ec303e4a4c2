package agents

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// copyAttributes gives a file the extended attributes of another, among which
// is its access control list. Those of the system (security, trusted) only where
// that is allowed.
func copyAttributes(from, to string) error {
	n, err := unix.Listxattr(from, nil)
	if err != nil || n == 0 {
		return nil //nolint:nilerr // a file system without attributes
	}
	list := make([]byte, n)
	if n, err = unix.Listxattr(from, list); err != nil {
		return err
	}
	names := strings.Split(strings.TrimRight(string(list[:n]), "\x00"), "\x00")
	// Last the access control list, which may take the right to write the others.
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	for _, name := range names {
		size, err := unix.Getxattr(from, name, nil)
		if err != nil {
			continue // gone since
		}
		value := make([]byte, size)
		if size, err = unix.Getxattr(from, name, value); err != nil {
			return err
		}
		err = unix.Setxattr(to, name, value[:size], 0)
		if err != nil && (strings.HasPrefix(name, "user.") || strings.HasPrefix(name, "system.posix_acl")) {
			return err
		}
	}
	return nil
}
