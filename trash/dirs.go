package trash

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// homeTrash is where the home trash is or would be: $XDG_DATA_HOME/Trash,
// default ~/.local/share/Trash. Under sudo with the caller's HOME that would
// be somebody else's directory; for root it is then root's own home, for
// others there is none.
func (e Env) homeTrash() (string, error) {
	var err error
	if x := e.getenv("XDG_DATA_HOME"); filepath.IsAbs(x) {
		if err = e.ownsNearest(filepath.Clean(x), false); err == nil {
			return filepath.Join(x, "Trash"), nil
		}
	}
	if filepath.IsAbs(e.Home) {
		if err = e.ownsNearest(filepath.Clean(e.Home), true); err == nil {
			return filepath.Join(e.Home, ".local/share/Trash"), nil
		}
	} else if err == nil {
		err = errors.New("no home directory is known")
	}
	var d *distrust
	var no unix.Errno
	if e.UID == 0 && (errors.As(err, &d) || !errors.As(err, &no) || no == unix.ENOENT) {
		if u, uerr := user.LookupId("0"); uerr == nil && filepath.IsAbs(u.HomeDir) && u.HomeDir != e.Home {
			if e.ownsNearest(u.HomeDir, true) == nil {
				return filepath.Join(u.HomeDir, ".local/share/Trash"), nil
			}
		}
	}
	return "", err
}

// ownsNearest: the directory, or where it does not exist (and need not) the
// nearest one above it, belongs to the user.
func (e Env) ownsNearest(dir string, exists bool) error {
	for p := dir; ; p = filepath.Dir(p) {
		fi, err := statAt(atFDCWD, p)
		if err == nil {
			if int(fi.uid) != e.UID {
				return &distrust{p, fmt.Sprintf("it belongs to user %d, not to %d", fi.uid, e.UID), ""}
			}
			return nil
		}
		if err != unix.ENOENT || p == "/" || exists {
			return &pathError{"stat", p, err}
		}
	}
}

// nearestMount is the mount that path is on, or would be created on.
func nearestMount(path string) (uint64, error) {
	for p := path; ; p = filepath.Dir(p) {
		fi, err := statAt(atFDCWD, p)
		if err == nil {
			return fi.mnt, nil
		}
		if err != unix.ENOENT || p == "/" {
			return 0, &pathError{"stat", p, err}
		}
	}
}

// makeHome creates the home trash with what is missing above it, and opens it.
func makeHome(path string, uid int) (*store, error) {
	s, err := openStore(path, "", uid, true, false)
	if err == nil || !errors.Is(err, unix.ENOENT) {
		return s, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		var no unix.Errno
		if errors.As(err, &no) {
			return nil, &pathError{"mkdir", path, no}
		}
		return nil, err
	}
	return openStore(path, "", uid, true, false)
}

// CheckHome tells why Put could not use the home trash, with a command that mends
// it where one is known; both are empty when it can be used, or made when it is
// needed. Nothing is made.
func CheckHome(e Env) (fix string, err error) {
	path, err := e.homeTrash()
	if err != nil {
		return repair(err), err
	}
	s, err := openStore(path, "", e.UID, false, false)
	if err == nil {
		err = s.closed()
		s.close()
	}
	for up := path; errors.Is(err, unix.ENOENT); {
		up = filepath.Dir(up)
		if err = unix.Faccessat(unix.AT_FDCWD, up, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
			err = &pathError{"access", up, err}
		}
	}
	return repair(err), err
}

// topTrash opens the trash of a top directory: .Trash/$uid if an
// administrator made a proper .Trash, else .Trash-$uid. warn tells of a check
// that failed. With create, $uid or .Trash-$uid is made where missing; without,
// a missing one is ENOENT.
func topTrash(top, fstype string, uid int, create bool) (s *store, warn, err error) {
	loose := modelessFS(fstype)
	shared := filepath.Join(top, ".Trash")
	id := strconv.Itoa(uid)
	if fi, err := lstatAt(atFDCWD, shared); err == nil {
		switch {
		case !fi.isDir():
			warn = &distrust{shared, "it is not a directory (a symbolic link is not followed)", ""}
		case fi.mode&unix.S_ISVTX == 0:
			warn = &distrust{shared, "it has no sticky bit", "sudo chmod 1777 " + Quote(shared, false)}
		default:
			s, err := openTop(filepath.Join(shared, id), top, uid, create, loose)
			if err == nil {
				return s, nil, nil
			}
			var d *distrust
			if errors.As(err, &d) {
				warn = err
			}
		}
	}
	s, err = openTop(filepath.Join(top, ".Trash-"+id), top, uid, create, loose)
	return s, warn, err
}

func openTop(path, top string, uid int, create, loose bool) (*store, error) {
	s, err := openStore(path, top, uid, create, loose)
	if err == nil || !create || !errors.Is(err, unix.ENOENT) {
		return s, err
	}
	if err := again(func() error { return unix.Mkdir(path, 0o700) }); err != nil && err != unix.EEXIST {
		return nil, &pathError{"mkdir", path, err}
	}
	if s, err = openStore(path, top, uid, create, loose); err != nil {
		return nil, err
	}
	// The top directory may be the root of somebody's work tree (a bind mount
	// in a container): keep "git add -A" off the trash.
	if fd, err := openAt(s.fd, ".gitignore", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600); err == nil {
		_, _ = unix.Write(fd, []byte("*\n"))
		unix.Close(fd)
	}
	return s, nil
}

