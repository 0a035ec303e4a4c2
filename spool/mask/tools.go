package mask

import (
	"path"
	"strings"
	"sync"
)

// tool is how a program takes a secret, where the name of an option (--password,
// --api-key) does not say it itself. need lists what must be there besides, with
// | between alternatives: words in this order near the program's name, behind
// which operands count, and options. takes lists where the secret is:
//
//	-p       in the option's value, attached or in the next word
//	-p@~     only attached; -p@! only in the next word
//	-u@:     after the : of its value (user:password); the same for @% and @,
//	-d@=     after the = of its value; @=? if the name before it says so
//	-x@:@    between the : and the last @ (user:password@host)
//	-H@h     after the name of a header field that says so
//	--arg@n  in the word behind its value, a name that says so
//	-b@;     after each = of its value (cookies)
//	-i@pass: after that text in its value
//	-e@+     in the next two words; @2 in the second of them
//	#2 #2+   in the second operand; in all from the second on; #$ in the last
//	=        in operands, after the =; =? if the name before it says so
//	name     in the operand behind one that is a name that says so
//	slash    in an operand user/password@where
//	format   in the operand behind a format NAME=%s
//	sent     in what expect's send types
//	user     in an operand user:password@host
//	< <:     in standard input; in lines of it, after the :
//	<?       in standard input, if an operand is a name that says so
//
// The name * is any program's.
type tool struct{ names, need, takes string }

