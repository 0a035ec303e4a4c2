package script

import (
	"strings"
)

// inert reports whether a program is known to run nothing that is given in its
// arguments, so that an argv needs no further look.
func inert(name string) bool {
	return knownProgram(name) && !carries(name) && launcherOf(name) == nil && shellDialect(name) == "" && interpreterOf(name) == ""
}

// knownProgram reports whether the arguments of a program are known to be data
// (or are looked into by name). The arguments of any other program may be a
// command.
func knownProgram(name string) bool {
	switch name {
	// coreutils and the like
	case "[", "arch", "b2sum", "base32", "base64", "basename", "basenc", "cat", "chcon", "chgrp", "chmod", "chown",
		"cksum", "comm", "cp", "csplit", "cut", "date", "dd", "df", "dir", "dircolors", "dirname", "du", "echo", "expand",
		"expr", "factor", "false", "fmt", "fold", "groups", "head", "hostid", "hostname", "id", "install", "join", "kill",
		"link", "ln", "logname", "ls", "md5sum", "mkdir", "mkfifo", "mknod", "mktemp", "mv", "nl", "nproc", "numfmt", "od",
		"paste", "pathchk", "pinky", "pr", "printenv", "printf", "ptx", "pwd", "readlink", "realpath", "rm", "rmdir",
		"runcon", "seq", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shred", "shuf", "sleep", "sort",
		"split", "stat", "stty", "sum", "sync", "tac", "tail", "tee", "test", "touch", "tr", "true", "truncate", "tsort",
		"tty", "uname", "unexpand", "uniq", "unlink", "uptime", "users", "vdir", "wc", "who", "whoami", "yes", "grm", "gcp",
		"gmv", "gls", "gsed", "ggrep", "gdate", "greadlink", "gstat", "gdu", "ghead", "gtail", "gsort":
		return true
	// text and files
	case "grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep", "rg", "ag", "ack", "ugrep", "sed", "less", "more", "most", "bat", "batcat", "diff",
		"cmp", "diff3", "sdiff", "colordiff", "delta", "patch", "file", "strings", "hexdump", "xxd", "hd", "iconv", "column",
		"look", "rev", "jq", "yq", "gojq", "xq", "fx", "jo", "tree", "exa", "eza", "lsd", "locate", "plocate", "updatedb", "which", "whereis", "type", "command",
		"whatis", "apropos", "man", "info", "tldr", "help", "cal", "bc", "dc", "units", "figlet", "cowsay", "fzf", "sk", "peco", "gum",
		"gzip", "gunzip", "zcat", "bzip2", "bunzip2", "bzcat", "xz", "unxz", "xzcat", "zstd", "unzstd", "zstdcat", "lz4", "zip",
		"unzip", "zipinfo", "7z", "7za", "7zz", "rar", "unrar", "ar", "cpio", "lsof", "fuser", "dos2unix", "unix2dos", "pandoc",
		"cloc", "tokei", "scc", "wdiff", "vim-cmp", "hyperlink", "trash", "trash-put", "trash-list", "trash-restore", "trash-empty", "trash-rm", "gio", "gtrash", "rip", "del":
		return true
	// system
	case "ps", "pgrep", "pkill", "killall", "top", "htop", "btop", "free", "vmstat", "iostat", "lsblk", "blkid", "findmnt", "mount",
		"umount", "lscpu", "lsmem", "lspci", "lsusb", "dmesg", "journalctl", "systemctl", "service", "loginctl", "hostnamectl",
		"timedatectl", "localectl", "sysctl", "ip", "ifconfig", "route", "netstat", "ss", "ping", "traceroute", "mtr", "dig",
		"nslookup", "host", "whois", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "sftp", "curl", "wget", "aria2c", "http", "https",
		"xh", "httpie", "crontab", "useradd", "userdel", "usermod", "groupadd", "groupdel", "passwd", "chpasswd", "chsh", "chage", "visudo",
		"iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "getent", "getfacl", "setfacl", "getcap", "setcap", "lsattr", "chattr", "modprobe",
		"lsmod", "insmod", "rmmod", "reboot", "shutdown", "halt", "poweroff", "init", "telinit", "swapon", "swapoff", "mkswap", "fdisk", "sfdisk", "parted", "gdisk",
		"sgdisk", "wipefs", "blkdiscard", "mkfs", "mke2fs", "e2fsck", "fsck", "tune2fs", "resize2fs", "losetup", "cryptsetup", "lvremove", "vgremove", "pvremove",
		"mdadm", "zfs", "zpool", "btrfs", "diskutil", "hdiutil", "open", "xdg-open", "pbcopy", "pbpaste", "xclip", "xsel", "wl-copy", "wl-paste", "notify-send",
		"defaults", "launchctl", "sw_vers", "scutil", "tput", "clear", "reset", "locale", "ulimit", "w", "last", "lastlog", "logger", "mail", "sendmail", "mesg", "wall", "write":
		return true
	// development
	case "git", "hub", "gh", "glab", "tig", "svn", "hg", "bzr", "fossil", "jj", "dvc", "git-lfs", "gitk", "pre-commit", "gcc", "g++", "cc", "c++", "clang", "clang++",
		"clang-format", "clang-tidy", "ld", "as", "objdump", "nm", "readelf", "strip", "size", "ldd", "ldconfig", "gdb", "lldb", "make", "gmake", "ninja", "cmake",
		"ctest", "meson", "bazel", "bazelisk", "buck", "buck2", "scons", "just", "task", "rake", "ant", "mvn", "mvnw", "gradle", "gradlew", "sbt", "lein", "go",
		"gofmt", "goimports", "golangci-lint", "staticcheck", "gopls", "dlv", "cargo", "rustc", "rustfmt", "rustup", "clippy-driver", "npm", "yarn", "pnpm", "npx", "pnpx", "bunx",
		"bower", "lerna", "nx", "turbo", "rush", "tsc", "eslint", "prettier", "biome", "jest", "vitest", "mocha", "playwright", "cypress", "webpack", "vite", "rollup", "esbuild",
		"next", "nuxt", "ng", "vue", "svelte-kit", "astro", "pip", "pip3", "pipx", "pipenv", "poetry", "pdm", "hatch", "rye", "uv", "uvx", "conda", "mamba", "micromamba", "virtualenv",
		"pytest", "tox", "nox", "mypy", "ruff", "black", "isort", "flake8", "pylint", "pyright", "bandit", "coverage", "sphinx-build", "mkdocs", "jupyter", "gem", "bundle",
		"bundler", "rails", "rspec", "rubocop", "composer", "phpunit", "phpstan", "artisan", "mix", "rebar3", "stack", "cabal", "ghc", "opam", "dune", "dotnet", "nuget", "msbuild", "swift",
		"xcodebuild", "xcrun", "pod", "fastlane", "flutter", "dart", "zig", "nim", "crystal", "javac", "jar", "kotlinc", "scalac", "protoc", "buf", "sqlite3", "psql", "mysql", "mariadb",
		"pg_dump", "pg_restore", "mysqldump", "mongosh", "mongo", "redis-cli", "influx", "dropdb", "createdb", "shellcheck", "shfmt", "hadolint", "yamllint", "actionlint", "act", "asdf", "mise",
		"rbenv", "pyenv", "nodenv", "nvm", "fnm", "volta", "sdk", "direnv", "nix", "nix-env", "nix-build", "nix-shell", "nix-store", "nix-collect-garbage", "guix", "devbox", "devenv", "code", "cursor",
		"vim", "vi", "nvim", "nano", "emacs", "emacsclient", "ed", "ex", "pico", "micro", "hx", "subl", "strace", "ltrace", "perf", "ab", "wrk", "hey", "k6", "ansible", "ansible-playbook", "ansible-vault",
		"ffmpeg", "ffprobe", "convert", "magick", "identify", "exiftool", "gpg", "gpg2", "age", "openssl", "ssh-keygen", "ssh-add", "ssh-agent", "ssh-copy-id", "scp", "rsync", "rclone", "restic", "borg",
		"claude", "codex", "gemini", "aider", "cursor-agent", "safeshell", "safeshell-wrapper", "dcg", "sfm":
		return true
	// packages, clouds, containers
	case "apt", "apt-get", "apt-cache", "apt-mark", "dpkg", "dpkg-query", "aptitude", "yum", "dnf", "rpm", "zypper", "pacman", "yay", "paru", "apk", "brew", "port", "snap", "flatpak", "emerge", "xbps-install", "pkg", "choco", "scoop", "winget",
		"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah", "skopeo", "crictl", "ctr", "kubectl", "oc", "k9s", "helm", "helmfile", "kustomize", "minikube", "kind", "k3d", "k3s", "istioctl", "argocd", "flux", "tilt", "skaffold",
		"terraform", "tofu", "terragrunt", "pulumi", "packer", "vagrant", "vault", "consul", "nomad", "aws", "aws_completer", "sam", "cdk", "eksctl", "gcloud", "gsutil", "bq", "az", "azd", "func", "doctl", "linode-cli", "hcloud", "flyctl", "fly", "heroku", "vercel", "netlify", "wrangler", "firebase", "supabase", "railway", "render", "s3cmd", "mc", "oci", "ibmcloud", "ngrok", "cloudflared", "lxc", "lxd", "incus", "virsh", "qemu-img", "multipass", "limactl", "colima":
		return true
	}
	return carries(name) || strings.HasPrefix(name, "git-") || strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "fsck.")
}

