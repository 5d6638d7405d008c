#!/usr/bin/env bash
# shape and clear as a user meets them: what is refused, what is printed, and, on a kernel that has
# netem, a device that is shaped, ended and killed. Everything is in a network namespace of its own.
. "$(dirname "$0")/tap.sh"

if [ -z "${ISOLATED:-}" ]; then
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	ISOLATED=1 exec unshare --net bash "$0"
fi
unset SSH_CONNECTION

ip link add v0 index 77 type veth peer name v1 || skip_all "no veth here"
ip link set v0 up gso_max_segs 65535
ip link set v1 up
tc qdisc add dev v0 root handle 1: pfifo limit 4711
before=$(tc qdisc show; ip -d link show v0)
link='rate: 20 Mbit/s, delay: 40 ms, queue: 100 ms, loss: 0.1 %'

as_before() {
	local now
	now=$(tc qdisc show; ip -d link show v0)
	[ "$now" = "$before" ] || diff <(echo "$before") <(echo "$now")
}

refused() { # NAME STATUS PATTERN OPTIONS...
	local name=$1 status=$2 pattern=$3
	shift 3
	command=(timeout 20 "$NARROWLINK" shape "$@")
	check "$name" expect "$status" "$pattern"
}

without_netem() {
	refused "no link" 2 'it needs --link' v0
	refused "no device" 2 'it takes one device' --link geo-1g
	refused "a device that is not there" 2 'there is no device "v7"; there are: .*v0' v7 --link geo-1g
	refused "a profile that is not there" 2 'there is no link "geo-3g"; did you mean' v0 --link geo-3g
	refused "a rate that is none" 2 '^narrowlink: --link:1:8: "5 Gbps": write "5 Gbit/s"' \
		v0 --link 'rate: 5 Gbps, delay: 5 ms'
	refused "a link without a rate" 2 '"rate" is missing' v0 --link '{delay: 5 ms}'
	refused "a key that is not there" 2 'unknown key "dealy" in link; did you mean "delay"' \
		v0 --link 'rate: 1 Gbit/s, dealy: 5 ms'
	refused "a prefix that is none" 2 '^narrowlink: --to "10.0.0.0/33"' v0 --link geo-1g --to 10.0.0.0/33
	refused "a lease that is none" 2 '^narrowlink: --for "10"' v0 --link geo-1g --for 10
	refused "a lease of no time" 2 'a lease is longer' v0 --link geo-1g --for '0 s'
	refused "an option that is not there" 2 'there is no option --fast' v0 --link geo-1g --fast
	command=("$NARROWLINK" clear)
	check "clear takes a device" expect 2 'it takes one device'
	command=("$NARROWLINK" clear v7)
	check "clear of a device that is not there" expect 2 'there is no device "v7"'

	ip addr add 10.0.0.1/24 dev v0
	ip route add default via 10.0.0.2
	refused "the default route" 2 'v0 carries the default route: .*--yes and a lease' v0 --link geo-1g
	refused "the default route without a lease" 2 'carries the default route' v0 --link geo-1g --yes
	refused "the default route without --yes" 2 'carries the default route' v0 --link geo-1g --for '1 s'
	ip route del default
	SSH_CONNECTION='10.0.0.2 4711 10.0.0.1 22' refused "the SSH session" 2 \
		'v0 carries your SSH session from 10\.0\.0\.2:' v0 --link geo-1g
	SSH_CONNECTION='10.0.0.2 4711 10.0.0.1 22' check "the SSH session, behind sudo" \
		bash -c "env -u SSH_CONNECTION '$NARROWLINK' shape v0 --link geo-1g 2>&1 | grep 'SSH session'"
	ip addr flush dev v0

	command=(setpriv --reuid 65534 --regid 65534 --clear-groups "$NARROWLINK" shape v0 --link "$link")
	check "no rights" expect 3 'run as root or with CAP_NET_ADMIN'
	check "no rights, and nothing has changed" as_before
	command+=(--ingress --to 10.0.0.0/8 --dry-run)
	check "a dry run needs none" expect 0 \
		'^tc qdisc replace dev v0 root handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1$' \
		'^tc filter add dev v0 parent 2: protocol ip prio 1 u32 match ip dst 10\.0\.0\.0/8 flowid 2:1$' \
		'^tc qdisc add dev v0 parent 2:1 handle 3: netem limit 2147483647 delay 40ms loss 0\.1%$' \
		'^tc qdisc add dev v0 parent 3:1 handle 4: tbf rate 20mbit burst 25000 limit 250000$' \
		'^ip link set dev v0 gso_max_segs 1$' '^ip link add ifb-nl77 up txqueuelen 1000 type ifb$' \
		'^tc qdisc replace dev ifb-nl77 root handle 1: netem limit 2147483647 delay 40ms loss 0\.1%$' \
		'^tc qdisc add dev v0 handle ffff: ingress$' \
		'^tc filter add dev v0 parent ffff: protocol ip prio 1 u32 match ip src 10\.0\.0\.0/8 action mirred egress redirect dev ifb-nl77$'
	command=("$NARROWLINK" shape v0 --link "$link" --dry-run)
	check "a dry run of all that leaves" expect 0 \
		'^tc qdisc replace dev v0 root handle 2: netem limit 2147483647 delay 40ms loss 0\.1%$' \
		'^tc qdisc add dev v0 parent 2:1 handle 3: tbf rate 20mbit burst 25000 limit 250000$'
	check "a dry run changes nothing" as_before
}

