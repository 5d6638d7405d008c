#!/usr/bin/env bash
# Wrong command lines and what needs no rights: exit status, and what the message says.
. "$(dirname "$0")/tap.sh"

small_scenario 3 >"$work/good.yaml"
sed 's|20 Mbit/s|20 Gbps|' "$work/good.yaml" >"$work/gbps.yaml"

# As expect, and there is one line and no more.
once() {
	expect "$@" && [ "$("${command[@]}" 2>&1 | wc -l)" -eq 1 ]
}

command=("$NARROWLINK")
check "no command: usage, status 2" expect 2 'Usage: narrowlink COMMAND'
command=("$NARROWLINK" --help)
check "--help: status 0, with an example" expect 0 'narrowlink run scenarios'
command=("$NARROWLINK" --version)
check "--version" expect 0 '^narrowlink [0-9]+\.[0-9]+\.[0-9]+ '
command=("$NARROWLINK" rum)
check "unknown command is named" expect 2 "no command 'rum'"
for name in run check profiles doctor report published seek sweep; do
	command=("$NARROWLINK" $name --help)
	check "$name --help" expect 0 "Usage: narrowlink $name"
	command=("$NARROWLINK" $name --frobnicate)
	check "$name refuses an unknown option, once" once 2 "no option --frobnicate; .narrowlink $name --help"
	command=("$NARROWLINK" help $name)
	check "help $name" expect 0 "Usage: narrowlink $name"
done
command=("$NARROWLINK" help rum)
check "help of an unknown command" expect 2 "no command 'rum'"
command=("$NARROWLINK" run --out)
check "an option without its value" once 2 '--out needs a value'
command=("$NARROWLINK" run -qx "$work/good.yaml")
check "a short option that does not exist" once 2 'no option -x'
command=("$NARROWLINK" check --json=1 "$work/good.yaml")
check "an option that takes no value" once 2 '--json=1'
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
for name in run check; do
	command=("$NARROWLINK" $name "$work/good.yaml" --dilation 0)
	check "$name: --dilation 0 is called what was written" expect 2 '^narrowlink: --dilation'
done
command=("$NARROWLINK" run "$work/good.yaml" --seed x)
check "--seed that is no number" expect 2 '^narrowlink: --seed'
command=("$NARROWLINK" check "$work/good.yaml" --dilation 3)
check "check --dilation" expect 0 'dilation: 3$'
command=("$NARROWLINK" check "$work/good.yaml")
check "check prints the plan" expect 0 'needed at least' 'bound: R >='
check "the canonical print has no empty texts" bash -c '! "$@" | grep ": \"\"$"' - "${command[@]}"
command=("$NARROWLINK" check --json "$work/good.yaml")
check "check --json is JSON" bash -c '"$@" | python3 -m json.tool' - "${command[@]}"
command=("$NARROWLINK" profiles)
check "profiles with sources" expect 0 'geo-1g' 'source:'
command=("$NARROWLINK" profiles --json)
check "profiles --json is JSON" bash -c '"$@" | python3 -m json.tool' - "${command[@]}"
command=("$NARROWLINK" published --list)
check "published --list: tables with sources" expect 0 'streaming-diloco' 'arXiv 2503.09799'
command=("$NARROWLINK" published web-simulator nowhere)
check "an unknown published table, and those there are" expect 2 '"nowhere"' 'scaling-laws'
command=("$NARROWLINK" published web-simulator decoupled-goodput)
check "published: theirs, ours, ratio" expect 0 'theirs +96.3 +160.8' 'ratio +1.000' '20 cells'
command=("$NARROWLINK" published --json)
check "published --json is JSON" bash -c '"$@" | python3 -m json.tool' - "${command[@]}"
command=("$NARROWLINK" published web-simulator --out "$work/good.yaml/charts")
check "published --out below a file" expect 2 'is a file'
if command -v gnuplot >/dev/null; then
	command=("$NARROWLINK" published web-simulator --out "$work/made/charts")
	check "published --out: charts" expect 0 'charts: '
	check "and they are there" test -s "$work/made/charts/web-simulator.svg"
	check "and the numbers" python3 -m json.tool "$work/made/charts/published.json"
fi
command=("$NARROWLINK" report "$work")
check "report of what is no run folder" expect 2 'run.json' 'name a run.s folder'
command=("$NARROWLINK" report "$work/nodir")
check "report of what is not there" expect 2 'nodir/run.json: No such file' 'name a run.s folder'
check "output that cannot be written" bash -c '! "$1" profiles >/dev/full' - "$NARROWLINK"
for arguments in profiles 'profiles --json' "check $work/good.yaml" --version --help 'run --help'; do
	check "$arguments: standard output is closed" bash -c '"$@" >&-; [ $? -eq 3 ]' - "$NARROWLINK" $arguments
	check "$arguments: standard output is full" bash -c '"$@" >/dev/full; [ $? -eq 3 ]' - "$NARROWLINK" $arguments
done
command=(bash -c '"$@" 3>&1 >&- 2>&3' - "$NARROWLINK" profiles)
check "and it says so" expect 3 'cannot write to standard output: it is closed'
check "all standard files are closed" bash -c '"$@" <&- >&- 2>&-; [ $? -eq 3 ]' - "$NARROWLINK" profiles
check "wrong input is no worse for it" bash -c '"$@" >&-; [ $? -eq 2 ]' - "$NARROWLINK" check "$work/missing.yaml"
check "run leaves its results in the folder: it needs no standard output" bash -c '"$@" >&-' - "$NARROWLINK" run \
	-q "$work/good.yaml" --engine model --out "$work/closed"
check "and they are there" test -s "$work/closed/run.json" -a -s "$work/closed/report.html"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir "$work/home"
	chmod 755 "$work"
	chown 65534 "$work/home"
	command=(setpriv --reuid 65534 --regid 65534 --clear-groups env -C "$work/home" "$NARROWLINK" check "$work/good.yaml")
	check "check needs no root" expect 0 'needed at least'
fi
finish
