package eval

import "strings"

// tool is how a program reads its command line, as far as matching needs it.
// Lists are words between blanks, options with their dashes.
type tool struct {
	sub       bool   // the first operand is a subcommand
	longDash  bool   // long options have one dash and short ones do not cluster (find, terraform)
	abbrev    bool   // long options may be abbreviated (git, GNU)
	stops     bool   // options end at the first operand (sudo, env, ssh)
	values    string // options whose value is the next word
	global    string // the same, before the subcommand only
	whole     string // options that are not to be taken for abbreviations of others
	subStops  string // subcommands whose options end at their first operand (docker run)
	subValues func(sub string) string
}

// toolOf returns the table entry of a program. It is a switch, not a map, so
// that nothing is built at start.
func toolOf(name string) tool {
	switch name {
	case "git":
		return tool{sub: true, abbrev: true,
			global:    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --exec-path",
			whole:     "--force --delete --all --stat --no --prune --mirror --tags --quiet --verbose --cached --staged",
			subValues: gitValues}
	case "rm", "rmdir", "chmod", "chown", "chgrp", "tee", "mkdir", "cat", "tac", "wc", "nl", "base64", "base32", "unlink", "link", "readlink", "realpath", "basename", "dirname", "paste", "comm", "cmp", "sum", "md5sum", "sha1sum", "sha256sum", "sha512sum", "stat", "uniq", "cut", "od", "fold", "fmt", "expand", "unexpand", "tsort", "df", "du", "ls":
		t := tool{abbrev: true}
		switch name {
		case "chmod", "chown", "chgrp":
			t.values = "--reference"
		case "mkdir":
			t.values = "-m --mode"
		case "base64", "base32":
			t.values = "-w --wrap"
		case "stat":
			t.values = "-c --format --printf"
		case "cut":
			t.values = "-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter"
		case "od":
			t.values = "-A -j -N -S -t"
		case "uniq":
			t.values = "-f -s -w"
		case "paste":
			t.values = "-d --delimiters"
		case "du":
			t.values = "-d -t -B -X --max-depth --exclude --threshold --block-size"
		case "ls":
			t.values = "-I -w -T --ignore --hide"
		case "nl":
			t.values = "-b -d -f -h -i -l -n -s -v -w"
		}
		return t
	case "head", "tail":
		return tool{abbrev: true, values: "-n -c -s --lines --bytes --pid --sleep-interval"}
	case "cp", "mv", "ln", "install":
		return tool{abbrev: true, values: "-t -S -m -o -g --target-directory --suffix --mode --owner --group"}
	case "truncate":
		return tool{abbrev: true, values: "-s -r --size --reference"}
	case "shred":
		return tool{abbrev: true, values: "-n -s --iterations --size --random-source"}
	case "touch":
		return tool{abbrev: true, values: "-d -r -t --date --reference --time"}
	case "sort":
		return tool{abbrev: true, values: "-k -o -t -S -T --key --output --field-separator --buffer-size --temporary-directory --batch-size --files0-from --compress-program"}
	case "xxd":
		return tool{values: "-c -g -l -o -s -n -R"}
	case "shuf":
		return tool{abbrev: true, values: "-i -n -o --input-range --head-count --output --random-source"}
	case "setfattr", "attr", "chcon", "setfacl", "rename", "prename", "perl-rename", "script", "mktemp":
		return tool{values: "-n -v -x -s -V -g -t -u -r -l -m -M -X -e -c -E -I -O -B -T -p --suffix --type --user --role --range"}
	case "split", "csplit":
		t := tool{abbrev: true, values: "-a -b -C -l -n -t --bytes --lines --number --suffix-length --filter"}
		if name == "csplit" {
			t.values = "-b -f -n --prefix --suffix-format --digits"
		}
		return t
	case "grep", "egrep", "fgrep", "zgrep":
		return tool{abbrev: true, values: "-e -f -m -A -B -C -d -D --regexp --file --max-count --include --exclude --exclude-dir --exclude-from --label --color --after-context --before-context --context"}
	case "rg", "ag", "ack":
		return tool{values: "-e -f -g -t -T -m -A -B -C -r -j -M -d --regexp --file --glob --iglob --type --type-not --max-count --after-context --before-context --context --replace --max-depth --ignore-file --pre --sort --sortr --encoding --threads"}
	case "sed", "gsed":
		return tool{abbrev: true, values: "-e -f -l --expression --file --line-length"}
	case "awk", "gawk", "mawk", "nawk":
		return tool{values: "-f -F -v -e -E -i -l --file --field-separator --assign --source --include --load", stops: true}
	case "perl":
		return tool{values: "-e -E -I -M -m", stops: true}
	case "python", "python2", "python3", "pypy", "pypy3":
		return tool{values: "-c -m -W -X", stops: true}
	case "ruby":
		return tool{values: "-e -r -I -C -E", stops: true}
	case "node", "nodejs":
		return tool{values: "-e -p -r --eval --print --require --import --loader -C --conditions", stops: true}
	case "php":
		return tool{values: "-r -f -d -c -B -R -F -E -S -t -z", stops: true}
	case "find":
		return tool{longDash: true, values: "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile -maxdepth -mindepth -fstype -used -context -printf -fprint -fprint0 -fls -regextype -D -newerXY -newermt -newerat -newerct"}
	case "fd", "fdfind":
		return tool{values: "-e -E -t -d -S -g -c -j -x -X --extension --exclude --type --max-depth --min-depth --exact-depth --size --changed-within --changed-before --owner --color --threads --exec --exec-batch --base-directory --search-path --ignore-file --format"}
	case "tar", "bsdtar":
		return tool{abbrev: true, values: "-f -C -T -X -b -g -H -I -K -L -N -V --file --directory --files-from --exclude --exclude-from --transform --strip-components --use-compress-program --to-command --owner --group --mode --mtime --newer --format"}
	case "zip":
		return tool{values: "-x -i -n -b -P -s -t -tt --password"}
	case "unzip":
		return tool{values: "-d -x -P"}
	case "gzip", "gunzip", "zcat", "bzip2", "xz", "zstd", "lz4":
		return tool{values: "-S -o --suffix"}
	case "curl":
		return tool{values: "-A -b -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --user-agent --cookie --cookie-jar --continue-at --data --data-raw --data-ascii --data-binary --data-urlencode --dump-header --referer --cert --form --form-string --header --config --max-time --output --output-dir --quote --range --upload-file --user --proxy-user --write-out --proxy --request --url --cacert --capath --key --connect-timeout --retry --retry-delay --resolve --json --unix-socket --aws-sigv4 --oauth2-bearer --limit-rate --interface --netrc-file --stderr --trace --trace-ascii --url-query --proto --ciphers --tls-max --max-redirs --max-filesize"}
	case "wget":
		return tool{abbrev: true, values: "-a -A -B -D -e -i -I -l -o -O -P -Q -R -t -T -U -w -X --output-document --output-file --append-output --directory-prefix --post-data --post-file --body-data --body-file --header --user --password --user-agent --tries --timeout --input-file --method --level --accept --reject --execute --load-cookies --save-cookies --certificate --private-key --ca-certificate"}
	case "http", "https", "xh":
		return tool{values: "-o -a -A -s --output --auth --auth-type --session --style --print -p --verify --cert --timeout --proxy"}
	case "ssh":
		return tool{values: "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", stops: true}
	case "scp", "sftp":
		return tool{values: "-c -D -F -i -J -l -o -P -S -X -b -B -R -s"}
	case "rsync":
		return tool{values: "-e -f -B -T -M --rsh --rsync-path --exclude --include --filter --files-from --exclude-from --include-from --bwlimit --compare-dest --copy-dest --link-dest --backup-dir --suffix --partial-dir --temp-dir --log-file --password-file --chmod --chown --max-size --min-size --max-delete --timeout --port --out-format --info --debug --usermap --groupmap"}
	case "rclone":
		return tool{sub: true, values: "--config --include --exclude --filter --filter-from --files-from --max-age --min-age --transfers --checkers --bwlimit --log-file --backup-dir --max-depth --max-delete"}
	case "dd":
		return tool{}
	case "sudo", "doas":
		return tool{stops: true, values: "-u -g -h -p -C -c -D -R -r -t -T -U --user --group --host --prompt --close-from --chdir --chroot --role --type --command-timeout --other-user"}
	case "env":
		return tool{stops: true, values: "-u -C -S --unset --chdir --split-string"}
	case "timeout":
		return tool{stops: true, values: "-k -s --kill-after --signal"}
	case "nice", "ionice", "stdbuf", "chrt", "taskset":
		return tool{stops: true, values: "-n -c -p -i -o -e --adjustment --class --classdata --input --output --error"}
	case "xargs":
		return tool{stops: true, values: "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars --replace --process-slot-var"}
	case "parallel":
		return tool{stops: true, values: "-a -j -N -n -L -I -S -d --arg-file --jobs --max-args --colsep --delimiter --joblog --results --tmpdir --workdir --timeout --retries"}
	case "bash", "sh", "dash", "zsh", "ksh", "ash":
		return tool{stops: true, values: "-o -O +o +O --rcfile --init-file"}
	case "docker", "podman", "nerdctl":
		return tool{sub: true, subStops: "run exec create", subValues: dockerValues,
			global: "-H -l -c --host --config --context --log-level --tlscacert --tlscert --tlskey --url --connection --root --namespace"}
	case "docker-compose", "podman-compose":
		return tool{sub: true, subStops: "run exec", global: "-f -p --file --project-name --profile --env-file --project-directory --ansi --parallel",
			values: "-t --timeout --scale --rmi --index -w --workdir -u --user -e --env -v --volume --name --entrypoint"}
	case "kubectl", "oc", "k", "kubecolor":
		return tool{sub: true, subStops: "exec run debug", values: "-n -f -l -o -c -k -p -s -L --namespace --filename --selector --output --container --kustomize --patch --server --context --cluster --user --kubeconfig --token --field-selector --replicas --type --grace-period --timeout --image --tail --since --as --as-group --field-manager --sort-by --template --from-file --from-literal --from-env-file --request-timeout --for --overrides --subresource --raw --patch-file"}
	case "helm":
		return tool{sub: true, values: "-n -f -o --namespace --values --output --set --set-string --set-file --set-json --version --kube-context --kubeconfig --timeout --repo --history-max --description --post-renderer --username --password --revision --max --registry-config"}
	case "npm", "pnpm", "yarn", "bun":
		return tool{sub: true, values: "-w -C -F --workspace --prefix --registry --tag --otp --access --filter --dir --cwd --userconfig --cache --loglevel --location --scope --omit --include"}
	case "npx", "bunx", "pnpx", "uvx", "pipx":
		return tool{stops: true, values: "-p -c --package --call --from --with --python"}
	case "pip", "pip3":
		return tool{sub: true, values: "-r -c -e -t -i -f -d --requirement --constraint --editable --target --index-url --extra-index-url --find-links --prefix --root --python --cache-dir --proxy --timeout --platform --python-version --src --log"}
	case "uv", "poetry", "pdm", "hatch", "rye":
		return tool{sub: true, values: "-p --python --project --directory --index-url --extra-index-url --group --extra --with -r --requirement --token --publish-url --username --password -u -C --repository"}
	case "cargo":
		return tool{sub: true, values: "-p -j -F -Z --package --manifest-path --target --target-dir --features --profile --bin --example --test --bench --jobs --color --config --registry --index --token --message-format --exclude --vers --version --git --branch --tag --rev --path --root"}
	case "go":
		return tool{sub: true, longDash: true, values: "-o -run -bench -count -timeout -tags -ldflags -gcflags -mod -modfile -p -cpu -coverprofile -coverpkg -C -benchtime -parallel -exec -overlay -pkgdir -toolexec -vettool -fuzz -fuzztime -skip -shuffle"}
	case "terraform", "tofu", "terragrunt":
		return tool{sub: true, longDash: true, values: "-target -replace -var -var-file -lock-timeout -parallelism -state -state-out -backup -out -chdir -backend-config -module"}
	case "pulumi":
		return tool{sub: true, values: "-s -C -m -t --stack --cwd --message --target --config-file --parallel --color"}
	case "aws":
		return tool{sub: true, values: "--profile --region --output --query --endpoint-url --color --cli-read-timeout --bucket --key --name --instance-ids --db-instance-identifier --stack-name --function-name --table-name --secret-id --policy-arn --role-name --user-name --group-name --exclude --include --acl --prefix --cluster --service --cluster-name --vpc-id --volume-id --snapshot-id --cli-input-json --final-db-snapshot-identifier --recovery-window-in-days"}
	case "gsutil":
		return tool{sub: true, values: "-o -h -u"}
	case "migrate":
		return tool{sub: true, longDash: true, values: "-path -database -source"}
	case "gcloud", "bq":
		return tool{sub: true, values: "--project --zone --region --account --format --filter --configuration --location --impersonate-service-account --quiet-level --limit --sort-by --type --machine-type --image --cluster --namespace -h -o -m --member --role --version --data-file"}
	case "az":
		return tool{sub: true, values: "-g -n -l -o -s --resource-group --name --location --output --subscription --query --ids --vault-name --account-name --container-name --server --cluster-name --type --sku --tags --template-file --parameters"}
	case "gh", "glab":
		return tool{sub: true, values: "-R -t -b -B -H -F -f -l -a -m -r -p -q -X -L -s -S -T -n -e -o -u --repo --title --body --base --head --body-file --field --raw-field --label --assignee --milestone --reviewer --project --jq --method --limit --state --search --template --json --env --org --user --author --header --input --hostname --cache --notes --notes-file --target --name --description --branch --workflow --event --commit --job --app --query --subject --match-head-commit --author-email"}
	case "heroku", "fly", "flyctl", "vercel", "netlify", "railway", "wrangler", "firebase", "doctl", "hcloud", "linode-cli", "supabase", "serverless", "sls", "cdk", "sam", "eb", "ecs-cli", "eksctl", "kops", "copilot", "oci", "ibmcloud":
		return tool{sub: true, values: "-a -r -t -c -e -m -p --app --remote --team --context --config --env --project --token --region --profile --stage --stack-name --name --cluster --type --org --scope --output --format --message --dir --site --only --service --environment"}
	case "systemctl":
		return tool{sub: true, abbrev: true, values: "-t -H -M -n -o -p -s --type --state --property --host --machine --lines --output --root --signal --kill-who --what --job-mode"}
	case "service", "rc-service":
		return tool{}
	case "launchctl", "brew", "apt", "apt-get", "dnf", "yum", "snap", "flatpak", "apk", "zypper", "port", "nix", "gem", "composer", "bundle", "mix", "dotnet", "nuget", "conda", "mamba", "ufw", "firewall-cmd", "nmcli", "ip", "zfs", "zpool", "btrfs", "lvm", "vagrant", "minikube", "kind", "k3d", "ansible-vault", "vault", "op", "bw", "pass", "gopass", "doppler", "chezmoi", "stow", "rails", "rake", "prisma", "knex", "sequelize", "alembic", "flyway", "liquibase", "atlas", "goose", "dbmate", "safeshell", "redis-server", "rabbitmqctl", "consul", "nomad", "etcdctl", "security", "tmutil", "diskutil", "hdiutil", "csrutil", "nvram", "defaults", "loginctl", "journalctl", "timedatectl", "hostnamectl", "hg", "svn", "jj", "bzr", "fossil", "lerna", "nx", "turbo", "rush", "changeset", "twine", "deno", "claude", "codex", "gemini":
		t := tool{sub: true}
		switch name {
		case "apt", "apt-get":
			t.values = "-o -c -t -a --option --config-file --target-release --default-release"
		case "apk":
			t.values = "-p -X -t --root --repository --virtual"
		case "vault":
			t = tool{sub: true, longDash: true, values: "-address -namespace -format -field -mount -version"}
		case "deno":
			t.values = "-c -r --config --import-map --lock --cert --unsafely-ignore-certificate-errors"
		case "diskutil", "hdiutil", "nmcli", "ip", "zfs", "zpool", "security", "tmutil":
			t.stops = false
		case "nix":
			t.values = "-f -I --file --option --arg --argstr"
		case "safeshell":
			t.values = "--dir --context --since --shell --reason --config"
			t.subStops = "exec check"
		case "svn", "hg", "jj":
			t.values = "-m -r -F -R --message --revision --repository --cwd"
		case "journalctl":
			t = tool{abbrev: true, values: "-u -n -p -o -t -S -U -b --unit --lines --priority --since --until --vacuum-size --vacuum-time --vacuum-files -D --directory"}
		}
		return t
	case "psql":
		return tool{abbrev: true, values: "-c -d -f -h -p -U -o -v -L -P -F -R -T --command --dbname --file --host --port --username --output --set --variable --log-file"}
	case "mysql", "mariadb", "mysqladmin", "mysqldump":
		return tool{values: "-e -h -P -u -D -S --execute --host --port --user --database --socket --defaults-file --defaults-extra-file --result-file -r"}
	case "sqlite3":
		return tool{longDash: true, values: "-cmd -init -separator -newline -nullvalue"}
	case "redis-cli":
		return tool{stops: true, values: "-h -p -a -n -u -s -r -i --user --pass --eval"}
	case "mongo", "mongosh":
		return tool{values: "--eval --host --port -u -p --username --password --authenticationDatabase --file -f"}
	case "kill", "skill":
		return tool{longDash: true, values: "-s -n -q --signal --queue"}
	case "pkill", "killall", "pgrep":
		return tool{values: "-s -u -g -P -t -U -G --signal --user --euid --uid --group --parent --terminal --session"}
	case "crontab":
		return tool{values: "-u"}
	case "useradd", "usermod", "userdel", "adduser", "deluser", "groupadd", "groupmod", "passwd", "gpasswd":
		return tool{abbrev: true, values: "-d -e -f -g -G -s -u -c -l -p -k -K -a -M -A --home --expiredate --gid --groups --shell --uid --comment --login --password"}
	case "iptables", "ip6tables", "nft":
		return tool{values: "-t -A -D -I -P -j -p -s -d -i -o -m -N -X -R -F --dport --sport --table"}
	case "fuser":
		return tool{values: "-n --namespace"}
	case "openssl":
		return tool{sub: true, longDash: true, values: "-in -out -inkey -passin -passout -key -keyout -cert -days -subj -config -CAfile -connect -k -K -iv -signkey -CA -CAkey -newkey -name -certfile -servername -extfile -sha256file -pass"}
	case "gpg", "gpg2":
		return tool{longDash: false, values: "-o -u -r --output --local-user --recipient --homedir --passphrase --passphrase-file --default-key --keyserver --trust-model --batch-file"}
	case "ssh-keygen":
		return tool{longDash: true, values: "-f -t -b -C -N -P -m -O -s -I -n -V -R -F -a -E -r -w -Y"}
	case "jq", "yq":
		return tool{values: "-f -L --from-file --indent"}
	case "make", "gmake", "ninja":
		return tool{values: "-C -f -j -I -l -o -W --directory --file --makefile --jobs"}
	case "patch":
		return tool{abbrev: true, values: "-d -i -o -p -r -B -z -F -D --directory --input --output --strip --reject-file"}
	case "gcc", "cc", "g++", "clang", "clang++", "c++", "rustc", "ld", "as":
		return tool{longDash: true, values: "-o -I -L -l -x -D -U -include -MF -MT -MQ -T -isystem -arch -target -Xlinker"}
	case "tmux", "screen", "byobu", "byobu-tmux", "byobu-screen", "tmate":
		return tool{sub: true, values: "-L -S -f -t -s -n -c -x -y -F"}
	case "vim", "vi", "nvim", "emacs", "nano", "code", "ed", "ex", "view", "pico", "micro", "hx", "kate", "gedit":
		return tool{values: "-c -S -u -T -i -o --cmd --eval --load -l"}
	case "tcpdump", "nc", "ncat", "netcat", "socat":
		return tool{values: "-p -w -s -i -e -c -X -x -q -O -P -V -r --exec --sh-exec --lua-exec --source-port"}
	case "ansible", "ansible-playbook":
		return tool{values: "-i -m -a -u -e -l -t -f -M --inventory --module-name --args --user --extra-vars --limit --tags --skip-tags --forks --vault-password-file --private-key --become-user"}
	}
	return tool{}
}

