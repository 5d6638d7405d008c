/* What is read of libiperf's JSON: hand-made texts in its format. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "emu/measure/flow.h"
#include "tests/test.h"

static const struct flow_spec spec = {.settle_ns = 200 * NS_PER_MS, .measure_ns = 300 * NS_PER_MS};

/* 0.1 s intervals of 1, 2, 3, 4, 5, 6 and 7 million bytes. */
static const char *server_json(void)
{
	static char text[4096];
	int n = snprintf(text, sizeof text, "{\"intervals\":[");

	for (int i = 0; i < 7; i++)
		n += snprintf(text + n, sizeof text - (size_t)n,
			"%s{\"sum\":{\"start\":%.6f,\"end\":%.6f,\"bytes\":%d}}", i ? "," : "",
			i / 10., (i + 1) / 10., (i + 1) * 1000000);
	snprintf(text + n, sizeof text - (size_t)n, "],\"end\":{}}");
	return text;
}

static const char client_json[] =
	"{\"start\":{\"version\":\"iperf 3.12\"},\"end\":{\"sum_sent\":"
	"{\"bits_per_second\":5e8,\"retransmits\":7},\"sum_received\":{\"bits_per_second\":1}}}";

static void reads_the_receiver(void **state)
{
	struct flow_result r;
	struct error err = {0};

	assert_int_equal(flow_read(server_json(), client_json, &spec, &r, &err), 0);
	assert_near(r.seconds, 0.3, 1e-6); /* the third, fourth and fifth interval */
	assert_near(r.received_bps, (3e6 + 4e6 + 5e6) * 8 / 0.3, 1);
	assert_near(r.sent_bps, 5e8, 0);
	assert_near(r.retransmits, 7, 0);
	assert_string_equal(r.version, "iperf 3.12");
}

static void refuses(const char *server, const char *client, const char *what)
{
	struct flow_result r;
	struct error err = {0};

	assert_true(flow_read(server, client, &spec, &r, &err) < 0);
	assert_int_equal(err.status, STATUS_MACHINE);
	if (!strstr(err.text, what))
		fail_msg("\"%s\" does not say \"%s\"", err.text, what);
	assert_null(strchr(err.text, '\n'));
}

static void errors_are_one_line(void **state)
{
	refuses("{", client_json, "the receiving libiperf: not JSON");
	refuses(server_json(), "", "the sending libiperf: not JSON");
	refuses("{\"error\":\"unable to start listener\"}", client_json,
		"unable to start listener");
	refuses(server_json(), "{\"error\":\"control socket has closed\"}",
		"the sending libiperf: control socket has closed");
	refuses("{\"intervals\":[]}", client_json, "no interval");
	refuses("{\"intervals\":[{\"sum\":{\"start\":0.2,\"end\":0.3,\"bytes\":null}}]}",
		client_json, "no interval");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_receiver),
		cmocka_unit_test(errors_are_one_line),
	};

	return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
