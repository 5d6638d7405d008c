/*
 * The processes that are libiperf, and the only code that calls it.
 *
 * In JSON mode iperf_run_client returns 0 when it failed: i_errno, cleared before, and the JSON's
 * own "error" tell. No window is set, since that would end the kernel's autotuning.
 */
#include "emu/measure/flow.h" /* <stdint.h>, which the library's header wants, comes with it */

#include <iperf_api.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define INTERVAL_S 0.1

static struct iperf_test *new_test(const struct flow *f, char role)
{
	struct iperf_test *test = iperf_new_test();

	if (!test || iperf_defaults(test) < 0)
		return NULL;
	iperf_set_test_role(test, role);
	iperf_set_test_server_port(test, f->spec.port);
	iperf_set_test_json_output(test, 1);
	iperf_set_test_logfile(test, "/dev/null");
	iperf_set_test_stats_interval(test, INTERVAL_S);
	iperf_set_test_reporter_interval(test, INTERVAL_S);
	return test;
}

static int say(int fd, struct iperf_test *test, int r)
{
	const char *json = test ? iperf_get_test_json_output_string(test) : NULL;
	const char *text = json;

	if (!test || r < 0 || i_errno || !json)
		text = i_errno ? iperf_strerror(i_errno) : "it gives no reason";
	for (size_t n = strlen(text); n > 0;) {
		ssize_t done = write(fd, text, n);

		if (done < 0)
			return 1;
		text += done;
		n -= (size_t)done;
	}
	return !test || r < 0 || i_errno || !json;
}

int flow_serve(void *flow, int fd)
{
	struct flow *f = flow;
	struct iperf_test *test = new_test(f, 's');

	i_errno = 0;
	if (test)
		iperf_set_test_bind_address(test, f->to);
	return say(fd, test, test ? iperf_run_server(test) : -1);
}

int flow_send(void *flow, int fd)
{
	struct flow *f = flow;
	const struct flow_spec *s = &f->spec;
	struct iperf_test *test = new_test(f, 'c');

	if (!test)
		return say(fd, test, -1);
	iperf_set_test_server_hostname(test, f->to);
	iperf_set_test_bind_address(test, f->from);
	iperf_set_test_duration(test, (int)ceil((double)(s->settle_ns + s->measure_ns) / NS_PER_S));
	iperf_set_test_num_streams(test, s->streams);
	if (s->udp) {
		set_protocol(test, Pudp);
		iperf_set_test_blksize(test, FLOW_DATAGRAM);
		iperf_set_test_rate(test, (uint64_t)(s->rate_bps / s->streams));
	} else {
		iperf_set_test_zerocopy(test, iperf_has_zerocopy());
		if (*s->congestion)
			iperf_set_test_congestion_control(test, f->spec.congestion);
	}
	i_errno = 0;
	return say(fd, test, iperf_run_client(test));
}