var tools = [...]tool{
	{"docker podman nerdctl buildah skopeo oras crane regctl finch helm", "login", "<"},
	{"skopeo buildah podman", "", "--creds@: --src-creds@: --dest-creds@:"},
	{"docker podman nerdctl", "secret create", "<"},
	{"kubectl oc microk8s k3s", "create secret", "--from-literal@= <"},
	{"argocd rancher", "login", "-t"},
	{"redis-cli valkey-cli keydb-cli iredis", "", "-a requirepass masterauth"},
	{"redis-cli valkey-cli keydb-cli iredis", "auth|AUTH", "#1+"},
	{"http https xh xhs", "", "-a@: --auth@:"},
	{"curl", "", "-u@: -U@: --user@: --proxy-user@: -x@:@ --proxy@:@ --proxy-header@h -b@; --cookie@; -E@: --pass"},
	{"ab siege hey wrk", "", "-A@: -P@:"},
	{"*", "", "-H@h --header@h"},
	{"*", "login -u|login --username", "-p"},
	{"docker podman nerdctl buildah skopeo oras crane regctl helm oc az acli", "login", "-p"},
	{"gh glab", "variable set", "-b --body"},
	{"gh glab", "secret set", "-b --body <"},
	{"gh glab", "auth login", "-t <"},
	{"glab", "variable set", "-v --value #2"},
	{"npm pnpm yarn bun pip", "config set", "name =?"},
	{"npm pnpm", "set", "name =?"},
	{"npm", "login|adduser", "<"},
	{"git", "config", "name"},
	{"poetry composer", "config", "name pypi-token.pypi github-oauth.github.com gitlab-token.gitlab.com http-basic.@2"},
	{"poetry", "config", "pypi-token.@1"},
	{"poetry twine uv", "publish|upload", "-p -t"},
	{"bundle", "config", "name #$:"},
	{"cargo", "login", "#$ <"},
	{"dotnet", "user-secrets set", "#2"},
	{"dotnet nuget", "push", "-k -ApiKey"},
	{"nuget", "setapikey|setApiKey", "#1"},
	{"nuget dotnet", "add source|sources add|update source", "-p -Password"},
	{"composer pulumi aws gcloud", "configure set|config set", "name"},
	{"aws", "ssm put-parameter", "--value"},
	{"az", "sql|mysql|postgres|vm|webapp", "-p"},
	{"gcloud", "auth activate-refresh-token", "#2"},
	{"az", "keyvault secret", "--value"},
	{"gcloud", "secrets", "<"},
	{"vault bao", "login", "#1 =? <"},
	{"vault bao", "kv put|kv patch|write", "= <"},
	{"vault bao", "unwrap|operator unseal", "#1"},
	{"consul", "kv put", "#2"},
	{"etcdctl", "", "--user@:"},
	{"heroku", "config:set|config:add", "="},
	{"fly flyctl infisical supabase", "secrets set", "="},
	{"fly flyctl", "secrets import", "<"},
	{"wrangler", "", "--var@p"},
	{"wrangler", "secret put|secret bulk|secret:put", "<"},
	{"vercel", "env add", "<"},
	{"vercel now codecov", "", "-t"},
	{"netlify ntl", "env:set", "#2"},
	{"railway", "variables|variable", "--set@="},
	{"doppler", "secrets set", "= #2 <"},
	{"dotenvx convex", "set", "#2"},
	{"pulumi", "config set --secret", "#2 <"},
	{"terraform tofu terragrunt packer", "", "-var@=? --var@=?"},
	{"ansible ansible-playbook", "", "-e@=? --extra-vars@=?"},
	{"ansible-vault", "encrypt_string", "#1 <"},
	{"supabase", "link|db", "-p"},
	{"eas", "secret:create|env:create", "--value"},
	{"firebase", "functions:config:set", "="},
	{"firebase", "functions:secrets:set", "<"},
	{"zip unzip zipcloak", "", "-P"},
	{"7z 7za 7zr 7zz rar unrar", "", "-p@~ -hp@~"},
	{"openssl", "", "-passin@pass: -passout@pass: -pass@pass: -k@! -K@! -hmac -psk -macopt@key:"},
	{"openssl", "-pass|-passin|-passout", "<"},
	{"openssl", "passwd", "#$ <"},
	{"htpasswd", "-b", "#$"},
	{"htpasswd", "-i", "<"},
	{"smbclient rpcclient smbcacls smbget smbtree net winexe wmic", "", "-U@% --user@%"},
	{"smbmap crackmapexec nxc netexec evil-winrm", "", "-p"},
	{"mount mount.cifs sshfs", "", "-o@password= -o@pass="},
	{"mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlsh mysqlpump mariadb mariadb-dump mariadb-admin mariadb-import mycli", "", "-p@~"},
	{"mysqladmin mariadb-admin", "password", "#1"},
	{"mongosh mongo mongodump mongorestore mongoimport mongoexport mongostat mongotop cqlsh arangosh cbq couchbase-cli", "", "-p"},
	{"influx", "", "-t"},
	{"sqlcmd bcp osql isql tsql", "", "-P"},
	{"sqlplus rman sqlldr expdp impdp", "", "slash"},
	{"ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami ldapcompare ldapmodrdn ldapexop", "", "-w"},
	{"ldappasswd slappasswd", "", "-s -a"},
	{"sshpass ssh-keygen", "", "-p -N -P"},
	{"sudo", "-S|--stdin", "<"},
	{"systemd-creds", "encrypt", "<"},
	{"realm", "join|leave", "<"},
	{"redis-cli valkey-cli", "--askpass", "<"},
	{"redis-cli valkey-cli", "acl setuser|ACL SETUSER", ">@~"},
	{"lpass", "login", "<"},
	{"elasticsearch-reset-password", "", "<"},
	{"hcloud", "context create", "<"},
	{"snapcraft", "login", "<"},
	{"read", "", "<?"},
	{"printf", "", "format"},
	{"send exp_send", "", "sent"},
	{"jq yq gojq jaq", "", "--arg@n --argjson@n"},
	{"cf", "auth", "#2"},
	{"cf travis dvc", "set-env|env set|remote modify", "name"},
	{"drone", "secret add|secret update", "--data"},
	{"drush salt", "user:password|user-password|shadow.set_password", "#2"},
	{"neo4j-admin grafana-cli grafana dbms", "set-initial-password|reset-admin-password", "#1"},
	{"grafana", "cli admin reset-admin-password", "#1"},
	{"consul", "acl set-agent-token", "#2"},
	{"ipmitool", "set password", "#2"},
	{"virsh", "secret-set-value", "#2 --base64"},
	{"cypher-shell racadm hydra rabbitmqadmin youtube-dl yt-dlp gallery-dl altool", "", "-p"},
	{"xcrun", "altool|notarytool", "-p"},
	{"signtool", "", "/p"},
	{"sendemail sendEmail", "", "-xp"},
	{"mosquitto_passwd", "-b", "#$"},
	{"doctl", "", "-t"},
	{"jenkins-cli java", "", "-auth@:"},
	{"sonar-scanner mvn sbt gradle", "", "-Dsonar.login"},
	{"govc", "", "-u@:@"},
	{"impacket-psexec impacket-smbexec impacket-wmiexec impacket-secretsdump psexec.py wmiexec.py secretsdump.py ssh sftp", "", "user"},
	{"wpa_cli", "set_network", "name"},
	{"net", "use", "#3"},
	{"pdftotext pdftoppm pdfinfo pdfimages", "", "-upw -opw"},
	{"lftp open", "", "-u@,"},
	{"su doas passwd smbpasswd vncpasswd kinit kpasswd cryptsetup ksu saslpasswd2 systemd-ask-password keepassxc-cli pwhash", "", "<"},
	{"chpasswd newusers", "", "<:"},
	{"useradd usermod adduser", "", "-p"},
	{"mkpasswd", "", "#$ <"},
	{"wpa_passphrase", "", "#2 <"},
	{"nmcli iwctl", "", "password passphrase name"},
	{"keytool jarsigner", "", "-srcstorepass -deststorepass -srckeypass -destkeypass"},
	{"qpdf", "", "--encrypt@+"},
	{"pdftk", "", "user_pw owner_pw input_pw"},
	{"ncftpput ncftpget ncftp", "", "-p"},
	{"mosquitto_pub mosquitto_sub ipmitool", "", "-P"},
	{"snmpwalk snmpget snmpset snmpbulkwalk snmpgetnext snmptable snmpbulkget snmptrap snmpdf snmptranslate snmpstatus", "", "-A -X -c"},
	{"plink pscp psftp putty", "", "-pw"},
	{"xfreerdp wlfreerdp", "", "/p:@~"},
	{"rdesktop", "", "-p"},
	{"rabbitmqctl", "add_user|change_password|authenticate_user", "#2"},
	{"ngrok", "authtoken|add-authtoken", "#1"},
	{"cloudflared", "service install", "#1"},
	{"snyk", "auth", "#1"},
	{"wandb", "login", "#1"},
	{"llm", "keys set", "--value <"},
	{"op", "item create|item edit", "=?"},
	{"op", "signin", "<"},
	{"bw", "unlock", "#1 <"},
	{"bw", "login", "#2"},
	{"pass gopass", "insert", "<"},
	{"secret-tool", "store", "<"},
	{"keyctl", "padd", "<"},
	{"keyctl", "add", "#3"},
	{"security", "add-generic-password|add-internet-password|import", "-w -P"},
	{"security", "unlock-keychain|create-keychain", "-p"},
	{"security", "set-key-partition-list", "-k"},
	{"mc mcli", "alias set|host add", "#3 #4"},
	{"rclone", "obscure", "#1 <"},
	{"rclone", "config", "name =?"},
	{"steamcmd", "", "+login@2"},
	{"swaks", "", "-ap -xp"},
	{"set setenv setx", "", "name"},
	{"launchctl", "setenv", "name"},
}