// stores opens all trash directories of the user that exist: the home trash
// and those of all mounted filesystems, each once even if it can be reached
// through several mounts. Errors tell of those that are not used and why.
func (e Env) stores() (ss []*store, errs []error) {
	seen := map[devIno]bool{}
	add := func(s *store) {
		if seen[s.id] {
			s.close()
			return
		}
		seen[s.id] = true
		ss = append(ss, s)
	}
	if h, err := e.homeTrash(); err != nil {
		errs = append(errs, err)
	} else if e.Only != "" && e.Only != h {
		// not asked for
	} else if s, err := openStore(h, "", e.UID, false, false); err == nil {
		add(s)
	} else if !errors.Is(err, unix.ENOENT) {
		errs = append(errs, err)
	}
	ms, err := readMounts(e.mountInfo())
	if err != nil {
		errs = append(errs, fmt.Errorf("cannot tell which filesystems are mounted: %w", err))
	}
	for _, m := range ms {
		if pseudoFS(m.fstype) || uidlessFS(m.fstype) {
			continue
		}
		loose := modelessFS(m.fstype)
		id := strconv.Itoa(e.UID)
		shared, own := filepath.Join(m.point, ".Trash"), filepath.Join(m.point, ".Trash-"+id)
		if e.Only != "" && e.Only != filepath.Join(shared, id) && e.Only != own {
			continue
		}
		if fi, err := lstatAt(atFDCWD, shared); err == nil {
			path := filepath.Join(shared, id)
			s, err := openStore(path, m.point, e.UID, false, loose)
			switch {
			case err == nil && e.Only == own:
				s.close()
			case err == nil && fi.isDir() && fi.mode&unix.S_ISVTX != 0:
				add(s)
			case err == nil:
				s.close()
				errs = append(errs, &distrust{shared, "it is not a directory with the sticky bit", ""})
			case isThere(path, err):
				errs = append(errs, err)
			}
		}
		s, err := openStore(own, m.point, e.UID, false, loose)
		switch {
		case err == nil && e.Only != "" && e.Only != own:
			s.close()
		case err == nil:
			add(s)
		case isThere(own, err):
			errs = append(errs, err)
		}
	}
	// A sandbox or a container can make a work tree a mount of its own, with its
	// trash in it, which nothing in the mount table leads to from outside: so
	// look from the working directory upwards too. Who gives a mount table of his
	// own has no other.
	for d := e.dir(); filepath.IsAbs(d) && d != "/" && e.MountInfo == ""; d = filepath.Dir(d) {
		own := filepath.Join(d, ".Trash-"+strconv.Itoa(e.UID))
		if e.Only != "" && e.Only != own {
			continue
		}
		if s, err := openStore(own, d, e.UID, false, false); err == nil {
			add(s)
		}
	}
	return ss, errs
}

// isThere: the trash that could not be opened may have something in it, and does
// not just lie on a mount that is none of the user's business.
func isThere(path string, err error) bool {
	if errors.Is(err, unix.EACCES) {
		_, lerr := lstatAt(atFDCWD, path)
		return lerr == nil
	}
	return !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR)
}

// CheckOnly reports why Env.Only is no trash directory that could be looked at.
func (e Env) CheckOnly() error {
	if e.Only == "" {
		return nil
	}
	ss, errs := e.stores()
	defer func() { closeAll(ss) }()
	if len(ss) == 0 {
		only := e.Only
		e.Only = ""
		ss, _ = e.stores()
		have := "there is none yet"
		for i, s := range ss {
			if i == 0 {
				have = "those are " + Show(s.path)
			} else {
				have += ", " + Show(s.path)
			}
		}
		return errors.Join(append(errs, fmt.Errorf("%s is none of your trash directories; %s", Show(only), have))...)
	}
	return nil
}

func closeAll(ss []*store) {
	for _, s := range ss {
		s.close()
	}
}

// lockName is the file in a trash that purge and restore lock where the
// directory itself cannot be locked.
const lockName = ".safeshell.lock"

// lockWait is how long another purge or restore is waited for.
const lockWait = 30 * time.Second

// lock keeps other restores and purges (and, unless shared, copying puts) away
// from the trash until the returned function is called. It is the directory that
// is locked, which works where there is no room for a file.
func (s *store) lock(shared bool) (unlock func(), err error) {
	how := unix.LOCK_EX | unix.LOCK_NB
	if shared {
		how = unix.LOCK_SH | unix.LOCK_NB
	}
	fd, err := openAt(s.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err == nil {
		err = flockUntil(fd, how, time.Now().Add(lockWait))
	}
	if err == unix.EBADF || err == unix.EINVAL || err == unix.ENOTSUP || err == unix.ENOSYS { // NFS wants a file open for writing
		unix.Close(fd)
		if fd, err = openAt(s.fd, lockName, unix.O_CREAT|unix.O_RDWR|unix.O_NOFOLLOW, 0o600); err == nil {
			err = flockUntil(fd, how, time.Now().Add(lockWait))
		}
	}
	if err == nil {
		return func() { unix.Close(fd) }, nil
	}
	if fd >= 0 {
		unix.Close(fd)
	}
	if err == unix.EWOULDBLOCK {
		return nil, fmt.Errorf("the trash %s is in use by another restore or purge; try again when that has ended", Show(s.path))
	}
	return nil, fmt.Errorf("cannot lock the trash %s: %w", Show(s.path), err)
}

// flockUntil tries again until the time has come.
func flockUntil(fd, how int, end time.Time) error {
	for {
		err := again(func() error { return unix.Flock(fd, how) })
		if err != unix.EWOULDBLOCK || time.Now().After(end) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
