package mask

import "strings"

// want says what a word is that an option or a name announces.
type want uint8

const (
	wantNothing  want = iota
	wantSecret        // token, key: paths and switches are left alone
	wantPassword      // anything literal
	wantUserPass      // user:password
	wantRandom        // only what looks random
)

// nameWants judges the name of an option, a variable, a field: what it ends
// with says what it is, behind words that only say which one (API_KEY_PROD).
func nameWants(name string) want {
	var buf [96]byte
	words := splitName(buf[:0], name)
	for {
		last, before := cutLast(words)
		if before == "" || !isQualifier(last) {
			break
		}
		words = before
	}
	last, before := cutLast(words)
	if bare := strings.TrimRight(last, "0123456789"); bare != "" {
		last = bare
	}
	prev, _ := cutLast(before)
	if w := lastWants(last, prev); w != wantNothing {
		return w
	}
	if strings.HasPrefix(name, "TF_VAR_") && !isSetting(last) {
		return wantSecret // Terraform's own name for it is the author's
	}
	if last == "key" || last == "keys" && prev != "" {
		return keyWants(prev)
	}
	return wantNothing
}

// flagWants judges an option without a value of its own by its name. Behind one
// dash it may be a letter with its value (-psecret), so only whole words count.
func flagWants(flag string) want {
	n := leadingDashes(flag)
	name := flag[n:]
	if name == "" || runEnd(name, 0) != len(name) {
		return wantNothing
	}
	if n == 1 && !strings.ContainsAny(name, "-_") {
		switch name {
		case "password", "passwd", "pass", "passphrase", "token", "secret", "apikey", "apiKey", "pw", "storepass", "keypass", "authkey", "accessToken", "clientSecret", "Password", "ApiKey", "Token":
			return nameWants(name)
		}
		return wantNothing
	}
	if name == "secret" {
		return wantRandom // elsewhere the name of one
	}
	return nameWants(name)
}

// lastWants judges the last word of a name; prev is the one before it, or "".
func lastWants(last, prev string) want {
	switch last {
	case "password", "passwd", "passphrase", "passwort", "passcode", "pass", "pw", "psw", "mnemonic", "psk", "otp",
		"dbpass", "userpass", "adminpass", "rootpass", "mypass", "smtppass", "mailpass", "ftppass", "sshpass", "pgpass",
		"requirepass", "masterauth", "userpw", "opw", "upw",
		"keypass", "storepass", "loginpass", "sudopass", "authpass", "redispass", "mongopass", "mysqlpass", "sqlpass":
		return wantPassword
	case "pwd":
		if prev == "" {
			return wantSecret // a directory, in a shell
		}
		return wantPassword
	case "secret", "apikey", "apitoken", "credential", "credentials", "creds", "jwt", "bearer", "cookie", "sessionid", "sessid", "phpsessid", "jsessionid",
		"authtoken", "accesstoken", "refreshtoken", "authkey", "accesskey", "secretkey", "privatekey", "masterkey", "clientsecret", "apisecret", "appsecret":
		return wantSecret
	case "code":
		if prev == "token" || prev == "mfa" || prev == "otp" {
			return wantPassword
		}
	case "token":
		if prev == "csrf" || prev == "next" || prev == "page" || prev == "continuation" {
			return wantRandom
		}
		return wantSecret
	case "tokens", "secrets", "passwords", "apikeys":
		switch prev {
		case "max", "min", "num", "n", "total", "count", "input", "output", "prompt", "completion", "context", "budget", "thinking", "new":
			return wantNothing
		}
		return wantRandom
	case "auth", "sas", "dsn", "pin", "authorization":
		return wantRandom
	case "hash", "digest":
		if strings.HasPrefix(prev, "pass") {
			return wantPassword
		}
	case "phrase":
		switch prev {
		case "pass", "seed", "recovery", "secret":
			return wantPassword
		}
	case "id":
		if prev == "session" || prev == "secret" {
			return wantRandom
		}
	}
	for _, end := range [...]string{"password", "passwd", "passphrase", "pwd"} {
		if strings.HasSuffix(last, end) {
			return wantPassword
		}
	}
	for _, end := range [...]string{"secret", "token", "apikey", "secretkey", "accesskey", "privatekey"} {
		if strings.HasSuffix(last, end) {
			return wantSecret
		}
	}
	return wantNothing
}