// readsSecret are options of any program that says with them what it reads.
var readsSecret = [...]string{"--password-stdin", "--with-token", "--passphrase-fd", "--token-stdin", "--passphrase-stdin", "--password-fd", "--pwstdin", "--api-key-stdin", "--stdin-password", "--pass-stdin", "--secret-stdin"}

// maxWithin bounds how many programs that run others are looked through.
const maxWithin = 8

// judge calls hit for each secret in the command's words, and tells what the
// command reads from its standard input.
func (c *command) judge(hit func(i, from, to int)) (stdin want) {
	i := position(c.words)
	for range maxWithin {
		if i >= len(c.words) {
			break
		}
		name := baseName(c.words[i].val)
		if name != "" {
			known := mayBeTool(name)
			for j := range tools {
				if t := &tools[j]; t.names == "*" || known && hasWord(t.names, name) {
					stdin = max(stdin, t.apply(c.words[i+1:], func(k, from, to int) { hit(i+1+k, from, to) }))
				}
			}
		}
		next := c.within(i, name)
		if next <= i {
			break
		}
		i = next
	}
	for _, w := range c.words {
		if len(w.val) < 10 || w.val[0] != '-' {
			continue
		}
		for _, o := range readsSecret {
			if strings.HasPrefix(w.val, o) {
				stdin = max(stdin, wantPassword)
			}
		}
	}
	return stdin
}

