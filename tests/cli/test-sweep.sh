#!/usr/bin/env bash
# seek and sweep as a user runs them: results, every refusal, a kill in the middle, Open MPI.
. "$(dirname "$0")/tap.sh"
cd "$work" || exit 1
unset "${!OMPI_@}" "${!PMI_@}" "${!SLURM_@}"

small_scenario 6 >small.yaml
{ small_scenario 6; cat <<YAML; } >matrix.yaml
matrix:
  workload.strategy: [data-parallel, diloco, decoupled-diloco]
  links.wan.rate: [10 Mbit/s, 20 Mbit/s, 50 Mbit/s, 100 Mbit/s, 200 Mbit/s, 500 Mbit/s]
  workload.outer.bits: [4 bit, 8 bit]
YAML
good=(--find links.wan.rate --for 'useful_work >= 60 %')

command=("$NARROWLINK" seek small.yaml "${good[@]}" --max '1 Gbit/s')
check "a seek finds a rate" expect 0 'smallest links.wan.rate' 'bit/s is enough, with useful_work'
check "and draws it" test -s results/seeks/small-links.wan.rate/charts/seek.svg
command=("$NARROWLINK" seek small.yaml "${good[@]}" --json)
check "seek --json is JSON, and the file" bash -c '"$@" >printed && cmp printed results/seeks/small-links.wan.rate/seek.json && python3 -m json.tool results/seeks/small-links.wan.rate/seek.json' - "${command[@]}"
command=("$NARROWLINK" seek small.yaml "${good[@]}" --max '2 Mbit/s')
check "no solution: status 1, how much is missing" expect 1 'even at 2 Mbit/s .*points short'
command=("$NARROWLINK" seek small.yaml --find workload.outer.bits --for 'useful_work >= 1 %' --set workload.strategy=data-parallel)
check "a key that nothing uses" expect 0 'nothing in this case uses `workload.outer.bits`'
command=("$NARROWLINK" seek small.yaml --find links.wan.rat --for 'useful_work >= 90 %')
check "a key that does not exist: the nearest" expect 2 'did you mean links.wan.rate'
command=("$NARROWLINK" seek small.yaml --find workload.strategy --for 'useful_work >= 90 %')
check "a key without a number" expect 2 'holds no number'
command=("$NARROWLINK" seek small.yaml --find links.wan.rate)
check "seek without --for" expect 2 '--for'
command=("$NARROWLINK" seek small.yaml --for 'useful_work >= 90 %')
check "seek without --find" expect 2 '--find KEY'
command=("$NARROWLINK" seek "${good[@]}")
check "seek without a file" expect 2 'one scenario file'
command=("$NARROWLINK" seek small.yaml --find links.wan.rate --for 'useful_wrk >= 90 %')
check "an unknown metric" expect 2 '--for: unknown metric .*did you mean "useful_work"'
command=("$NARROWLINK" seek small.yaml "${good[@]}" --tolerance 0.5)
check "a tolerance without its unit" expect 2 '--tolerance 0.5'
command=("$NARROWLINK" seek small.yaml "${good[@]}" --tolerance '90 %')
check "a tolerance out of range" expect 2 '--tolerance 90 %: from'
command=("$NARROWLINK" seek small.yaml "${good[@]}" --min 5)
check "a bound without its unit" expect 2 '--min 5'
command=("$NARROWLINK" seek matrix.yaml --find links.wan.delay --for 'useful_work >= 90 %')
check "seek of a matrix" expect 2 'sweep --find'
command=("$NARROWLINK" seek missing.yaml "${good[@]}")
check "seek of a missing file" expect 2 'missing.yaml'
command=("$NARROWLINK" seek small.yaml "${good[@]}" --out small.yaml/x)
check "a folder below a file" expect 2 'is a file'

