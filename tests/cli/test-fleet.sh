# A fleet from file to verdict: no rights, the same bytes again, goodput near the closed formula.
. "$SOURCE/tests/cli/tap.sh"

cat >"$work/fleet.yaml" <<'YAML'
narrowlink: 1
fleet: {chips: 100 k, mtbf: 365 d, repair: 100 s, seeds: 5, duration: 5 d}
expect: {goodput: ">= 70 %"}
YAML
cd "$work" || exit 1

same_bytes() {
	local dir
	for dir in a b; do
		mkdir "$dir" && (cd "$dir" && "$NARROWLINK" run ../fleet.yaml -q --out out >table) || return 1
	done
	cmp a/out/run.json b/out/run.json
}

# 1/(1 + n l r), n l r = 100000 * 100 / 31536000 = 0.317098
is_formula() {
	python3 - "$1" <<'PY'
import json, sys
case = json.load(open(sys.argv[1]))["cases"][0]
fleet = case["fleet"]
assert abs(fleet["goodput"]["mean"] - 0.759245) < 0.005, fleet["goodput"]
assert len(fleet["goodput"]["values"]) == 5 and fleet["goodput"]["p5"] <= fleet["goodput"]["p95"]
assert abs(fleet["goodput"]["predicted"] - 0.759245) < 1e-6
assert abs(sum(fleet["shares"].values()) - 1) < 1e-12, fleet["shares"]
assert case["verdict"] == "holds" and case["useful_work"] == fleet["goodput"]["mean"]
PY
}

# Of each kind of chart one, where gnuplot is there; none of what a fleet has not.
charts() {
	"$NARROWLINK" run fleet.yaml -q --out many --set fleet.seeds=3 \
		--set matrix="{fleet.elastic: [false, true], fleet.chips: [50 k, 100 k]}" || return 1
	[ -e many/charts/wire-1.gp ] && return 1
	grep -q "Over the seeds" many/report.html && ! grep -q "Busiest link" many/report.html || return 1
	command -v gnuplot >/dev/null || return 0
	[ -s many/charts/goodput.svg ] && [ -s many/charts/shares.svg ] && [ -s many/charts/spread-4.svg ]
}

undecided() {
	"${command[@]}" | grep "more seeds would decide"
}

check "the same scenario and seed: the same bytes" same_bytes
check "goodput is the formula's" is_formula a/out/run.json
check "charts and report of a fleet" charts
command=(cat a/table)
check "a table of goodput and uptime" expect 0 'goodput .*uptime' '^fleet +holds +7[56]\.. %'
command=("$NARROWLINK" run fleet.yaml -q --set expect.goodput=">= 80 %" --set fleet.seeds=2)
check "a fleet that fails" expect 1 'goodput 7.*expected >= 80.0 %'
command=("$NARROWLINK" run fleet.yaml -q --seed 9 --set expect.goodput=">= 75.9 %" --set fleet.duration="1 d")
check "what a few seeds do not decide is said" undecided
command=("$NARROWLINK" run fleet.yaml --engine relay)
check "no relay for a fleet" expect 2 'a fleet has no links to carry; write auto or model'
command=("$NARROWLINK" run fleet.yaml -q --engine model --out model)
check "--engine model" expect 0 'report: model/report.html'
command=("$NARROWLINK" run fleet.yaml --dilation 2)
check "no dilation of a fleet" expect 2 '"dilation" is of no use to a fleet'
command=("$NARROWLINK" check fleet.yaml)
check "check prints the formulas" expect 0 'goodput +75.92 %' '1/\(1 \+ r/m\) +75.92 %'
command=("$NARROWLINK" check fleet.yaml --json)
check "check --json is JSON" bash -c '"$@" | python3 -m json.tool' - "${command[@]}"
command=("$NARROWLINK" check fleet.yaml --set fleet.checkpoint="{every: 15 min, cost: 60 s}" --set fleet.chips=4380)
check "check: Young's and Daly's interval for 60 s at 2 h" expect 0 'Young.* 15.4 min' 'Daly +14.8 min'
finish
