#!/usr/bin/env bash
# A run at 10 Gbit/s on a machine whose other processor is kept busy: invalid, or slowed, but never a
# verdict on the link. The link sets the pace of this job, so that the time of its exchanges is the
# link's rate, measured. A run is in order when
#   - it is invalid (4), for a reason that is not the link: no rate that is off; or
#   - it has a verdict, and exchanges took what the model says of a true link, within a tenth. Such a
#     run was carried, slowed or not. Exit status 1 would blame the link for the machine.
# Prints a table; two minutes.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $hogs 2>/dev/null || true; rm -rf "$work"' EXIT

cat >"$work/job.yaml" <<'YAML'
narrowlink: 1
title: hog
seed: 7
sites: {count: 2, link: wan, accelerators: 8}
links:
  wan: {rate: 10 Gbit/s, delay: 2 ms, queue: 20 ms}
core: {delay: 1 ms}
workload: {strategy: data-parallel, parameters: 200 M, step: 150 ms}
transport: {connections: 4, slow_start_after_idle: false}
run: {steps: 8, warmup: 1}
calibration: short
YAML
# What a true link makes of it, less a tenth; and the time of an exchange.
"$NARROWLINK" run -q "$work/job.yaml" --engine model --out "$work/model" >/dev/null
read -r limit exchange < <(python3 - "$work/model/run.json" <<'PY'
import json, sys
c = json.load(open(sys.argv[1]))["cases"][0]
print(round(90 * c["useful_work"]), c["exchange_s"]["p50"])
PY
)
hogs=
for i in $(seq $(($(nproc) - 1))); do
	(exec sh -c 'while :; do :; done') &
	hogs="$hogs $!"
done

bad=0
echo "hogs  dilation asked  status  dilation  exchange (true: $exchange s)  useful work (>= $limit %)  because"
for dilation in 1 auto; do
	status=0
	"$NARROWLINK" run -q "$work/job.yaml" --set dilation=$dilation --set "expect.useful_work=>= $limit %" \
		--out "$work/$dilation" >"$work/$dilation.out" 2>&1 || status=$?
	python3 - "$work/$dilation/run.json" $dilation $status "$(wc -w <<<"$hogs")" "$exchange" <<'PY' || bad=1
import json, math, sys
run = json.load(open(sys.argv[1]))
c, asked, status, true_s = run["cases"][0], sys.argv[2], int(sys.argv[3]), float(sys.argv[5])
took_s = c["exchange_s"]["p50"] or math.nan
off = [k for k in c["fidelity"]["checks"] if k["check"].startswith("rate") and k["result"] == "off"]
print(f"{sys.argv[4]:4}  {asked:14}  {status:6}  {run['dilation']:8g}  {took_s:10.4f} s ({100 * (took_s / true_s - 1):+.1f} %)  "
      f"{100 * c['useful_work']:10.1f} %  {c['because']}")
for k in off:
    print(f"      called slow: {k}")
carried = status == 0 and abs(took_s / true_s - 1) <= 0.1
sys.exit(bool(off) or not (status == 4 or carried))
PY
done
exit $bad
