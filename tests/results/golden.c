/* See golden.h. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

static void fill_case(struct record_case *c)
{
	record_set_value(c, "workload.strategy", "diloco");
	record_set_value(c, "core.delay", "300 ms");
	c->strategy = memory_string("diloco");
	free(c->verdict);
	c->verdict = memory_string("fails");
	c->because = memory_string("Useful work is 71.25 %, below the 90 % expected.");
	record_note(c, "%s exchange did not finish", "one");
	c->wall_s = 100.25;
	c->useful_work = .7125;
	c->compute_utilisation = .75;
	c->availability = 1;
	c->predicted_utilisation = .8;
	record_assume(c, "N", "parameters", "%d B", 12);
	record_need(c, .9, 784e6, 3.75);
	record_exchange(c, 1);
	record_exchange(c, 2);
	record_exchange_summary(c);
	c->exchange_predicted_s = .95;
	c->payload_sent_bytes = c->payload_expected_bytes = 10e6;
	c->framing_bytes = 4096;
	c->idle_rtt_s = .60008;
	c->idle_rtt_expected_s = .6;
	c->lateness_p99_s = .00021;
	c->relay_cpu = .31;
	c->prune_called = 0;
	c->retransmits = 15;
	c->agents_cpu = .5;
	c->softirq = .25;
	c->saturated = 0;
	c->waited = .0625;
	c->window_limited = .125;
	c->buffer_limited = 0;
	c->calibration = memory_string("short");
}

static void fill_lists(struct record_case *c)
{
	struct record_participant *p = record_add_participant(c, "learner-1", "learner", "site-1");
	struct record_wire *w = record_add_wire(c, "site-1", "up");
	struct record_fault *f = record_add_fault(c, "blackout", "site-1");
	struct record_expect *e = record_add_expect(c, "useful_work", ">=");
	struct record_check *k = record_add_check(c, "site-1", "site-2", "one_way_delay");
	struct record_capture *capture = record_add_capture(c, "site-1", "up");

	record_check_result(k, "holds", "");
	k->want = .3;
	k->got = .3125;
	k->low = .29;
	k->high = .32;
	capture->bytes = capture->relay_bytes = 1514;
	capture->packets = capture->kept_packets = 1;
	capture->kernel_drops = 0;
	capture->complete = true;
	p->wall_s = 100.25;
	for (int i = 0; i < STATE_COUNT; i++)
		p->ledger_s[i] = 0;
	p->ledger_s[STATE_COMPUTE] = 75.125;
	p->ledger_s[STATE_EXPOSED_COMM] = 25.125;
	p->steps_useful = 20.5;
	p->steps_lost = 0;
	p->steps_pending = .5;
	w->bytes = 9007199254740992.;
	w->mean_bps = 798004987.531172;
	w->peak_1s_bps = 839999999.5;
	w->limit_bps = 840e6;
	w->packets = 1000;
	w->segments = 6906077;
	w->queue_high_bytes = 5250000;
	w->drop_queue = 3;
	w->drop_random = w->drop_burst = 0;
	w->drop_outage = 12;
	w->lateness_p50_s = 15e-6;
	w->lateness_p99_s = 210e-6;
	w->lateness_max_s = 1300e-6;
	f->at_s = 40;
	f->for_s = 5;
	f->happened = true;
	e->want = .9;
	e->got = .7125;
	e->holds = false;
}

struct record *golden_record(void)
{
	static const char *const argv[] = {"narrowlink", "run", "two sites.yaml"};
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "diloco, 300 ms");

	r->tool_version = memory_string("0.1.0");
	r->kernel = memory_string("6.1.0-18-amd64");
	r->machine = memory_string("x86_64");
	r->cpus = 2;
	r->hz = 250;
	r->argc = 3;
	r->argv = memory_zero(3, sizeof *r->argv);
	for (size_t i = 0; i < r->argc; i++)
		r->argv[i] = memory_string(argv[i]);
	r->seed = UINT64_MAX;
	r->engine = memory_string("relay");
	r->dilation = 1;
	r->title = memory_string("Zwei Standorte \xe2\x80\x94 \"2 \xc3\x97 10 MB\"");
	r->scenario_path = memory_string("two sites.yaml");
	r->started_utc = memory_string("2026-01-31T12:00:00Z");
	r->resolved = memory_string("narrowlink: 1\nseed: 42\n");
	fill_case(c);
	fill_lists(c);
	return r;
}

char *golden_text(size_t *length)
{
	_free_ char *path =
		memory_format("%s/tests/results/golden-run.json", getenv("NARROWLINK_SOURCE"));
	_fclose_ FILE *f = fopen(path, "r");
	char *text = memory_zero(1 << 16, 1);

	if (!f)
		abort();
	*length = fread(text, 1, (1 << 16) - 1, f);
	return text;
}
