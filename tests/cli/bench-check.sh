#!/usr/bin/env bash
# How long `check` takes, start of the program included: the median of 21 runs, in ms; at most 50.
set -euo pipefail

for file in "$SOURCE"/scenarios/claim/eight-sites-0.84g.yaml "$SOURCE"/scenarios/compare/four-strategies.yaml; do
	for _ in $(seq 21); do
		start=$(date +%s%N)
		"$NARROWLINK" check "$file" >/dev/null
		echo $((($(date +%s%N) - start) / 1000))
	done | sort -n | awk -v name="${file##*/}" 'NR == 11 { printf "check %s: %.1f ms\n", name, $1 / 1000; exit $1 > 50000 }'
done
