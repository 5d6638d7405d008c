/* Sites on a bridge, and somebody who watches; see world.h. */
#include "tests/live/world.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void command(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void command(const char *format, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	if (system(line))
		fail_msg("command failed: %s", line);
}

static void wire(struct world *w)
{
	command("ip link del br0 2>/dev/null; ip link add br0 type bridge && ip link set br0 up");
	for (int i = 0; i < w->n_sites; i++) {
		command("ip link del v%d 2>/dev/null; ip link add v%d type veth peer "
			"name " SITE_DEVICE " netns /proc/%d/fd/%d",
			i, i, getpid(), w->t->sites[i].netns_fd);
		command("ip link set v%d master br0 && ip link set v%d up", i, i);
		if (topology_attach(w->t, i, 1500, 1000, 0, &w->err) < 0)
			fail_msg("%s", w->err.text);
	}
}

static void set_scenario(struct world *w, const struct strategy *strategy)
{
	struct scenario *s = &w->s;

	for (int d = 0; d < DIRECTIONS; d++)
		w->link.direction[d].base.rate_bps = INT64_C(1000000000);
	s->links = &w->link;
	s->n_links = 1;
	s->seed = 1;
	s->dilation = 1;
	s->n_sites = w->n_sites;
	s->strategy = strategy;
	s->limit_ns = 60 * INT64_C(1000000000);
	s->transport.connections = 3;
	s->transport.silence_ns = INT64_C(2000000000);
	s->job.n_learners = w->n_sites;
	s->job.parameters = 100000;
	s->job.bits = 8;
	s->job.step_ns = 20 * 1000000;
	s->job.steps = 10;
	s->job.state_bytes = 1000000;
	for (int i = 0; i < w->n_sites; i++) {
		s->job.speed[i] = 1;
		s->sites[i].accelerators = 1;
		snprintf(s->sites[i].name, sizeof s->sites[i].name, "%s", w->t->sites[i].name);
	}
}

void world_up(struct world *w, int n_sites, const struct strategy *strategy)
{
	static bool isolated;
	static const struct topology_tcp tcp = {.congestion = "cubic",
		.receive_buffer = 16 << 20,
		.send_buffer = 16 << 20,
		.slow_start_after_idle = true};
	static const char *const names[WORLD_SITES] = {
		"berlin", "oslo", "rome", "paris", "lima", "quito", "tokyo", "delhi"};

	*w = (struct world){.n_sites = n_sites};
	if (!isolated && topology_isolate(&w->err) < 0) {
		print_message("# skipped: %s\n", w->err.text);
		skip();
	}
	isolated = true;
	if (topology_up(&w->t, n_sites, names, &tcp, &w->err) < 0)
		fail_msg("%s", w->err.text);
	wire(w);
	set_scenario(w, strategy);
}

void world_down(struct world *w)
{
	for (int i = 0; i < w->n_sites; i++)
		command("ip link del v%d", i);
	command("ip link del br0");
	w->t = topology_down(w->t);
}

void world_site_command(struct world *w, int site, const char *line)
{
	assert_int_equal(topology_enter(w->t, site, &w->err), 0);
	if (system(line))
		fail_msg("command failed: %s", line);
	assert_int_equal(topology_leave(w->t, &w->err), 0);
}

static void note_time(struct watch *w, int p, int64_t at_ns)
{
	w->out_of_order |= at_ns < w->last_at[p];
	w->last_at[p] = at_ns;
}

static void on_state(void *user, int p, int64_t at_ns, enum state state)
{
	struct watch *w = user;

	note_time(w, p, at_ns);
	if (state == STATE_DOWN) {
		w->downs[p]++;
		w->down_at[p] = at_ns;
	} else if (w->states[p] == STATE_DOWN) {
		w->recovers[p] += state == STATE_RECOVER;
		w->recover_at[p] = at_ns;
	}
	w->states[p] = state;
	ledger_state(&w->ledgers[p], at_ns, state);
}

