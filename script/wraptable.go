package script

import "strings"

// wrapper describes a program that runs the command given as its arguments.
type wrapper struct {
	short string // its options as for getopt: x none, x: a value, x? a value when attached
	long  string // its long options that take a separate value, each between spaces
	pos   int    // operands before the command
	flags wflag
}

type wflag uint16

const (
	assigns   wflag = 1 << iota // NAME=value before the command
	cleanEnv                    // the environment is another one
	shellLine                   // the arguments are joined to a shell line
	dashNum                     // -10 is an option
	oneDash                     // long options begin with one dash
	needDash                    // the command comes after --
	anyOpts                     // skip every option; values are attached
	ownShell                    // without a command it runs a shell
	feeds                       // standard input is not passed on as code
)

// Wrappers whose arguments follow one scheme. Sources: their manual pages
// (util-linux 2.38, coreutils 9.1, sudo 1.9.13, strace 6.1).
var (
	wSudo       = wrapper{short: "ABbC:D:Eeg:HhiKklNnPp:R:r:SsT:t:U:u:Vv", long: " --close-from --chdir --group --host --prompt --chroot --role --type --command-timeout --other-user --user ", flags: assigns | cleanEnv | ownShell}
	wDoas       = wrapper{short: "aC:Lnsu:", flags: cleanEnv | ownShell}
	wEnv        = wrapper{short: "0iu:C:S:vP:", long: " --unset --chdir --split-string ", flags: assigns}
	wTimeout    = wrapper{short: "k:s:vfp", long: " --kill-after --signal ", pos: 1}
	wNice       = wrapper{short: "n:", long: " --adjustment ", flags: dashNum}
	wIonice     = wrapper{short: "c:n:tp:P:u:hV", long: " --class --classdata --pid --pgid --uid "}
	wNone       = wrapper{short: ""}
	wSetsid     = wrapper{short: "cfwhV"}
	wStdbuf     = wrapper{short: "i:o:e:", long: " --input --output --error "}
	wTime       = wrapper{short: "apvqlhf:o:V", long: " --format --output "}
	wChrt       = wrapper{short: "abdfimoprRvhVT:P:D:", long: " --sched-runtime --sched-period --sched-deadline ", pos: 1}
	wTaskset    = wrapper{short: "acphV", pos: 1}
	wNumactl    = wrapper{short: "ai:p:P:m:w:N:C:lsSHhV", long: " --interleave --preferred --membind --cpunodebind --physcpubind --weighted-interleave "}
	wStrace     = wrapper{short: "a:b:cCdDe:E:fFhiI:kno:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ", long: " --trace --output --attach --user --string-limit --columns --env ", flags: assigns}
	wLtrace     = wrapper{short: "a:A:bcCD:e:fF:hil:L:n:o:p:rs:StTu:Vw:x:X:", long: " --output --align --config --library --indent --where "}
	wChroot     = wrapper{short: "u:g:nG:", long: " --userspec --groups ", pos: 1, flags: ownShell}
	wNsenter    = wrapper{short: "aehVm?u?i?n?p?C?U?T?S:G:r?w?W:FZt:c", long: " --target --setuid --setgid --wdns ", flags: ownShell}
	wUnshare    = wrapper{short: "hVm?u?i?n?p?U?C?T?frcw:S:G:R:", long: " --propagation --setgroups --root --wd --setuid --setgid --map-user --map-group --monotonic --boottime ", flags: ownShell}
	wSystemd    = wrapper{short: "H:M:u:p:E:dGPqrStTh", long: " --unit --property --description --slice --uid --gid --nice --working-directory --setenv --on-active --on-boot --on-startup --on-unit-active --on-unit-inactive --on-calendar --host --machine --service-type --timer-property --path-property --socket-property ", flags: cleanEnv}
	wPkexec     = wrapper{short: "", long: " --user ", flags: cleanEnv}
	wRunuser    = wrapper{short: "u:g:G:mplfPc:s:w:hV", long: " --user --group --supp-group --command --shell --whitelist-environment --session-command ", flags: cleanEnv}
	wSetpriv    = wrapper{flags: anyOpts}
	wFakeroot   = wrapper{short: "l:s:i:ub:hv", long: " --lib --faked ", flags: ownShell}
	wXvfb       = wrapper{short: "ae:f:hln:p:s:w:", long: " --error-file --auth-file --server-num --xauth-protocol --server-args --wait "}
	wDbus       = wrapper{long: " --config-file --dbus-daemon "}
	wProxy      = wrapper{short: "qf:"}
	wTini       = wrapper{short: "svwgp:e:hlV", long: " --rewrite "}
	wGosu       = wrapper{pos: 1, flags: cleanEnv}
	wCaffeine   = wrapper{short: "dimsut:w:"}
	wArch       = wrapper{short: "c e:d:36", flags: oneDash | anyOpts}
	wSetarch    = wrapper{short: "vhVRFZLXBIST3", long: " --uname-2.6 ", pos: 1}
	wSetarchNow = wrapper{short: "vhVRFZLXBIST3", long: " --uname-2.6 "}
	wCgexec     = wrapper{short: "g:h", long: " --sticky "}
	wRlwrap     = wrapper{flags: anyOpts}
	wUnbuffer   = wrapper{short: "p"}
	wDashDash   = wrapper{flags: needDash}
	wEntr       = wrapper{short: "acdnprsxz", flags: feeds}
	wRun0       = wrapper{short: "u:g:D:hV", long: " --unit --property --description --slice --user --group --nice --chdir --setenv --background --machine --shell-prompt-prefix ", flags: cleanEnv | ownShell}
	wCrossEnv   = wrapper{flags: assigns}
	wCrossShell = wrapper{flags: assigns | shellLine}
	wDotenv     = wrapper{short: "f:e:c:v:oq", long: " --file "}
	wPosOne     = wrapper{pos: 1}
	wWatch      = wrapper{short: "bcCd?egtn:pq:rs:wxh", long: " --interval --equexit --shotsdir ", flags: shellLine}
)