// hasWord reports whether list, words between single blanks, holds word.
func hasWord(list, word string) bool {
	if word == "" {
		return false
	}
	for i := 0; i <= len(list)-len(word); {
		j := strings.Index(list[i:], word)
		if j < 0 {
			return false
		}
		j += i
		end := j + len(word)
		if (j == 0 || list[j-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		i = j + 1
	}
	return false
}

// gitValues are the options of a git subcommand whose value is the next word.
func gitValues(sub string) string {
	switch sub {
	case "commit":
		return "-m -F -C -c -t --message --file --reuse-message --reedit-message --author --date --template --fixup --squash --cleanup --trailer --pathspec-from-file"
	case "checkout":
		return "-b -B --orphan --conflict --pathspec-from-file"
	case "switch":
		return "-c -C --create --force-create --orphan --conflict"
	case "restore":
		return "-s --source --conflict --pathspec-from-file"
	case "branch":
		return "-u --set-upstream-to --contains --no-contains --merged --no-merged --points-at --sort --format"
	case "push":
		return "-o --push-option --repo --receive-pack --exec"
	case "fetch", "pull":
		return "-o -j -s -X --depth --deepen --shallow-since --shallow-exclude --upload-pack --refmap --server-option --jobs --strategy --strategy-option"
	case "clone":
		return "-b -o -u -c -j --branch --origin --depth --reference --template --config --upload-pack --separate-git-dir --shallow-since --filter --jobs --reference-if-able --server-option"
	case "merge", "rebase", "cherry-pick", "revert":
		return "-m -F -s -X -x --message --file --strategy --strategy-option --onto --exec --into-name --mainline --cleanup --whitespace"
	case "stash":
		return "-m --message --pathspec-from-file"
	case "tag":
		return "-m -F -u --message --file --local-user --sort --format --contains --no-contains --merged --no-merged --points-at --cleanup"
	case "log", "show", "diff", "shortlog", "blame", "whatchanged", "rev-list", "reflog":
		return "-n -S -G -L -O -U -l --max-count --skip --author --committer --grep --since --until --after --before --format --pretty --date --output --diff-filter --word-diff-regex"
	case "clean":
		return "-e --exclude"
	case "worktree":
		return "-b -B --reason --expire"
	case "config":
		return "-f --file --blob --type --default --comment --value --fixed-value"
	case "reset":
		return "--pathspec-from-file"
	case "submodule":
		return "-b --branch --name --reference --depth --jobs"
	case "remote":
		return "-t -m --mirror"
	case "notes":
		return "-m -F -C -c --ref --message --file"
	case "filter-branch":
		return "-d --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter --subdirectory-filter --original --setup --state-branch"
	case "grep":
		return "-e -f -m -A -B -C -O --max-depth --threads --max-count"
	case "archive":
		return "-o --output --format --prefix --remote --exec --add-file"
	case "bisect", "apply", "am":
		return "-p -C --directory --exclude --include --whitespace --patch-format"
	case "gc", "prune":
		return "--expire"
	case "format-patch", "send-email":
		return "-o -n -v --output-directory --to --cc --from --subject --subject-prefix --smtp-server"
	case "ls-files", "ls-tree":
		return "-x -X --exclude --exclude-from --exclude-per-directory --format --with-tree"
	case "update-ref":
		return "-m"
	case "difftool", "mergetool":
		return "-t -x --tool --extcmd"
	}
	return ""
}

// dockerValues are the same for docker.
func dockerValues(sub string) string {
	const run = "-a -c -e -h -l -m -p -u -v -w --add-host --annotation --attach --blkio-weight --cap-add --cap-drop --cgroup-parent --cgroupns --cidfile --cpus --cpuset-cpus --cpu-shares --device --dns --entrypoint --env --env-file --expose --gpus --group-add --health-cmd --hostname --ip --ipc --isolation --label --link --log-driver --log-opt --mac-address --memory --memory-swap --mount --name --net --network --network-alias --pid --pids-limit --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs --ulimit --user --userns --uts --volume --volumes-from --workdir --detach-keys"
	switch sub {
	case "run", "create", "exec", "container":
		return run
	case "build", "buildx", "image":
		return "-f -t -o --file --tag --build-arg --target --platform --cache-from --cache-to --label --network --output --progress --secret --ssh --builder --filter --format"
	case "compose":
		return "-f -p -t --file --project-name --profile --env-file --project-directory --timeout --scale --rmi --index"
	case "logs":
		return "-n --tail --since --until"
	case "stop", "restart":
		return "-t -s --time --timeout --signal"
	case "ps", "images", "volume", "network", "system", "inspect":
		return "-f -n --filter --format --type --driver -d --opt -o --label --subnet --gateway"
	}
	return "--filter --format"
}