static void on_report(void *user, int p, int64_t at_ns, const struct rt_report *report)
{
	struct watch *w = user;

	note_time(w, p, at_ns);
	ledger_report(&w->ledgers[p], at_ns, report);
	w->steps[p] += report->kind == REPORT_STEP;
	if (report->kind == REPORT_RECOVERED) {
		w->recovered[p]++;
		w->recovered_at[p] = at_ns;
	}
}

static void on_done(void *user, int p, int64_t at_ns)
{
	struct watch *w = user;

	note_time(w, p, at_ns);
	w->done_at[p] = at_ns;
	ledger_finish(&w->ledgers[p], at_ns);
}

static void on_fault(void *user, const struct fault *fault, bool begins, int64_t at_ns)
{
	struct watch *w = user;

	w->fault_begins += begins;
	w->fault_ends += !begins;
}

static void on_silence(void *user, int p, int peer, bool silent, int64_t at_ns)
{
	struct watch *w = user;

	w->silent[p] += silent;
	w->heard[p] += !silent;
}

static void on_tcp(void *user, int p, int peer, int64_t at_ns, const struct tcp_sample *tcp)
{
	struct watch *w = user;

	w->tcp_samples++;
	w->tcp = *tcp;
}

static int on_tick(void *user, int64_t at_ns)
{
	struct watch *w = user;

	w->ticks++;
	w->last_tick = at_ns;
	return w->on_tick ? w->on_tick(w, at_ns) : 0;
}

static void on_connecting(void *user, int n_up, int n_pairs)
{
	struct watch *w = user;

	assert_true(n_up >= w->n_up && n_up <= n_pairs);
	w->n_up = n_up;
	w->n_pairs = n_pairs;
}

static void on_still(void *user, int p, int64_t at_ns, int64_t for_ns)
{
	struct watch *w = user;

	w->stills[p]++;
	w->still_ns = for_ns > w->still_ns ? for_ns : w->still_ns;
}

static void on_absent(void *user, int64_t at_ns, int64_t for_ns)
{
	struct watch *w = user;

	w->absences++;
	w->absent_ns = for_ns;
	w->absent_until_ns = at_ns;
}

static void links_start(void *user, int64_t t0_ns)
{
	struct watch *w = user;

	w->t0_ns = t0_ns;
}

const struct observer watch_observer = {NULL, on_state, on_report, on_done, on_fault, on_silence,
	on_tcp, on_tick, on_connecting, on_still, on_absent};

void watch_begin(struct watch *w, const struct job *job)
{
	w->n = job_participants(job);
	for (int i = 0; i < w->n; i++) {
		ledger_start(&w->ledgers[i], 0, STATE_IDLE, INFINITY);
		w->done_at[i] = -1;
		w->states[i] = STATE_IDLE;
	}
}

void watch_end(struct watch *w, int64_t wall_ns)
{
	for (int i = 0; i < w->n; i++)
		ledger_finish(&w->ledgers[i], wall_ns);
}

int world_run(struct world *w, const struct fault *faults, size_t n, struct watch *watch,
	struct outcome *result)
{
	struct observer observer = watch_observer;
	int r;

	observer.user = watch;
	watch_begin(watch, &w->s.job);
	r = live_run(&w->s, w->t, faults, n, links_start, &observer, result, &w->err);
	if (!r)
		watch_end(watch, result->wall_ns);
	return r;
}

/* Whether this process is a child of ours with this name. */
static bool is_named(const char *pid, const char *name)
{
	char path[64], comm[32] = "";
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%.16s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%31[^)]) %*c %d", comm, &parent) != 2)
		parent = 0;
	fclose(f);
	return parent == getpid() && !strcmp(comm, name);
}

int world_pid_named(const char *name)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int pid = 0;

	assert_non_null(proc);
	while (!pid && (entry = readdir(proc)))
		if (is_named(entry->d_name, name))
			pid = atoi(entry->d_name);
	closedir(proc);
	return pid;
}
