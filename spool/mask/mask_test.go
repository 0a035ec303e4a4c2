package mask

import (
	"reflect"
	"strings"
	"testing"
)

const pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlwAAAAdzc2gtcn\nNhAAAAAwEAAQAA==\n-----END OPENSSH PRIVATE KEY-----"

// Each secret contains S3CR or is checked by want.
var maskTable = []struct{ in, want string }{
	// headers
	{`curl -H "Authorization: Bearer abc.def-123" https://h/x`, `curl -H "Authorization: Bearer ***" https://h/x`},
	{`curl -H 'authorization: Basic dTpw' h`, `curl -H 'authorization: Basic ***' h`},
	{`curl -H Authorization:abc h`, `curl -H Authorization:*** h`},
	{`curl -H "X-Api-Key: k123" h`, `curl -H "X-Api-Key: ***" h`},
	{`curl -H "PRIVATE-TOKEN: k123" h`, `curl -H "PRIVATE-TOKEN: ***" h`},
	{`curl -H "Authorization: Bearer $TOKEN" h`, `curl -H "Authorization: Bearer $TOKEN" h`},
	{`curl -H "Authorization: Bearer $(cat ~/t)" h`, `curl -H "Authorization: Bearer $(cat ~/t)" h`},
	{`bash -c "curl -H \"Authorization: Bearer abc\" h; rm -rf x"`, `bash -c "curl -H \"Authorization: Bearer ***\" h; rm -rf x"`},
	// token shapes
	{"x ghp_0123456789abcdefghijABCDEFGHIJ012345 y", "x ghp_*** y"},
	{"github_pat_11AAAAAAA0abcdefghijkl_mnopqrstuvwx0123456789", "github_pat_***"},
	{"sk-abcdefghijklmnopqrstuvwxyz123456", "sk-***"},
	{"sk-ant-api03-AbCdEfGh1234567890-xyz_9876543210abcdef", "sk-***"},
	{"xoxb-1234567890-abcdefgh", "xoxb-***"},
	{"AKIAIOSFODNN7EXAMPLE", "AKIA***"},
	{"AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIza***"},
	{"glpat-abcDEF1234567890ghij", "glpat-***"},
	{"npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_***"},
	{"pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0w", "pypi-***"},
	{"echo eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_123 x", "echo eyJ*** x"},
	{"git clone https://ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com/a/b", "git clone https://ghp_***@github.com/a/b"},
	// URLs
	{"git clone https://user:pass@host/x.git", "git clone https://user:***@host/x.git"},
	{"psql postgres://u:p@ss@db:5432/x", "psql postgres://u:***@db:5432/x"},
	{"redis-cli -u redis://:pw@h", "redis-cli -u redis://:***@h"},
	{"curl https://u:$PW@h/", "curl https://u:$PW@h/"},
	{"curl https://0123456789abcdef01234567@h/", "curl https://***@h/"},
	{"curl http://localhost:8080/a@b:c", "curl http://localhost:8080/a@b:c"},
	{"ssh://git@github.com/a/b", "ssh://git@github.com/a/b"},
	{"scp a:b user@host:/x", "scp a:b user@host:/x"},
	// options
	{"x --password hunter2 y", "x --password *** y"},
	{"x --password=hunter2 y", "x --password=*** y"},
	{"x --password 'a b' y", "x --password '***' y"},
	{`x --password="a b" y`, `x --password="***" y`},
	{"x --password -v", "x --password -v"},
	{"x --password; rm y", "x --password; rm y"},
	{"x --password\nrm y", "x --password\nrm y"},
	{"x --password \\\n abc y", "x --password \\\n *** y"},
	{"x --password-stdin y", "x --password-stdin y"},
	{"x --token abc", "x --token ***"},
	{"x --api-key=abc", "x --api-key=***"},
	{"x --token-file /a/b", "x --token-file /a/b"},
	{"x --token /run/secrets/t.txt", "x --token /run/secrets/t.txt"},
	{"x --token $T", "x --token $T"},
	{"x --token $(rm -rf y)", "x --token $(rm -rf y)"},
	{"mysql -psecret db", "mysql -p*** db"},
	{"mysql -p'sec ret' db", "mysql -p'***' db"},
	{"mysql -p db", "mysql -p db"},
	{"sudo /usr/bin/mysqldump -u root -pS3CR x", "sudo /usr/bin/mysqldump -u root -p*** x"},
	{"mkdir -parents; tar -pxf a; ls -port", "mkdir -parents; tar -pxf a; ls -port"},
	{"mysql x; mkdir -pv a", "mysql x; mkdir -pv a"},
	{"bash -c 'mysql -psecret db'", "bash -c 'mysql -p*** db'"},
	{"sshpass -p pw ssh h", "sshpass -p *** ssh h"},
	{"curl -u user:pass h", "curl -u user:*** h"},
	{"curl -uuser:pass h", "curl -uuser:*** h"},
	{"curl -sSu 'user:pa ss' h", "curl -sSu 'user:***' h"},
	{"curl --user=user:pass h", "curl --user=user:*** h"},
	{"curl -u user h", "curl -u user h"},
	{"docker run -u 1000:1000 x", "docker run -u 1000:1000 x"},
	{"sort -u a:b", "sort -u a:b"},
	// assignments
	{"FOO_KEY=abc cmd", "FOO_KEY=*** cmd"},
	{"export AWS_SECRET_ACCESS_KEY='a/b+c'", "export AWS_SECRET_ACCESS_KEY='***'"},
	{"export GH_TOKEN=abc; rm -rf /", "export GH_TOKEN=***; rm -rf /"},
	{"DB_PASSWORD=\"a b\" run", "DB_PASSWORD=\"***\" run"},
	{"PGPASSWORD=x psql", "PGPASSWORD=*** psql"},
	{"MYSQL_PWD=x mysql", "MYSQL_PWD=*** mysql"},
	{"X_SECRET=a'b'\"c\"", "X_SECRET=***'***'\"***\""},
	{"X_SECRET='a'$(rm x)", "X_SECRET='***'$(rm x)"},
	{"X_SECRET='a'; rm x", "X_SECRET='***'; rm x"},
	{"A_KEY='a'\nrm x", "A_KEY='***'\nrm x"},
	{"SSH_KEY=~/.ssh/id_rsa ssh h", "SSH_KEY=~/.ssh/id_rsa ssh h"},
	{"SSH_KEY=/home/u/.ssh/id_rsa ssh h", "SSH_KEY=/home/u/.ssh/id_rsa ssh h"},
	{"A_TOKEN=$B_TOKEN x", "A_TOKEN=$B_TOKEN x"},
	{"A_TOKEN=$(rm -rf y) x", "A_TOKEN=$(rm -rf y) x"},
	{"A_TOKEN=\"$(rm -rf y)\" x", "A_TOKEN=\"$(rm -rf y)\" x"},
	{"A_TOKEN=`rm -rf y` x", "A_TOKEN=`rm -rf y` x"},
	{"A_KEY=ab$(rm -rf y) x", "A_KEY=***$(rm -rf y) x"},
	{"bash -c 'A_KEY='; rm -rf x; echo ''", "bash -c 'A_KEY='; rm -rf x; echo ''"},
	{"bash -c 'A_KEY=abc; rm -rf x'", "bash -c 'A_KEY=***; rm -rf x'"},
	{"curl 'https://h/?api_key=abc&x=1'", "curl 'https://h/?api_key=***&x=1'"},
	{`curl -d '{"password": "a b", "n": 1}' h`, `curl -d '{"password": "***", "n": 1}' h`},
	{`curl -d "{\"api_key\":\"abc\"}" h`, `curl -d "{\"api_key\":\"***\"}" h`},
	{"printf 'a\\nX_KEY=abc\\n' > .env", "printf 'a\\nX_KEY=***' > .env"},
	{"if [ $A_TOKEN == x ]", "if [ $A_TOKEN == x ]"},
	{"primary_key=True", "primary_key=True"},
	// private keys
	{"echo '" + pem + "' > k", "echo '-----BEGIN OPENSSH PRIVATE KEY-----\n***\n-----END OPENSSH PRIVATE KEY-----' > k"},
	{`-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\nabc=\n-----END PRIVATE KEY-----\n`,
		`-----BEGIN PRIVATE KEY-----\n***\n-----END PRIVATE KEY-----\n`},
	{"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n-----END RSA PRIVATE KEY-----",
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n***\n-----END RSA PRIVATE KEY-----"},
	{"-----BEGIN PRIVATE KEY-----\nrm -rf x", "-----BEGIN PRIVATE KEY-----\nrm -rf x"},
	{"grep -q 'BEGIN PRIVATE KEY' f", "grep -q 'BEGIN PRIVATE KEY' f"},
	// left alone
	{"cat /etc/passwd ~/.ssh/id_rsa ./secrets/token.txt", "cat /etc/passwd ~/.ssh/id_rsa ./secrets/token.txt"},
	{"rm -rf node_modules/sk-foo-project-2024-data-set", "rm -rf node_modules/sk-foo-project-2024-data-set"},
	{"pip install pypi-attestations scikit-learn", "pip install pypi-attestations scikit-learn"},
	{"git commit -m 'rotate the token: use a new secret'", "git commit -m 'rotate the token: use a new secret'"},
	{"git push --force origin main", "git push --force origin main"},
	{"", ""},
}

func TestText(t *testing.T) {
	for _, tt := range maskTable {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
		if got := Text(tt.want); got != tt.want {
			t.Errorf("masking twice changes %q to %q", tt.want, got)
		}
	}
}

func TestArgv(t *testing.T) {
	for _, tt := range []struct{ in, want []string }{
		{[]string{"curl", "-u", "user:p w", "h"}, []string{"curl", "-u", "user:***", "h"}},
		{[]string{"curl", "-H", "Authorization: Bearer abc", "h"}, []string{"curl", "-H", "Authorization: Bearer ***", "h"}},
		{[]string{"x", "--password", "a b"}, []string{"x", "--password", "***"}},
		{[]string{"x", "--password=a b"}, []string{"x", "--password=***"}},
		{[]string{"x", "--password", "-v"}, []string{"x", "--password", "-v"}},
		{[]string{"mysql", "-psec ret"}, []string{"mysql", "-p***"}},
		{[]string{"mysql", "-p", "db"}, []string{"mysql", "-p", "db"}},
		{[]string{"env", "A_KEY=a b", "cmd"}, []string{"env", "A_KEY=***", "cmd"}},
		{[]string{"bash", "-c", "A_KEY=x; rm -rf y"}, []string{"bash", "-c", "A_KEY=***; rm -rf y"}},
		{[]string{"x", "--token", "a; rm -rf y"}, []string{"x", "--token", "a; rm -rf y"}},
		{[]string{"ls", "/etc", "--sort-key=name"}, []string{"ls", "/etc", "--sort-key=name"}},
		{[]string{"x", "--token"}, []string{"x", "--token"}},
		{nil, []string{}},
	} {
		in := append([]string(nil), tt.in...)
		if got := Argv(tt.in); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Argv(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
		if !reflect.DeepEqual(in, append([]string(nil), tt.in...)) {
			t.Errorf("Argv changed its argument %q", in)
		}
	}
}

// Patterns that would make a careless scanner quadratic. The test ends soon or
// runs into the time limit of go test: a quarter of a MB squared is minutes.
func TestTextIsLinear(t *testing.T) {
	for _, p := range []string{
		"://", "a_key=", "A_KEY=/", "-----BEGIN PRIVATE KEY-----a:", "eyJ.", "eyJaaaaa.", "--token ", "-p", "'", "\"", `\"`,
		`a_key=\"`, `a_key="; `, "a_key='\n", "Authorization: ", "x@", ":", "://a:b@", " -", "sk-a", "-----BEGIN PRIVATE KEY----- ", "a_key  ", "a_key='a'", "a_key=a''", "curl -u ", "a",
		"sudo -S ", "docker ", "echo a|", "(", "<(", "<<E\n", "{ echo a;", "}; ", "cat <<A\n", "\"a (", "`", "$(", "eyJ", "ghp_", "https://u:p@h/?key=",
		"Cookie: a=b; ", "htpasswd -b ", "git config a ", "npm config set a=b ", "AccountKey=", "password: x\n", `\"a `, "(echo a;",
	} {
		s := strings.Repeat(p, 1<<18/len(p))
		out := Text(s)
		if len(out) > 2*len(s)+8 {
			t.Errorf("%q: %d bytes became %d", p, len(s), len(out))
		}
	}
}

func FuzzText(f *testing.F) {
	for _, tt := range maskTable {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if len(once) > 3*len(s)+8 {
			t.Errorf("%d bytes became %d", len(s), len(once))
		}
		for _, line := range []string{"\n", "`", "$("} {
			if !strings.Contains(s, pemBegin) && strings.Count(once, line) != strings.Count(s, line) {
				t.Errorf("a mask swallowed %q: %q became %q", line, s, once)
			}
		}
		argv := strings.Split(s, "\x00")
		if got := Argv(argv); len(got) != len(argv) {
			t.Errorf("%d arguments became %d", len(argv), len(got))
		}

	})
}