// within is where the next program may stand that the one at i runs; 0 if it
// runs none.
func (c *command) within(i int, name string) int {
	values := ""
	switch name {
	case "sudo":
		values = "ugphCrtTUDR"
	case "doas", "runuser":
		values = "uC"
	case "env":
		values = "uCS"
	case "xargs":
		values = "nIPLdaEs"
	case "timeout", "gtimeout":
		values = "ks"
	case "nice", "ionice", "chrt", "watch":
		values = "nc"
	case "exec", "time", "command", "builtin", "nohup", "setsid", "stdbuf", "busybox", "npx", "bunx", "pnpx", "uvx", "exec-env", "eval", "winpty", "torsocks", "proxychains", "unbuffer", "caffeinate", "strace", "ltrace":
		values = "ao"
	case "docker", "podman", "nerdctl", "kubectl", "oc", "ssh", "ProxyCommand", "find", "fd", "parallel", "nsenter", "chroot", "lxc", "docker-compose", "compose", "vagrant", "wsl", "direnv", "aws-vault", "op", "doppler", "dotenv", "poetry", "uv", "pipx", "bundle", "mise", "flock", "su", "screen", "tmux", "script", "systemd-run":
		// Its own words come first; the next one that is a program's name counts.
		for j := i + 1; j < len(c.words); j++ {
			if n := baseName(c.words[j].val); n != "" && n != name && isTool(n) {
				return j
			}
		}
		return 0
	default:
		return 0
	}
	j := i + 1
	for j < len(c.words) {
		v := c.words[j].val
		switch {
		case v == "":
			return 0
		case v[0] == '-':
			if len(v) == 2 && strings.IndexByte(values, v[1]) >= 0 {
				j++
			}
		case strings.IndexByte(v, '=') > 0, v[0] >= '0' && v[0] <= '9' && v != "7z" && v != "7za" && v != "7zz" && v != "7zr":
		default:
			return j
		}
		j++
	}
	return 0
}

// toolBits has a bit for each tool's name, by its hash: a long text has thousands
// of names that are none, and each would be looked for in all of the table.
var toolBits = sync.OnceValue(func() *[1 << 12]bool {
	var bits [1 << 12]bool
	for i := range tools {
		for n := range strings.SplitSeq(tools[i].names, " ") {
			bits[hash(n)] = true
		}
	}
	return &bits
})

func mayBeTool(name string) bool { return name != "" && toolBits()[hash(name)] }

// hash is FNV-1a, folded to 12 bits.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return (h ^ h>>12 ^ h>>24) & (1<<12 - 1)
}

func isTool(name string) bool {
	if !mayBeTool(name) {
		return false
	}
	for i := range tools {
		if hasWord(tools[i].names, name) {
			return true
		}
	}
	return false
}

