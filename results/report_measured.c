/*
 * What was measured or simulated in one case, and how far the measurement can be believed.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "results/charts.h"
#include "results/html.h"
#include "results/report_parts.h"
#include "results/show.h"

#define ROWS_SHOWN 20 /* a longer table is folded */

/* A number's cell. A ring of buffers, so that a row can be made in one call. */
struct cells {
	char text[16][48];
	int next;
};

static const char *cell(struct cells *c, struct shown s)
{
	char *text = c->text[c->next++ % 16];

	snprintf(text, sizeof c->text[0], ">%s", s.text);
	return text;
}

static const char *share(struct cells *c, double part, double whole)
{
	return cell(c, show_percent(whole > 0 ? part / whole : NAN));
}

static const char *steps(struct cells *c, double n)
{
	struct shown s = show(QUANTITY_COUNT, NAN);

	if (isfinite(n))
		snprintf(s.text, sizeof s.text, "%.4g", n);
	return cell(c, s);
}

static void fold(FILE *out, size_t rows, const char *what)
{
	if (rows > ROWS_SHOWN)
		fprintf(out, "<details><summary>%s: %zu rows</summary>", what, rows);
}

static void unfold(FILE *out, size_t rows)
{
	if (rows > ROWS_SHOWN)
		fputs("</details>\n", out);
}

static void participant_row(FILE *out, const struct record_participant *p)
{
	const double *s = p->ledger_s;
	struct cells c = {.next = 0};

	html_row(out, p->name, p->role, cell(&c, show(QUANTITY_TIME, p->wall_s)),
		share(&c, s[STATE_COMPUTE], p->wall_s), share(&c, s[STATE_EXPOSED_COMM], p->wall_s),
		share(&c, s[STATE_BARRIER_WAIT], p->wall_s),
		share(&c, s[STATE_CHECKPOINT], p->wall_s), share(&c, s[STATE_DOWN], p->wall_s),
		share(&c, s[STATE_RECOVER], p->wall_s), share(&c, s[STATE_IDLE], p->wall_s),
		steps(&c, p->steps_useful), steps(&c, p->steps_lost), steps(&c, p->steps_pending),
		NULL);
}

void report_participants(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {"Participant", "Role", ">Time", ">Compute",
		">Waits for exchange", ">Waits for others", ">Checkpoint", ">Down", ">Recovers",
		">Idle", ">Merged steps", ">Lost steps", ">Pending steps", NULL};

	size_t rows = 0;

	for (size_t i = 0; i < c->n_participants; i++)
		rows += chart_shows(&c->participants[i]);
	if (rows) {
		fold(out, rows, "Where the time went");
		html_table(out, "Where the time went", heads);
		for (size_t i = 0; i < c->n_participants; i++)
			if (chart_shows(&c->participants[i]))
				participant_row(out, &c->participants[i]);
		html_table_end(out);
		unfold(out, rows);
	}
	if (rows < c->n_participants)
		fprintf(out,
			"<p class=\"soft\">%zu more without an accelerator at work, the syncers "
			"among them, are left out.</p>\n",
			c->n_participants - rows);
}

static void wire_row(FILE *out, const struct record_wire *w)
{
	struct cells c = {.next = 0};

	html_row(out, w->site, w->direction, cell(&c, show(QUANTITY_BYTES, w->bytes)),
		cell(&c, show(QUANTITY_RATE, w->mean_bps)),
		cell(&c, show(QUANTITY_RATE, w->peak_1s_bps)),
		cell(&c, show(QUANTITY_RATE, w->limit_bps)), share(&c, w->mean_bps, w->limit_bps),
		cell(&c, show(QUANTITY_BYTES, w->queue_high_bytes)),
		cell(&c, show(QUANTITY_COUNT, w->drop_queue)),
		cell(&c, show(QUANTITY_COUNT, w->drop_random)),
		cell(&c, show(QUANTITY_COUNT, w->drop_burst)),
		cell(&c, show(QUANTITY_COUNT, w->drop_outage)), NULL);
}

