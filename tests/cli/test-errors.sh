#!/usr/bin/env bash
# Wrong command lines and what needs no rights: exit status, and what the message says.
. "$(dirname "$0")/tap.sh"

small_scenario 3 >"$work/good.yaml"
sed 's|20 Mbit/s|20 Gbps|' "$work/good.yaml" >"$work/gbps.yaml"

command=("$NARROWLINK")
check "no command: usage, status 2" expect 2 'Usage: narrowlink COMMAND'
command=("$NARROWLINK" --help)
check "--help: status 0, with an example" expect 0 'narrowlink run scenarios'
command=("$NARROWLINK" --version)
check "--version" expect 0 '^narrowlink [0-9]+\.[0-9]+\.[0-9]+ '
command=("$NARROWLINK" rum)
check "unknown command is named" expect 2 "no command 'rum'"
for name in run check profiles doctor report; do
	command=("$NARROWLINK" $name --help)
	check "$name --help" expect 0 "Usage: narrowlink $name"
	command=("$NARROWLINK" $name --frobnicate)
	check "$name refuses an unknown option" expect 2 "narrowlink $name --help"
done
command=("$NARROWLINK" run)
check "run without a file" expect 2 'give one scenario file'
command=("$NARROWLINK" check "$work/missing.yaml")
check "a missing file is named" expect 2 'missing.yaml'
command=("$NARROWLINK" run "$work/gbps.yaml" --out "$work/never")
check "Gbps: file, line and what to write" expect 2 'gbps.yaml:6:' 'Gbit/s'
check "and nothing is created" test ! -e "$work/never"
command=("$NARROWLINK" run "$work/good.yaml" --engine warp)
check "an engine that does not exist" expect 2 'no such engine'
command=("$NARROWLINK" run "$work/good.yaml" --set nonsense)
check "--set without =" expect 2 'KEY=VALUE'
command=("$NARROWLINK" check "$work/good.yaml" --set links.wan.rate=5)
check "--set with a wrong value names it" expect 2 'links.wan.rate'
command=("$NARROWLINK" check "$work/good.yaml")
check "check prints the plan" expect 0 'rate needed' 'bound: R >='
command=("$NARROWLINK" check --json "$work/good.yaml")
check "check --json is JSON" bash -c '"$@" | python3 -m json.tool' - "${command[@]}"
command=("$NARROWLINK" profiles)
check "profiles with sources" expect 0 'geo-1g' 'source:'
command=("$NARROWLINK" profiles --json)
check "profiles --json is JSON" bash -c '"$@" | python3 -m json.tool' - "${command[@]}"
command=("$NARROWLINK" report "$work")
check "report of what is no run folder" expect 2 'run.json'
check "output that cannot be written" bash -c '! "$1" profiles >/dev/full' - "$NARROWLINK"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir "$work/home"
	chmod 755 "$work"
	chown 65534 "$work/home"
	command=(setpriv --reuid 65534 --regid 65534 --clear-groups env -C "$work/home" "$NARROWLINK" check "$work/good.yaml")
	check "check needs no root" expect 0 'rate needed'
fi
finish