// position is where the program of a command stands: behind assignments and
// words of the shell.
func position(words []word) int {
	times := 0
	for times < len(words) && times < 5 && words[times].val != "" && strings.Trim(words[times].val, "0123456789*/,-") == "" {
		times++
	}
	if times == 5 { // a line of crontab
		return 5 + position(words[5:])
	}
	for i, w := range words {
		switch w.val {
		case "{", "(", "}", "!", "if", "then", "else", "elif", "while", "until", "do", "<", ">":
			continue
		}
		if eq := strings.IndexByte(w.val, '='); eq > 0 && runEnd(w.val, 0) == eq {
			continue
		}
		return i
	}
	return len(words)
}

// baseName is what may be a program's name in a word.
func baseName(v string) string {
	v = strings.Trim(v, `\"'`)
	if v == "" || len(v) > 200 || v[0] == '-' {
		return ""
	}
	if strings.IndexByte(v, '/') >= 0 {
		v = path.Base(v)
	}
	return v
}

// hasWord reports whether list, words with a space between them, has this one.
func hasWord(list, w string) bool {
	for {
		i := strings.Index(list, w)
		if i < 0 {
			return false
		}
		if end := i + len(w); (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		list = list[i+1:]
	}
}

// near is how many operands may stand before the words that a tool needs.
const near = 2

// apply looks for secrets in the words behind the program's name.
func (t *tool) apply(words []word, hit func(i, from, to int)) (stdin want) {
	base, ok := 0, t.need == ""
	for need := range strings.SplitSeq(t.need, "|") {
		if ok {
			break
		}
		base, ok = needs(words, need)
	}
	if !ok {
		return wantNothing
	}
	a := args{words: words, base: base, hit: hit}
	for take := range strings.SplitSeq(t.takes, " ") {
		switch {
		case take == "<":
			stdin = max(stdin, wantPassword)
		case take == "<:":
			stdin = wantUserPass
		case take == "<?":
			for _, w := range words {
				if isOperand(w) && nameWants(w.val) != wantNothing {
					stdin = max(stdin, wantPassword)
				}
			}
		case take == "format":
			if len(words) > 1 {
				name, _, ok := strings.Cut(words[0].val, "=%s")
				if n := strings.LastIndexByte(name, '\n'); ok && nameWants(name[n+1:]) != wantNothing {
					a.whole(1)
				}
			}
		case take == "sent":
			a.sent()
		case take == "user":
			for i, w := range words {
				if isOperand(w) {
					a.value(i, 0, ":@")
				}
			}
		case take[0] == '#':
			a.operand(take[1:])
		case take[0] == '=':
			a.pairs(take == "=?")
		case take == "name":
			a.named()
		case take == "slash":
			a.slash()
		default:
			opt, kind, _ := strings.Cut(take, "@")
			a.option(opt, kind)
		}
	}
	return stdin
}

// needs reports whether the words of need are there, and behind which word
// operands count.
func needs(words []word, need string) (base int, ok bool) {
	skipped := 0
	for n := range strings.SplitSeq(need, " ") {
		found := false
		if n[0] == '-' {
			for _, w := range words {
				v := w.val
				found = found || v == n || strings.HasPrefix(v, n+"=") ||
					len(n) == 2 && len(v) > 2 && v[0] == '-' && v[1] != '-' && strings.IndexByte(v[1:], n[1]) >= 0 && runEnd(v, 0) == len(v)
			}
			if !found {
				return 0, false
			}
			continue
		}
		for i := base; i < len(words) && skipped <= near; i++ {
			if words[i].val == n {
				base, found = i+1, true
				break
			}
			if !strings.HasPrefix(words[i].val, "-") {
				skipped++
			}
		}
		if !found {
			return 0, false
		}
	}
	return base, true
}

// args are the words behind a program's name.
type args struct {
	words []word
	base  int // operands count from here
	hit   func(i, from, to int)
}

func isOperand(w word) bool {
	return !strings.HasPrefix(w.val, "-") && w.val != "<" && w.val != ">"
}

func (a *args) operand(which string) {
	n, last := 0, -1
	which, after := strings.TrimSuffix(which, ":"), strings.HasSuffix(which, ":")
	for i := a.base; i < len(a.words); i++ {
		if !isOperand(a.words[i]) {
			continue
		}
		n++
		last = i
		if which != "$" && (n == int(which[0]-'0') || len(which) > 1 && n > int(which[0]-'0')) {
			a.whole(i)
		}
	}
	if after {
		if last >= 0 {
			a.value(last, 0, ":")
		}
	} else if which == "$" && n > 1 {
		a.whole(last)
	} else if which == "$" && n == 1 && a.base > 0 {
		a.whole(last)
	}
}

// whole masks a word that is a secret; name=value is for other rules.
func (a *args) whole(i int) {
	v := a.words[i].val
	if eq := strings.IndexByte(v, '='); eq > 0 && strings.Trim(v[eq:], "=") != "" && runEnd(v, 0) == eq && !isDense(v) {
		return
	}
	if maskable(v, wantPassword) && v != "-" {
		a.hit(i, 0, len(v))
	}
}

func (a *args) pairs(ask bool) {
	for i := a.base; i < len(a.words); i++ {
		if isOperand(a.words[i]) {
			a.pair(i, 0, ask)
		}
	}
}

// pair masks what follows the = in a word, from val[at] on.
func (a *args) pair(i, at int, ask bool) {
	v := a.words[i].val
	eq := strings.IndexByte(v[at:], '=')
	if eq <= 0 {
		return
	}
	w := wantPassword
	if ask {
		w = nameWants(v[at : at+eq])
	}
	if from := at + eq + 1; w != wantNothing && maskable(v[from:], w) && v[from] != '@' && v[from:] != "-" {
		a.hit(i, from, len(v))
	}
}

func (a *args) named() {
	for i := a.base; i+1 < len(a.words); i++ {
		if v := a.words[i].val; isOperand(a.words[i]) && strings.IndexByte(v, '=') < 0 && strings.IndexByte(v, ' ') < 0 {
			if w, next := nameWants(v), a.words[i+1].val; w != wantNothing && isOperand(a.words[i+1]) && maskable(next, w) {
				a.hit(i+1, 0, len(next))
				i++
			}
		}
	}
}

// sent is what expect types: one word, which no command with an operand is.
func (a *args) sent() {
	for i, w := range a.words {
		v := strings.TrimRight(w.val, "\\rn\r\n")
		if isOperand(w) && len(v) > 4 && strings.IndexByte(v, ' ') < 0 && maskable(v, wantPassword) {
			a.hit(i, 0, len(v))
		}
	}
}

func (a *args) slash() {
	for i, w := range a.words {
		v := w.val
		if at := strings.IndexByte(v, '/'); isOperand(w) && at > 0 && strings.IndexByte(v[:at], '.') < 0 {
			end := strings.IndexByte(v, '@')
			if end < at {
				end = len(v)
			}
			if end > at+1 && strings.IndexByte(v[at+1:end], '/') < 0 {
				a.hit(i, at+1, end)
			}
			return
		}
	}
}

func (a *args) option(opt, kind string) {
	for i, w := range a.words {
		v := w.val
		switch {
		case v == opt && kind != "~":
			if i+1 >= len(a.words) {
				return
			}
			switch kind {
			case "+":
				a.whole(i + 1)
				if i+2 < len(a.words) {
					a.whole(i + 2)
				}
			case "2":
				if i+2 < len(a.words) {
					a.whole(i + 2)
				}
			case "n":
				if i+2 < len(a.words) && nameWants(a.words[i+1].val) != wantNothing {
					a.whole(i + 2)
				}
			default:
				if next := a.words[i+1]; isOperand(next) {
					a.value(i+1, 0, kind)
				}
			}
		case (kind == "1" || kind == "2") && strings.HasPrefix(v, opt) && strings.HasSuffix(opt, "."):
			if n := i + int(kind[0]-'0'); n < len(a.words) {
				a.whole(n)
			}
		case strings.HasPrefix(v, opt+"=") && len(opt) > 2:
			a.value(i, len(opt)+1, kind)
		case len(v) > len(opt) && strings.HasPrefix(v, opt) && (len(opt) == 2 && kind != "!" || kind == "~") && opt[0] != '+' && v[1] != '-':
			from := len(opt)
			if v[from] == '=' {
				from++
			}
			if from < len(v) {
				a.value(i, from, kind)
			}
		case kind == ":" && len(opt) == 2 && len(v) > 2 && v[0] == '-' && v[1] != '-' && v[len(v)-1] == opt[1] && runEnd(v, 0) == len(v):
			if i+1 < len(a.words) && isOperand(a.words[i+1]) { // -sSu user:password
				a.value(i+1, 0, kind)
			}
		}
	}
}

// value masks the secret in val[from:] of a word, the value of an option.
func (a *args) value(i, from int, kind string) {
	v := a.words[i].val
	rest := v[from:]
	switch kind {
	case "", "~", "!":
		if maskable(rest, wantPassword) && rest != "-" {
			a.hit(i, from, len(v))
		}
	case ":", "%", ",":
		at := strings.Index(rest, kind)
		switch {
		case at < 0 || strings.HasPrefix(rest[at:], "://"):
		case at+1 < len(rest):
			if maskable(rest[at+1:], wantPassword) {
				a.hit(i, from+at+1, len(v))
			}
		case looksRandom(rest[:at]): // a token in the place of the user
			a.hit(i, from, from+at)
		}
	case ":@":
		colon, at := strings.IndexByte(rest, ':'), strings.LastIndexByte(rest, '@')
		if colon > 0 && at > colon+1 && !strings.HasPrefix(rest[colon:], "://") {
			a.hit(i, from+colon+1, from+at)
		}
	case "h":
		name, field, ok := strings.Cut(rest, ":")
		if !ok || nameWants(name) == wantNothing && !isSecretHeader(name) && !isSecretHeader("x-"+name) {
			return
		}
		if strings.HasSuffix(strings.ToLower(name), "cookie") {
			return
		}
		at := len(v) - len(strings.TrimLeft(field, " "))
		if n := strings.IndexByte(v[at:], ' '); n > 0 && isScheme(v[at:at+n]) {
			at += n + 1
		} else if n > 0 {
			return // the scan of the text knows more of those
		}
		if maskable(v[at:], wantPassword) && v[at] != '$' {
			a.hit(i, at, len(v))
		}
	case "p":
		if name, secret, ok := strings.Cut(rest, ":"); ok && secret != "" && nameWants(name) != wantNothing {
			a.hit(i, len(v)-len(secret), len(v))
		}
	case "=", "=?":
		for at := from; at < len(v); { // a=b c=d, in one value
			end := strings.IndexByte(v[at:], ' ')
			if kind == "=" || end < 0 {
				a.pair(i, at, kind == "=?")
				return
			}
			if eq := strings.IndexByte(v[at:at+end], '='); eq > 0 && nameWants(v[at:at+eq]) != wantNothing {
				a.hit(i, at+eq+1, at+end)
			}
			at += end + 1
		}
	case ";":
		for at := from; at < len(v); {
			end := len(v)
			if n := strings.IndexByte(v[at:], ';'); n >= 0 {
				end = at + n
			}
			if eq := strings.IndexByte(v[at:end], '='); eq > 0 && at+eq+1 < end {
				a.hit(i, at+eq+1, end)
			}
			at = end + 1
		}
	default:
		if at := strings.Index(rest, kind); at >= 0 && (at == 0 || rest[at-1] == ',') {
			end := len(v)
			if n := strings.IndexByte(v[from+at+len(kind):], ','); n >= 0 && strings.HasSuffix(kind, "=") {
				end = from + at + len(kind) + n
			}
			if from+at+len(kind) < end {
				a.hit(i, from+at+len(kind), end)
			}
		}
	}
}