without_module() {
	refused "no module" 3 'no sch_netem \(it says: .*kind is unknown' v0 --link "$link"
	check "no module, and nothing has changed" as_before
	refused "no module for incoming packets" 3 'modprobe sch_netem' v0 --link "$link" --ingress
	check "no module, and no ifb stays" as_before
}

# Below, few processes are made: they are slow on the kernel that has netem.

shaped() { # begins one in the background, with these options
	: >"$work/shape.out" # not what the one before has said
	"$NARROWLINK" shape v0 "$@" >"$work/shape.out" 2>&1 &
	pid=$!
	for _ in {1..100}; do
		[[ $(<"$work/shape.out") == *"netem 2:"* ]] && return
		sleep 0.1
	done
	return 1
}

ended() { # with this status, and within 2 s all is as it was
	local status=0
	wait "$pid" || status=$?
	[ "$status" -eq "$1" ] || { cat "$work/shape.out"; echo "status $status"; return 1; }
	for _ in {1..20}; do
		as_before >"$work/diff" && return
		sleep 0.1
	done
	cat "$work/diff"
	return 1
}

gone() {
	local status=0 out
	wait "$pid" || status=$?
	out=$(<"$work/shape.out")
	echo "$status: $out"
	[[ $status -eq 3 && $out == *'v0 has gone (the kernel says: No such device)'* ]]
}

says() { # STATUS TEXT COMMAND...
	local want=$1 text=$2 got=0 out
	shift 2
	out=$("$NARROWLINK" "$@" 2>&1) || got=$?
	echo "$got: $out"
	[[ $got -eq $want && $out == *"$text"* ]]
}

with_netem() {
	check "is shaped" shaped --link "$link" --ingress
	check "show tells it" says 0 "v0: netem 2:, shaped by process $pid
  out  {rate: 20 Mbit/s, delay: 40 ms, queue: 250 kB, loss: 0.1 %}" show v0
	check "a second one" says 3 "v0 is shaped already, by process $pid;" shape v0 --link geo-1g
	check "clear ends it" says 0 "v0 is as it was before; process $pid has ended" clear v0
	check "all is as it was" ended 0
	check "is shaped again" shaped --link leo-1g --for '1 h' --json
	kill -9 "$pid"
	check "killed, and all is as it was" ended 137
	check "is shaped for a second" shaped --link "$link" --for '1 s'
	check "the lease is over" ended 0
	check "is shaped once more" shaped --link "$link"
	ip link del v0
	check "the device goes" gone
}

if tc qdisc add dev v1 root netem 2>/dev/null; then
	tc qdisc del dev v1 root
	before=$(tc qdisc show; ip -d link show v0)
	[ -n "${SHORT:-}" ] || without_netem
	with_netem
else
	without_netem
	without_module
fi
finish
