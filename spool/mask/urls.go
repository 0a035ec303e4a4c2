package mask

import "strings"

// hooks are addresses whose path is the secret: who knows it may post.
var hooks = [...]struct{ host, path string }{
	{"hooks.slack.com", "/services/"}, {"hooks.slack.com", "/workflows/"}, {"hooks.slack.com", "/triggers/"},
	{"hooks.slack-gov.com", "/services/"},
	{"discord.com", "/webhooks/"}, {"discordapp.com", "/webhooks/"},
	{"api.telegram.org", "/bot"},
	{"webhook.office.com", "/webhookb2/"}, {"webhook.office.com", "/webhook/"}, {"outlook.office.com", "/webhook/"}, {"outlook.office365.com", "/webhook/"},
	{"hooks.zapier.com", "/hooks/catch/"}, {"maker.ifttt.com", "/key/"},
	{"open.feishu.cn", "/hook/"}, {"open.larksuite.com", "/hook/"}, {"hc-ping.com", "/"}, {"webhook.site", "/"},
	{"events.pagerduty.com", "/integration/"}, {"alert.victorops.com", "/generic/"}, {"api.opsgenie.com", "/webhooks/"},
	{"hooks.glip.com", "/webhook/"}, {"api.ciscospark.com", "/webhooks/incoming/"},
	{"webexapis.com", "/webhooks/incoming/"}, {"api.flock.com", "/hooks/sendMessage/"}, {"cronitor.link", "/p/"}, {"betteruptime.com", "/heartbeat/"},
	{"uptime.betterstack.com", "/heartbeat/"},
}

// hookPath finds the secret in the path of a URL that starts with its authority.
// Of hosts that nobody knows, what follows hooks or webhook counts where it is
// random.
func hookPath(u string) (from, to int) {
	slash := strings.IndexByte(u, '/')
	if slash < 0 {
		return 0, 0
	}
	host, path := u[strings.LastIndexByte(u[:slash], '@')+1:slash], u[slash:]
	if q := strings.IndexAny(path, "?#"); q >= 0 {
		path = path[:q]
	}
	for _, h := range hooks {
		if !strings.HasSuffix(host, h.host) || len(host) > len(h.host) && host[len(host)-len(h.host)-1] != '.' {
			continue
		}
		i := strings.Index(path, h.path)
		if i < 0 {
			continue
		}
		from = i + len(h.path)
		to = len(path)
		if h.path == "/bot" {
			if n := strings.IndexByte(path[from:], '/'); n >= 0 {
				to = from + n
			}
		}
		if to-from >= 6 {
			return slash + from, slash + to
		}
	}
	for _, name := range [...]string{"/hooks/", "/webhook/", "/webhooks/", "/hook/"} {
		if i := strings.Index(path, name); i >= 0 {
			from = i + len(name)
			if rest := path[from:]; len(rest) >= 16 && isDense(rest) {
				return slash + from, slash + len(path)
			}
		}
	}
	return 0, 0
}