// keyWants judges a name that ends with "key": what comes before says whether
// it opens something.
func keyWants(prev string) want {
	switch prev {
	case "":
		return wantRandom
	case "public", "pub", "primary", "foreign", "sort", "partition", "cache", "group", "row", "index", "object", "routing", "map",
		"hot", "shortcut", "unique", "composite", "natural", "sorting", "range", "dataset", "config", "metadata", "translation",
		"i18n", "registry", "lookup", "join", "s3", "bucket", "state", "parent", "dict", "feature", "flag", "press", "arrow",
		"function", "any", "tab", "space", "search", "query", "order", "distribution", "hash", "dist", "idempotency", "surrogate",
		"tag", "label", "context", "message", "project", "issue", "sign", "default", "parameter", "column", "property", "field", "topology", "annotation", "recv", "send":
		return wantNothing
	}
	return wantSecret
}

// isSetting: what a variable of Terraform ends with that is no secret.
func isSetting(last string) bool {
	switch last {
	case "region", "zone", "env", "environment", "name", "type", "size", "count", "id", "version", "tag", "tags", "prefix", "location", "project",
		"account", "domain", "cidr", "enabled", "image", "workspace", "namespace", "stage", "owner", "team", "user", "username", "host", "port", "path", "url", "bucket", "cluster":
		return true
	}
	return false
}

// printsSecret: the option or variable holds a command that prints a secret
// (--password-command, BORG_PASSCOMMAND), or a file that holds one.
func printsSecret(name string) bool {
	name = strings.TrimRight(name, "=")
	var buf [96]byte
	name = splitName(buf[:0], name)
	for _, end := range [...]string{"command", "cmd", "eval", "file", "secret", "key", "password", "pass"} {
		if strings.HasSuffix(name, end) {
			name = strings.TrimSuffix(strings.TrimSuffix(name, end), "_")
			return strings.HasSuffix(name, "pass") || strings.HasSuffix(name, "user") && end == "pass" || nameWants(name) != wantNothing ||
				(end == "key" || end == "secret" || end == "password") && (name == "" || keyWants(name) == wantSecret)
		}
	}
	return false
}

// isQualifier: a word behind the name proper.
func isQualifier(w string) bool {
	switch w {
	case "prod", "production", "dev", "devel", "development", "staging", "stage", "stg", "test", "testing", "qa", "uat", "live",
		"sandbox", "local", "old", "new", "current", "prev", "previous", "next", "backup", "primary", "secondary", "default",
		"main", "base", "value", "val", "b64", "base64", "encoded", "hex", "raw", "plain", "plaintext", "text", "str", "string",
		"us", "eu", "ro", "rw", "readonly", "ci", "internal", "external", "a", "b", "x":
		return true
	}
	if w[0] == 'v' && len(w) > 1 {
		w = w[1:]
	}
	return strings.Trim(w, "0123456789") == ""
}

// splitName writes the words of the end of a name into b, in lower case, with
// one _ between them: dashes, dots and a change of case part words, too.
func splitName(b []byte, name string) string {
	if len(name) > 64 {
		name = name[len(name)-64:]
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case !isAlnum(c):
			c = '_'
		case c >= 'A' && c <= 'Z' && i > 0 && (name[i-1] >= 'a' && name[i-1] <= 'z' ||
			i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z' && name[i-1] >= 'A' && name[i-1] <= 'Z'):
			b = append(b, '_')
		}
		if c == '_' && (len(b) == 0 || b[len(b)-1] == '_') {
			continue
		}
		b = append(b, lower(c))
	}
	for len(b) > 0 && b[len(b)-1] == '_' {
		b = b[:len(b)-1]
	}
	return string(b)
}

func cutLast(words string) (last, before string) {
	i := strings.LastIndexByte(words, '_')
	return words[i+1:], words[:max(i, 0)]
}

