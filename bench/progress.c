/* The progress line; see progress.h. */
#include "bench/progress.h"

#include <math.h>
#include <stdarg.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "base/units.h"

#define EVERY_TERMINAL_NS (NS_PER_S / 2)
#define EVERY_PLAIN_NS (10 * NS_PER_S)

void progress_begin(struct progress *p, FILE *out, bool quiet)
{
	*p = (struct progress){
		.out = out,
		.terminal = terminal_redraws(fileno(out)),
		.quiet = quiet,
	};
}

static void print_case(struct progress *p, const struct progress_state *s)
{
	if (s->n_cases > 1)
		fprintf(p->out, "case %zu of %zu, ", s->case_index + 1, s->n_cases);
	fprintf(p->out, "%s: ", s->case_name);
}

static void print_state(struct progress *p, const struct progress_state *s)
{
	double left_s = fmax(0, s->expected_s - s->at_s) * s->dilation;
	char rate[32];

	print_case(p, s);
	if (s->simulated)
		fprintf(p->out, "simulated %.0f s of about %.0f s", s->at_s, s->expected_s);
	else if (s->at_s <= s->expected_s)
		fprintf(p->out, "%.0f s of about %.0f s, %.0f s left", s->at_s, s->expected_s,
			left_s);
	else
		fprintf(p->out, "%.0f s, expected were %.0f s", s->at_s, s->expected_s);
	if (!isnan(s->useful_work))
		fprintf(p->out, ", useful work %.1f %%", 100 * s->useful_work);
	if (!isnan(s->wire_bps))
		fprintf(p->out, ", busiest link %s",
			quantity_format(
				rate, sizeof rate, QUANTITY_RATE, (int64_t)s->wire_bps, false));
}

/* Whether it is time for another line; where it goes is cleared then. */
static bool begin_line(struct progress *p)
{
	int64_t now = clock_now_ns();
	int64_t every = p->terminal ? EVERY_TERMINAL_NS : EVERY_PLAIN_NS;

	if (p->quiet || (p->printed_ns && now - p->printed_ns < every))
		return false;
	p->printed_ns = now;
	if (p->terminal)
		fputs("\r\033[K", p->out);
	return true;
}

static void end_line(struct progress *p)
{
	if (!p->terminal)
		fputc('\n', p->out);
	p->open = p->terminal;
	fflush(p->out);
}

void progress_update(struct progress *p, const struct progress_state *s)
{
	if (s->simulated && !p->terminal && !p->printed_ns)
		p->printed_ns = clock_now_ns(); /* short work needs no line */
	if (!begin_line(p))
		return;
	print_state(p, s);
	end_line(p);
}

void progress_connecting(struct progress *p, const struct progress_state *s, int n_up, int n_pairs)
{
	if (!begin_line(p))
		return;
	print_case(p, s);
	fprintf(p->out, "connecting %d/%d", n_up, n_pairs);
	end_line(p);
}

void progress_count(struct progress *p, size_t done, size_t n, const char *name)
{
	if (!p->terminal && !p->printed_ns)
		p->printed_ns = clock_now_ns(); /* short work needs no line */
	if (!begin_line(p))
		return;
	fprintf(p->out, "%zu of %zu, %.60s", done, n, name);
	end_line(p);
}

void progress_say(struct progress *p, const char *format, ...)
{
	va_list ap;

	if (p->quiet)
		return;
	progress_end(p);
	va_start(ap, format);
	vfprintf(p->out, format, ap);
	va_end(ap);
	fputc('\n', p->out);
	fflush(p->out);
}

void progress_end(struct progress *p)
{
	if (p->open)
		fputs("\r\033[K", p->out);
	p->open = false;
	p->printed_ns = 0;
}