command=("$NARROWLINK" sweep matrix.yaml --out one --jobs 2)
# 36 cases; bits mean nothing to data-parallel: 6 pairs are one
check "a sweep computes each distinct case" expect 0 '36 cases, 30 distinct; computed 30, finished before 0' 'nothing in the cases of data-parallel uses `workload.outer.bits`'
check "and draws its chart" test -s one/charts/bandwidth.svg
check "a file per case" test "$(ls one/cases/*.json | wc -l)" -eq 30
check "again: nothing is computed" expect 0 'computed 0, finished before 30'
check "no colour in a pipe" bash -c '! "$@" | grep -q "$(printf "\033")"' - "${command[@]}"
command=("$NARROWLINK" sweep matrix.yaml --out one --json)
check "sweep --json is sweep.json" bash -c '"$@" 2>/dev/null >printed && cmp printed one/sweep.json && python3 -m json.tool one/sweep.json' - "${command[@]}"
check "the CSV has a line per case, all as long" bash -c 'python3 -c "
import csv
rows = list(csv.reader(open(\"one/sweep.csv\")))
assert len(rows) == 37 and len(set(map(len, rows))) == 1, rows[0]
"'
command=("$NARROWLINK" sweep matrix.yaml --set links.wan.rate='20 Mbit/s')
check "the default folder is the scenario's" expect 0 'results/sweeps/matrix/sweep.json'
command=("$NARROWLINK" sweep matrix.yaml --set links.wan.rate='20 Mbit/s' "${good[@]}")
check "each case a seek" expect 0 'results/sweeps/matrix-links.wan.rate' 'decoupled-diloco, 4 bit +.*bit/s +found'
for wrong in "--jobs 0|--jobs 0" "--jobs 2x|--jobs 2x" "--engine relay|a sweep runs on the model" \
	"--find links.wan.delay|belong together" "--largest|belong to --find" "--frobnicate|no option"; do
	# shellcheck disable=SC2206
	command=("$NARROWLINK" sweep matrix.yaml ${wrong%|*})
	check "sweep ${wrong%|*} is refused" expect 2 "${wrong#*|}"
done
command=("$NARROWLINK" sweep matrix.yaml "${good[@]}")
check "seeking what the matrix varies" expect 2 'the matrix varies this key'
command=(env OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=4 "$NARROWLINK" sweep matrix.yaml)
check "a rank past the size names its variable" expect 2 'OMPI_COMM_WORLD_RANK=4'
command=(env PMI_RANK=1 "$NARROWLINK" sweep matrix.yaml)
check "one of a pair names the other" expect 2 'PMI_SIZE is not'

# Killed at random moments (a fixed seed) until it is through: no case is computed twice, as a
# finished one's file keeps its time.
killed() {
	RANDOM=99
	local kills=0 done_before
	for _ in $(seq 40); do
		"$NARROWLINK" sweep -q matrix.yaml --out killed --jobs 2 >killed.out 2>&1 &
		local pid=$!
		sleep "0.0$((RANDOM % 9 + 1))"
		kill -KILL $pid 2>/dev/null && kills=$((kills + 1))
		wait $pid 2>/dev/null
		done_before=$(ls killed/cases/*.json 2>/dev/null | wc -l)
		for file in killed/cases/*.json; do
			[ -e "$file" ] || continue
			python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$file" || return 1
		done
		[ "$done_before" -ge 10 ] && break
	done
	stat -c '%n %i' killed/cases/*.json >killed.before
	"$NARROWLINK" sweep matrix.yaml --out killed >killed.out || return 1
	cat killed.out
	grep -q "computed $((30 - done_before)), finished before $done_before" killed.out || return 1
	stat -c '%n %i' killed/cases/*.json | grep -Fxf killed.before | cmp - killed.before || return 1
	[ $kills -gt 0 ] && cmp killed/sweep.json one/sweep.json
}
check "killed and begun again: finished cases stay, the result is the same" killed

one_by_one() {
	local rank
	for rank in 0 1 2; do
		env SLURM_PROCID=$rank SLURM_NTASKS=3 "$NARROWLINK" sweep -q matrix.yaml --out slurm || return 1
	done
	cmp slurm/sweep.json one/sweep.json
}
check "three tasks of srun, the last one merges" one_by_one

open_mpi() {
	mpirun -np 4 --allow-run-as-root --oversubscribe "$NARROWLINK" sweep -q matrix.yaml --out mpi >mpi.out 2>&1
	local status=$?
	cat mpi.out
	[ $status -eq 0 ] || return 1
	[ "$(grep -c 'Open MPI, process [1-4] of 4' mpi.out)" -eq 4 ] || return 1
	# each case once: the parts add up, and nobody found another's work in its own part
	[ "$(grep -o 'computed [0-9]*' mpi.out | awk '{ n += $2 } END { print n }')" -eq 30 ] || return 1
	[ "$(grep -c 'finished before 0' mpi.out)" -eq 4 ] || return 1
	cmp mpi/sweep.json one/sweep.json && cmp mpi/sweep.csv one/sweep.csv && diff -r mpi/cases one/cases
}
if command -v mpirun >/dev/null; then
	check "mpirun -np 4: each case once, the same result as alone" open_mpi
else
	number=$((number + 1))
	echo "ok $number - mpirun # SKIP Open MPI is not installed"
fi
finish