// wrapperOf returns how a program runs its arguments; nil when it does not, or
// in a way of its own.
func wrapperOf(name string) *wrapper {
	switch name {
	case "sudo", "sudo-rs":
		return &wSudo
	case "doas":
		return &wDoas
	case "env", "genv":
		return &wEnv
	case "timeout", "gtimeout":
		return &wTimeout
	case "nice", "gnice":
		return &wNice
	case "ionice":
		return &wIonice
	case "nohup", "gnohup", "torsocks", "torify", "tsocks", "chronic", "softlimit", "eatmydata", "rtk":
		return &wNone
	case "setsid":
		return &wSetsid
	case "stdbuf", "gstdbuf":
		return &wStdbuf
	case "time", "gtime":
		return &wTime
	case "chrt":
		return &wChrt
	case "taskset":
		return &wTaskset
	case "numactl":
		return &wNumactl
	case "strace":
		return &wStrace
	case "ltrace":
		return &wLtrace
	case "chroot":
		return &wChroot
	case "nsenter":
		return &wNsenter
	case "unshare":
		return &wUnshare
	case "systemd-run":
		return &wSystemd
	case "pkexec":
		return &wPkexec
	case "runuser":
		return &wRunuser
	case "setpriv", "prlimit":
		return &wSetpriv
	case "fakeroot", "fakechroot":
		return &wFakeroot
	case "xvfb-run":
		return &wXvfb
	case "dbus-run-session", "dbus-launch":
		return &wDbus
	case "proxychains", "proxychains4":
		return &wProxy
	case "tini", "dumb-init", "catatonit", "docker-init":
		return &wTini
	case "gosu", "su-exec", "setuidgid", "chpst", "s6-setuidgid":
		return &wGosu
	case "caffeinate":
		return &wCaffeine
	case "arch":
		return &wArch
	case "setarch":
		return &wSetarch
	case "linux32", "linux64", "i386", "x86_64", "i686":
		return &wSetarchNow
	case "cgexec":
		return &wCgexec
	case "rlwrap", "valgrind", "heaptrack", "firejail", "catchsegv", "tsp":
		return &wRlwrap
	case "unbuffer":
		return &wUnbuffer
	case "aws-vault", "op", "infisical", "chamber", "teller", "lerna", "watchexec", "onchange", "chokidar":
		return &wDashDash
	case "entr":
		return &wEntr
	case "run0":
		return &wRun0
	case "cross-env", "cross-env-shell":
		if name == "cross-env" {
			return &wCrossEnv
		}
		return &wCrossShell
	case "dotenv", "dotenvx":
		return &wDotenv
	case "faketime", "setlock", "envdir", "envchain", "runcon":
		return &wPosOne
	case "watch":
		return &wWatch
	}
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") || name == "ld.so" {
		return &wRlwrap // the loader runs the program that it is given
	}
	return nil
}
