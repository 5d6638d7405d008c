#!/usr/bin/env bash
# SIGKILL at 20 random moments (a fixed seed) of set-up, run and tear-down, half of them with the
# links measured before, leaves nothing: no process, no namespace, no device, no sysctl changed. Processes are found by a marker in their
# environment, namespaces by the inodes that the marked processes were seen in.
. "$(dirname "$0")/tap.sh"
need_root

marker=NARROWLINK_KILL_TEST=$$
RANDOM=4242
alive=0
small_scenario 8 >"$work/small.yaml"

marked() {
	grep -lzx "$marker" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

namespaces() {
	local pid
	for pid in $(marked); do
		readlink "/proc/$pid/ns/net" "/proc/$pid/ns/uts" 2>/dev/null
	done | sort -u
}

settings() {
	(cd /proc/sys/net && grep -s . core/[rw]mem_* ipv4/tcp_* ipv4/ip_forward ipv4/ping_group_range \
		ipv6/conf/all/* ipv6/conf/default/*)
	ip -o link show | awk -F': ' '{ print $2 }'
	ls /run/netns 2>/dev/null
}

own=$(readlink /proc/self/ns/net /proc/self/ns/uts)
settings >"$work/before"
check "there are settings to compare" test "$(wc -l <"$work/before")" -gt 50

gone() {
	local spaces i ns
	env "$marker" "$NARROWLINK" run -q "$work/small.yaml" --set "calibration=$3" \
		--out "$work/run-$1" >/dev/null 2>&1 &
	local pid=$!
	sleep "$2"
	kill -0 $pid 2>/dev/null && alive=$((alive + 1))
	spaces=$(namespaces | grep -vF "$own")
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	for i in $(seq 50); do
		[ -z "$(marked)" ] && break
		sleep 0.1
	done
	[ -z "$(marked)" ] || { echo "processes left: $(marked)"; return 1; }
	for ns in $spaces; do
		! readlink /proc/[0-9]*/ns/net /proc/[0-9]*/ns/uts 2>/dev/null | grep -qxF "$ns" ||
			{ echo "namespace left: $ns"; return 1; }
	done
	settings | diff "$work/before" -
}

for i in $(seq 20); do
	[ $((i % 2)) = 0 ] && calibration=short most=6 || calibration=off most=2.5
	moment=$(awk -v r=$RANDOM -v most=$most 'BEGIN { printf "%.3f", r / 32768 * most }')
	check "killed after $moment s, calibration $calibration: nothing is left" \
		gone "$i" "$moment" $calibration
done
check "most of them were hit while they ran: $alive of 20" test $alive -ge 15
finish
