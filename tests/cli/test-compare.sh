#!/usr/bin/env bash
# narrowlink compare: simulated runs of one scenario are the same, a narrower link is worse.
. "$(dirname "$0")/tap.sh"

small_scenario 12 | sed "s/50 %/30 %/" >"$work/job.yaml"
simulate() {
	"$NARROWLINK" run -q "$work/job.yaml" --engine model --out "$work/$1" "${@:2}" >/dev/null
}
simulate first
simulate again
rate=$(sed -n 's/.*rate: \([0-9.]* .bit.s\).*/\1/p' "$work/first/resolved.yaml" | head -1)
simulate narrow --set links.wan.rate='1 Mbit/s' --set expect.useful_work='>= 0 %'

command=("$NARROWLINK" compare --points 0 --percent 0 "$work/first" "$work/again")
check "the same again: exit 0" expect 0 '^Both were told the same' '^0 of 6 figures worse, by more than 0 points or 0 %'
command=("$NARROWLINK" compare "$work/first" "$work/narrow")
check "a narrower link: exit 1, named" expect 1 "^links.wan.rate *$rate *1 Mbit/s" 'useful_work.* points *worse' \
	'exchange_p99.* % *worse'
command=("$NARROWLINK" compare "$work/narrow" "$work/first/")
check "a wider link: exit 0" expect 0 'useful_work.* points *better' '^0 of 6'
json() {
	"$NARROWLINK" compare --json "$work/first" "$work/narrow" >"$work/compare.json"
	[ $? -eq 1 ] && python3 - "$work/compare.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "narrowlink/compare/1" and d["worse"] and not d["invalid"], d
assert [s["b"] for s in d["settings"] if s["key"] == "links.wan.rate"] == ["1 Mbit/s"], d
f = {x["figure"]: x for x in d["figures"]}["useful_work"]
assert abs(f["b"] - f["a"] - f["change"]) < 1e-9 and f["judged"] == "worse", f
PY
}
check "as JSON" json

command=("$NARROWLINK" compare "$work/first")
check "one folder" expect 2 'give two run folders'
command=("$NARROWLINK" compare "$work/first" "$work/nowhere")
check "no such run: the path" expect 2 "$work/nowhere/run.json: No such file"
mkdir "$work/damaged"
echo '{"schema": 1}' >"$work/damaged/run.json"
command=("$NARROWLINK" compare "$work/damaged" "$work/first")
check "a damaged record" expect 2 "$work/damaged/run.json"
for wrong in x -1 101 '' 1% nan; do
	command=("$NARROWLINK" compare --points "$wrong" "$work/first" "$work/again")
	check "--points '$wrong'" expect 2 'a number from 0 to 100'
done
command=("$NARROWLINK" compare --percent inf "$work/first" "$work/again")
check "--percent inf" expect 2 'a number from 0 to 100'
command=("$NARROWLINK" compare --what "$work/first" "$work/again")
check "an option it has not" expect 2 'there is no option --what'
python3 - "$work/first/run.json" "$work/damaged/run.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["cases"][0]["verdict"] = "invalid"
d["cases"][0]["because"] = "the relay was late"
json.dump(d, open(sys.argv[2], "w"))
PY
command=("$NARROWLINK" compare "$work/first" "$work/damaged")
check "an invalid run says nothing: exit 4" expect 4 'is invalid: the relay was late' 'not every case was a valid run'
finish
