#!/usr/bin/env bash
# One scenario at dilation 1, 2, 4 and 8: the same exchange times within 3 % and the same useful work
# within a point of it at 1? The queue has room for all windows: cubic after a loss does not scale.
# Prints a table; two minutes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/job.yaml" <<'YAML'
narrowlink: 1
title: dilation
seed: 7
sites: {count: 3, link: wan, accelerators: 8}
links:
  wan: {rate: 50 Mbit/s, delay: 15 ms, queue: 150 ms}
core: {delay: 10 ms}
workload:
  strategy: diloco
  parameters: 1250 k
  step: 300 ms
  outer: {period: 3}
transport: {connections: 2, slow_start_after_idle: false}
run: {steps: 9, warmup: 3}
calibration: off
YAML
for k in 1 2 4 8; do
	"$NARROWLINK" run -q "$work/job.yaml" --dilation $k --out "$work/$k" >/dev/null || [ $? -eq 4 ]
done
python3 - "$work" <<'PY'
import json, sys
first, bad = None, 0
print("dilation  exchange p50  difference  useful work  difference  valid")
for k in 1, 2, 4, 8:
    c = json.load(open(f"{sys.argv[1]}/{k}/run.json"))["cases"][0]
    time, work = c["exchange_s"]["p50"], c["useful_work"]
    first = first or (time, work)
    dt, dw = time / first[0] - 1, work - first[1]
    bad += abs(dt) > 0.03 or abs(dw) > 0.01
    print(f"{k:8} {time:11.4f} s {100 * dt:+10.2f} % {100 * work:10.2f} % {100 * dw:+9.2f}   {c['valid']['ok']}")
sys.exit(bad > 0)
PY