// firstOperand is the first of the words that is no option.
func firstOperand(args []Word) string {
	for _, w := range args {
		if t, ok := w.Text(); ok && !strings.HasPrefix(t, "-") {
			return t
		}
	}
	return ""
}

// destructive reports whether a word names a program that commonly destroys,
// followed by arguments that fit it.
func destructive(name, first string, args []Word) bool {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "grm":
		return len(args) > 0
	case "dd":
		return strings.Contains(first, "=")
	case "wipefs", "blkdiscard", "fdisk", "sfdisk", "parted", "sgdisk", "mkswap", "mke2fs":
		return len(args) > 0
	case "truncate":
		return len(args) > 1
	case "chmod", "chown", "chgrp":
		return len(args) > 1
	case "git":
		switch first {
		case "push", "reset", "clean", "checkout", "restore", "switch", "rebase", "stash", "branch", "tag", "reflog", "gc", "update-ref", "filter-branch", "worktree", "rm", "commit":
			return true
		}
	case "find":
		for _, w := range args {
			if t, _ := w.Text(); t == "-delete" || strings.HasPrefix(t, "-exec") || t == "-ok" {
				return true
			}
		}
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
		for _, w := range args {
			if t, _ := w.Text(); len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.Contains(t, "c") {
				return true
			}
		}
	case "safeshell":
		switch first {
		case "approve", "deny", "watch", "trust", "untrust", "permit", "grants", "agents", "init", "trash":
			return true
		}
	case "sudo", "doas", "xargs", "eval":
		return len(args) > 0
	}
	return strings.HasPrefix(name, "mkfs.") || name == "mkfs" && len(args) > 0
}

