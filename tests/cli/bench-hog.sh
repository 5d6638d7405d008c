#!/usr/bin/env bash
# A run at 10 Gbit/s on a machine whose other processor is kept busy: invalid, or slowed, but never a
# verdict on the link. The job is one that a true link would carry with room to spare, so that
# exit status 1 would blame the link for the machine. Prints a table; two minutes.
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
workload: {strategy: data-parallel, parameters: 200 M, step: 1 s}
transport: {connections: 4, slow_start_after_idle: false}
run: {steps: 8, warmup: 1}
calibration: short
YAML
# What the plan says of a true link, less a tenth.
limit=$("$NARROWLINK" run -q "$work/job.yaml" --engine model --out "$work/model" >/dev/null &&
	python3 -c 'import json, sys; print(round(90 * json.load(open(sys.argv[1]))["cases"][0]["useful_work"]))' \
		"$work/model/run.json")
hogs=
for i in $(seq $(($(nproc) - 1))); do
	(exec sh -c 'while :; do :; done') &
	hogs="$hogs $!"
done

bad=0
echo "hogs  dilation asked  status  dilation  useful work (expected >= $limit %)  because"
for dilation in 1 auto; do
	status=0
	"$NARROWLINK" run -q "$work/job.yaml" --set dilation=$dilation --set "expect.useful_work=>= $limit %" \
		--out "$work/$dilation" >"$work/$dilation.out" 2>&1 || status=$?
	python3 - "$work/$dilation/run.json" $dilation $status "$(wc -w <<<"$hogs")" <<'PY' || bad=1
import json, sys
run = json.load(open(sys.argv[1]))
c, asked, status = run["cases"][0], sys.argv[2], int(sys.argv[3])
print(f"{sys.argv[4]:4}  {asked:14}  {status:6}  {run['dilation']:8g}  {100 * c['useful_work']:10.1f} %  {c['because']}")
# slowed until it fits, or found to be what the machine cannot do; a run that holds was carried
sys.exit(status not in (0, 4))
PY
done
exit $bad