// isSecretHeader judges the name of a header field.
func isSecretHeader(name string) bool {
	if len(name) > 64 || len(name) < 6 {
		return false
	}
	switch {
	case strings.EqualFold(name, "authorization"), strings.EqualFold(name, "cookie"), strings.EqualFold(name, "apikey"), strings.EqualFold(name, "set-cookie"), strings.EqualFold(name, "cookie2"):
		return true
	}
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return false
	}
	var buf [96]byte
	switch last := string(lowered(buf[:0], name[i+1:])); last {
	case "authorization", "auth", "token", "secret", "apikey", "password", "passwd", "credentials", "credential", "cookie", "jwt", "signature", "assertion", "session":
		return true
	case "key":
		prev, _ := cutLast(string(lowered(buf[:0], name[:i])))
		return prev != "websocket" && keyWants(prev) == wantSecret
	}
	return false
}

// isScheme: the first word of the value of an Authorization field.
func isScheme(s string) bool {
	if len(s) > 20 {
		return false
	}
	var buf [20]byte
	switch string(lowered(buf[:0], s)) {
	case "bearer", "basic", "token", "digest", "negotiate", "apikey", "api_key", "aws4_hmac_sha256", "oauth", "hawk", "mac", "ntlm",
		"key", "bot", "splunk", "geniekey", "sso_key", "sharedkey", "sharedaccesssignature", "dpop", "gnap", "vapid",
		"scram_sha_1", "scram_sha_256", "aws", "snowflake", "pve_api_token", "zoho_oauthtoken", "klaviyo_api_key", "bce_auth_v1", "jwt", "discogs", "ssws", "wsse", "hmac":
		return true
	}
	return false
}

// urlWants judges the name of a parameter in a URL.
func urlWants(name string) want {
	var buf [64]byte
	switch string(lowered(buf[:0], name)) {
	case "key", "sig", "signature", "sign", "hmac", "app_key", "x_amz_signature", "x_amz_security_token", "x_goog_signature", "x_oss_signature":
		return wantSecret
	case "auth", "code", "sid", "session", "appid", "jwt", "assertion", "ticket", "policy", "hdnts", "hdnea":
		return wantRandom
	}
	return nameWants(name)
}

// maskable reports whether the literal v may be hidden.
func maskable(v string, w want) bool {
	if v == "" || v[0] == '$' || v == stars {
		return false
	}
	switch w {
	case wantPassword, wantUserPass:
		if v == "stdin" || strings.HasPrefix(v, "env:") || strings.HasPrefix(v, "file:") || strings.HasPrefix(v, "fd:") {
			return false // openssl, keytool: where it is
		}
		return len(v) > 1 || v[0] < '0' || v[0] > '9'
	case wantRandom:
		return looksRandom(v)
	}
	switch v {
	case "true", "false", "True", "False", "yes", "no", "none", "None", "null", "0", "1", "on", "off", "auto", "default", "required", "optional":
		return false
	}
	if len(v) < 5 && digits(v, 0) == len(v) {
		return false
	}
	for _, p := range [...]string{"id=", "type=", "source=", "name=", "arn:"} {
		if strings.HasPrefix(v, p) {
			return false // of docker's --secret, of a cloud's name for it
		}
	}
	return v[0] != '@' && v[0] != '-' && !isPath(v)
}

// looksRandom: at least six characters without a space, with a digit and a
// letter, or letters of both cases, and not a path, a host or a number.
func looksRandom(v string) bool {
	if len(v) < 6 || strings.ContainsAny(v, " \t/\\,(){}[]<>") || isPath(v) {
		return false
	}
	if u, p, ok := strings.Cut(v, ":"); ok && u != "" && p != "" && digits(p, 0) != len(p) {
		return true
	}
	if len(v) > 1 && (v[0] == '.' || v[len(v)-1] == '.') || strings.ContainsAny(v, "@*?") {
		return false
	}
	digit, low, up := false, false, false
	for i := 0; i < len(v); i++ {
		c := v[i]
		digit = digit || c >= '0' && c <= '9'
		low = low || c >= 'a' && c <= 'z'
		up = up || c >= 'A' && c <= 'Z'
	}
	return digit && (low || up) || len(v) >= 12 && low && up
}

// isPath reports whether v looks like a path rather than like base64, which
// may begin with a slash too.
func isPath(v string) bool {
	for _, p := range [...]string{"./", "../", "~/", "~"} {
		if v == p || strings.HasPrefix(v, p) && p != "~" {
			return true
		}
	}
	return strings.HasPrefix(v, "/") && !strings.ContainsAny(v, "+=") && (len(v) < 24 || strings.Count(v, "/") > 1)
}
