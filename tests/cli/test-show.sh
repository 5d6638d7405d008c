#!/usr/bin/env bash
# show: what others set with tc, told as links. Everything is in a network namespace of its own; what
# needs netem is left out on a kernel without it.
. "$(dirname "$0")/tap.sh"

if [ -z "${ISOLATED:-}" ]; then
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	ISOLATED=1 exec unshare --net bash "$0"
fi

ip link add v0 type veth peer name v1 && ip link add ifb-v0 type ifb || skip_all "no veth or ifb here"
ip link set v0 up
ip link set v1 up
ip link set ifb-v0 up

command=("$NARROWLINK" show v0)
check "a device as the kernel has it" expect 0 '^v0: noqueue \(the kernel.s own\)$'
command=("$NARROWLINK" show)
check "nothing is set on any" expect 0 '^nothing is set on any device'
command=("$NARROWLINK" show eth7)
check "a device that is not there" expect 2 'there is no device "eth7"; there are: .*v0'
command=("$NARROWLINK" show v0 v1)
check "two devices are too many" expect 2 'it takes one device, or none'
command=("$NARROWLINK" show --fast)
check "an option that is not there" expect 2 'there is no option --fast'

tc qdisc add dev v0 root handle 7: stab overhead 24 tbf rate 100mbit burst 128kb limit 1mb
command=("$NARROWLINK" show v0)
check "a bucket that tc set" expect 0 '^v0: tbf 7:$' \
	'^  out  \{rate: 100 Mbit/s, queue: 1\.048576 MB, overhead: wire\}$' 'by tbf 7: on v0'
command=("$NARROWLINK" show)
check "is found without a name" expect 0 '^v0: tbf 7:$'

tc qdisc replace dev v0 root handle 8: htb default 20
tc class add dev v0 parent 8: classid 8:10 htb rate 1gbit
tc class add dev v0 parent 8: classid 8:20 htb rate 1gbit
tc qdisc add dev v0 parent 8:10 handle 9: tbf rate 10mbit burst 16kb limit 100kb
tc filter add dev v0 parent 8: protocol ip prio 1 u32 match ip dst 10.0.0.0/9 flowid 8:10
command=("$NARROWLINK" show v0)
check "below a class, and who goes there" expect 0 '^v0: htb 8:$' \
	'^  out  \{rate: 10 Mbit/s, queue: 102\.4 kB\}$' '^       only to 10\.0\.0\.0/9$'
tc filter add dev v0 parent 8: protocol ipv6 prio 2 u32 match ip6 dst 2001:db8::/33 flowid 8:10
check "two filters for a class" expect 0 '^       only class 8:10$'
tc filter del dev v0 parent 8: prio 1
check "an IPv6 prefix" expect 0 '^       only to 2001:db8::/33$'
tc filter del dev v0 parent 8: prio 2
tc filter add dev v0 parent 8: protocol ip prio 3 u32 match ip dport 80 0xffff flowid 8:10
check "a filter that is no prefix" expect 0 '^       only class 8:10$'

tc qdisc add dev ifb-v0 root tbf rate 30mbit burst 32kb limit 200kb
for kind in ingress clsact; do
	tc qdisc add dev v0 $kind
	tc filter add dev v0 parent ffff:fff2 protocol all prio 1 u32 match u32 0 0 \
		action mirred egress redirect dev ifb-v0
	check "what comes in by $kind" expect 0 '^  in   \{rate: 30 Mbit/s, queue: 204\.8 kB\}$' \
		'on ifb-v0$'
	tc filter del dev v0 parent ffff:fff2
	tc filter add dev v0 parent ffff:fff2 protocol ip prio 1 u32 match ip src 10.1.0.0/16 \
		action mirred egress redirect dev ifb-v0
	check "what comes in from a prefix by $kind" expect 0 '^       only from 10\.1\.0\.0/16$'
	tc qdisc del dev v0 $kind
done
tc qdisc replace dev v0 root handle a: pfifo
check "a qdisc that is no link" expect 0 '^v0: pfifo a:$' 'nothing that delays, loses or limits'

json() {
	"$NARROWLINK" show v0 --json | python3 -c "import json, sys
(d,) = json.load(sys.stdin)
assert ($1), d"
}
tc qdisc replace dev v0 root handle 7: tbf rate 100mbit burst 128kb limit 1mb
check "as JSON" json 'd["device"] == "v0" and d["root"] == "tbf 7:" and d["owner_pid"] is None and
	d["ways"][0]["values"] == {"rate_bps": 100000000, "delay_ns": 0, "jitter_ns": 0,
	"queue_bytes": 1048576, "loss": 0, "burst_loss": 0, "burst_length": 1, "overhead_bytes": 14,
	"down": False, "also": ""} and d["ways"][0]["counters"]["sent_packets"] == 0'

if tc qdisc replace dev v0 root handle 1: stab overhead -14 netem delay 300ms 40ms \
	loss gemodel 0.5% 25% 100% 0.01% rate 40gbit duplicate 1% 2>/dev/null; then
	tc qdisc add dev v0 parent 1:1 handle 2: tbf rate 840mbit burst 2mb limit 5250000
	check "netem with a bucket below it" expect 0 \
		'^  out  \{rate: 840 Mbit/s, delay: 300 ms, queue: 5\.25 MB, jitter: 40 ms, loss: 0\.01 %, burst: \{loss: 1\.960784 %, length: 4\}, overhead: ip\}$' \
		'also: queue of 1000 packets, duplicate 1 %' 'by netem 1: and tbf 2: on v0'
	tc qdisc replace dev v0 root handle 3: tbf rate 20mbit burst 32kb limit 1mb
	tc qdisc add dev v0 parent 3:1 handle 4: netem loss 100%
	check "a bucket with netem below it" expect 0 \
		'^  out  \{rate: 20 Mbit/s, queue: 1\.048576 MB, loss: 100 %\}, nothing passes$'
fi
finish
