/*
 * Flows: two processes, a time limit, and what their JSON says; see flow.h.
 *
 * The receiver's intervals are the instrument: those in [settle, settle + measure) of its own
 * time count, so that slow start or a queue that fills does not, and neither does the end.
 */
#include "emu/measure/flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define LISTEN_NS (5 * NS_PER_S) /* a server that is not listening by then has failed */
#define SLACK_NS (5 * NS_PER_S)	 /* for a busy machine */
#define POLL_MS 5

/* Is there a listener at this port in the namespace that the caller is in? */
static bool listening(int port)
{
	_fclose_ FILE *f = fopen("/proc/thread-self/net/tcp", "re");
	char line[256];
	unsigned local, state;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, " %*d: %*x:%x %*x:%*x %x", &local, &state) == 2 &&
			local == (unsigned)port && state == 0x0a)
			return true;
	return false;
}

/* 1 when the server listens, 0 when it does not (yet). */
static int server_listens(const struct flow *f, const struct topology *t, struct error *err)
{
	int left, r = topology_enter(t, f->spec.to, err);

	if (!r)
		r = listening(f->spec.port);
	left = topology_leave(t, err);
	return left < 0 ? left : r;
}

/* Before the server is started nobody may listen there; afterwards it must. */
static int await_server(struct flow *f, const struct topology *t, struct error *err)
{
	int64_t until_ns = clock_now_ns() + LISTEN_NS;
	struct pollfd ended = {.fd = f->server.fd, .events = POLLIN};
	_free_ char *text = NULL;
	int r;

	while ((r = server_listens(f, t, err)) == 0 && clock_now_ns() < until_ns)
		if (poll(&ended, 1, POLL_MS) > 0)
			break;
	if (r > 0)
		return 0;
	if (r < 0)
		return r;
	r = child_finish(
		&f->server, &text, until_ns, f->spec.stop_fd, "the receiving libiperf", err);
	return r < 0 ? r
		     : error_set(err, -EIO, STATUS_MACHINE, "the receiving libiperf ended early");
}

static int refuse_port_in_use(const struct flow *f, const struct topology *t, struct error *err)
{
	int r = server_listens(f, t, err);

	return r <= 0 ? r
		      : error_set(err, -EADDRINUSE, STATUS_MACHINE,
				"libiperf: port %d of site %s is in use", f->spec.port,
				t->sites[f->spec.to].name);
}

int flow_start(
	struct flow *f, const struct topology *t, const struct flow_spec *spec, struct error *err)
{
	int r;

	*f = (struct flow){.spec = *spec};
	inet_ntop(AF_INET, &t->sites[spec->from].address, f->from, sizeof f->from);
	inet_ntop(AF_INET, &t->sites[spec->to].address, f->to, sizeof f->to);
	r = refuse_port_in_use(f, t, err);
	if (!r)
		r = child_start(&f->server, t, spec->to, NULL, flow_serve, f, err);
	if (!r)
		r = await_server(f, t, err);
	if (!r)
		r = child_start(&f->client, t, spec->from, NULL, flow_send, f, err);
	if (r < 0)
		flow_stop(f);
	f->deadline_ns = clock_now_ns() + spec->settle_ns + spec->measure_ns + NS_PER_S +
			 spec->patience_ns + SLACK_NS;
	return r;
}

void flow_stop(struct flow *f)
{
	child_kill(&f->client);
	child_kill(&f->server);
}

static int parse(json_t **out, const char *text, const char *who, struct error *err)
{
	json_error_t at;
	json_t *root = json_loads(text, 0, &at);
	const char *said = json_string_value(json_object_get(root, "error"));

	if (!root)
		return error_set(
			err, -EPROTO, STATUS_MACHINE, "%s libiperf: not JSON: %s", who, at.text);
	if (said) {
		error_set(err, -EIO, STATUS_MACHINE, "%s libiperf: %s", who, said);
		json_decref(root);
		return -EIO;
	}
	*out = root;
	return 0;
}

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const json_t *sum_of(const json_t *root, const char *key)
{
	const json_t *end = json_object_get(root, "end"), *sum = json_object_get(end, key);

	return sum ? sum : json_object_get(end, "sum");
}

static void read_receiver(const json_t *root, const struct flow_spec *spec, struct flow_result *out)
{
	double from = (double)spec->settle_ns / NS_PER_S, bytes = 0;
	double until = from + (double)spec->measure_ns / NS_PER_S;
	const json_t *interval;
	size_t i;

	out->seconds = 0;
	json_array_foreach(json_object_get(root, "intervals"), i, interval)
	{
		const json_t *sum = json_object_get(interval, "sum");
		double start = number(sum, "start"), end = number(sum, "end");
		double in_it = number(sum, "bytes");

		if (!(start >= from - 1e-3) || !(end <= until + 0.05) || isnan(in_it))
			continue;
		bytes += in_it;
		out->seconds += end - start;
	}
	out->received_bps = out->seconds > 0 ? bytes * 8 / out->seconds : NAN;
}

int flow_read(const char *server_json, const char *client_json, const struct flow_spec *spec,
	struct flow_result *out, struct error *err)
{
	struct flow_result result = {0};
	json_t *server = NULL, *client = NULL;
	const char *version;
	int r = parse(&server, server_json, "the receiving", err);

	if (!r)
		r = parse(&client, client_json, "the sending", err);
	if (!r) {
		read_receiver(server, spec, &result);
		result.sent_bps = number(sum_of(client, "sum_sent"), "bits_per_second");
		result.retransmits = number(sum_of(client, "sum_sent"), "retransmits");
		version = json_string_value(
			json_object_get(json_object_get(client, "start"), "version"));
		snprintf(result.version, sizeof result.version, "%.31s", version ? version : "");
		if (isnan(result.received_bps))
			r = error_set(err, -ENODATA, STATUS_MACHINE,
				"libiperf: the receiver has no interval in the time that counts");
	}
	json_decref(server);
	json_decref(client);
	if (!r)
		*out = result;
	return r;
}

int flow_finish(struct flow *f, struct flow_result *out, struct error *err)
{
	_free_ char *server = NULL, *client = NULL;
	const int *stop_fd = f->spec.stop_fd;
	int r = child_finish(
		&f->client, &client, f->deadline_ns, stop_fd, "the sending libiperf", err);

	if (!r)
		r = child_finish(&f->server, &server, f->deadline_ns, stop_fd,
			"the receiving libiperf", err);
	if (!r)
		r = flow_read(server, client, &f->spec, out, err);
	flow_stop(f);
	return r;
}