void report_wire(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {"Site", "Direction", ">Bytes", ">Mean rate",
		">Peak of 1\xc2\xa0s", ">Link's rate", ">Used", ">Longest queue", ">Dropped, queue",
		">Dropped, random", ">Dropped, burst", ">Dropped, outage", NULL};

	if (!c->n_wire)
		return;
	fold(out, c->n_wire, "On the wire");
	html_table(out, "On the wire, Ethernet frames included; drops in segments", heads);
	for (size_t i = 0; i < c->n_wire; i++)
		wire_row(out, &c->wire[i]);
	html_table_end(out);
	unfold(out, c->n_wire);
}

static void compared(
	FILE *out, const char *what, struct shown got, struct shown want, const char *remark)
{
	struct cells c = {.next = 0};

	html_row(out, what, cell(&c, got), cell(&c, want), remark, NULL);
}

static const char *payload_remark(const struct record_case *c)
{
	if (isnan(c->payload_sent_bytes) || isnan(c->payload_expected_bytes))
		return "";
	if (c->payload_sent_bytes == c->payload_expected_bytes)
		return "equal to the byte";
	for (size_t i = 0; i < c->n_faults; i++)
		if (c->faults[i].happened)
			return "faults: state was fetched, and sent again";
	if (c->payload_sent_bytes > c->payload_expected_bytes)
		return "what is more was under way when the run ended";
	return c->partial ? "the run was cut short" : "not what the formula says";
}

static void payload_rows(FILE *out, const struct record_case *c)
{
	struct shown none = {""};

	compared(out, "Payload sent", show(QUANTITY_BYTES, c->payload_sent_bytes),
		show(QUANTITY_BYTES, c->payload_expected_bytes), payload_remark(c));
	compared(out, "Framing sent with it", show(QUANTITY_BYTES, c->framing_bytes), none,
		"our own headers, counted apart");
}

void report_payload(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {"What", ">Simulated", ">Should be", "", NULL};

	html_table(out, "What was sent", heads);
	payload_rows(out, c);
	html_table_end(out);
}

void report_fidelity(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {"What", ">Measured", ">Should be", "", NULL};
	struct shown none = {""};

	html_table(out, "While the job ran", heads);
	compared(out, "Round trip of the idle link (worst pair)",
		show(QUANTITY_TIME, c->idle_rtt_s), show(QUANTITY_TIME, c->idle_rtt_expected_s),
		"within 1 % or 0.5 ms, whichever is more");
	compared(out, "Lateness of packets, 99 % within", show(QUANTITY_TIME, c->lateness_p99_s),
		none,
		"due time against actual; up to 5 % of the one-way delay or 1 ms, whichever is "
		"more");
	compared(out, "CPU time of the link emulation", show_percent(c->relay_cpu), none,
		"of one processor");
	compared(out, "CPU time of all agents", show_percent(c->agents_cpu), none,
		"of one processor");
	compared(out, "CPU time of the kernel's network (softirq)", show_percent(c->softirq), none,
		"of one processor, the whole machine");
	compared(out, "Time in which no processor was idle", show_percent(c->saturated), none,
		"of the time; up to 1 %, or no agent waits as below");
	compared(out, "Longest wait for a processor, of any agent", show_percent(c->waited), none,
		"of the time; up to 15 %: beyond both the machine set the pace");
	compared(out, "TCP held up by a receiver's window", show_percent(c->window_limited), none,
		"of the time with something to send, the worst pair; up to 20 %");
	compared(out, "TCP held up by a send buffer", show_percent(c->buffer_limited), none,
		"likewise");
	payload_rows(out, c);
	compared(out, "Segments sent again by TCP", show(QUANTITY_COUNT, c->retransmits), none, "");
	compared(out, "Receive queues pruned by TCP", show(QUANTITY_COUNT, c->prune_called),
		show(QUANTITY_COUNT, 0),
		c->prune_called > 0 ? "the machine's tcp_mem was too small: not "
				      "the link alone"
				    : "");
	html_table_end(out);
}