// dirOption applies the directory options of git, make and ninja; ok is false
// when there is none.
func dirOption(name string, argv []Word, dir Word) (Word, bool) {
	switch name {
	case "git":
	case "make", "gmake", "ninja", "colormake":
		return makeDir(argv, dir)
	default:
		return dir, false
	}
	changed := false
	for i := 1; i < len(argv); i++ {
		t, ok := argv[i].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			break
		}
		switch t {
		case "-C":
			if i+1 < len(argv) {
				if to, known := argv[i+1].Text(); !known || to != "" {
					dir, changed = under(dir, argv[i+1]), true
				}
			}
			i++
		case "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env", "--attr-source", "--list-cmds":
			i++
		}
	}
	return dir, changed
}

func makeDir(argv []Word, dir Word) (Word, bool) {
	changed := false
	for i := 1; i < len(argv); i++ {
		p := argv[i].Parts
		if len(p) == 0 || p[0].Kind != Literal {
			continue
		}
		t := p[0].Text
		switch {
		case t == "-C" || t == "--directory":
			if i+1 < len(argv) {
				dir, changed = under(dir, argv[i+1]), true
			}
			i++
		case strings.HasPrefix(t, "--directory="):
			dir, changed = under(dir, trimWord(argv[i], len("--directory="))), true
		case strings.HasPrefix(t, "-C"):
			dir, changed = under(dir, trimWord(argv[i], 2)), true
		}
	}
	return dir, changed
}

// trimWord removes the first n bytes, which are literal.
func trimWord(w Word, n int) Word {
	out := Word{Span: w.Span, Parts: append([]Part{{Text: w.Parts[0].Text[n:]}}, w.Parts[1:]...)}
	if out.Parts[0].Text == "" {
		out.Parts = out.Parts[1:]
	}
	return out
}
