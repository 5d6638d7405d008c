/*
 * narrowlink shape: a link on a network device of this machine, for as long as the command runs.
 *
 * It stays in the foreground, also where the link never changes, since somebody has to answer
 * for the device: what was there before comes back when the command ends, by a signal, by the end
 * of the lease, or by its death, which a process of its own watches for.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/cli/card_print.h"
#include "bench/cli/command.h"
#include "bench/scenario/link_option.h"
#include "bench/signals.h"
#include "emu/card/carries.h"
#include "emu/card/keeper.h"
#include "emu/card/owner.h"
#include "emu/rtnl.h"

static const char shape_help[] =
	"Options:\n"
	"  --link LINK        a profile's name, or \"{rate: 100 Mbit/s, delay: 15 ms, ...}\"\n"
	"  --ingress          what DEV receives, too: the link's direction down, through an ifb\n"
	"  --to PREFIX        only what goes to (and comes from) these addresses: 10.0.0.0/8\n"
	"  --for TIME         the lease: everything is put back after it\n"
	"  --yes              also where the default route or your SSH session is carried\n"
	"  --dry-run          print the commands of ip and tc that do the same; needs no rights\n"
	"  --json             what was applied as JSON, on one line\n\n"
	"Makes DEV a link of this profile, and stays until it is interrupted, `narrowlink clear "
	"DEV`\n"
	"ends it, or the lease is over. What was set on DEV before comes back then, and also when\n"
	"this command is killed. What DEV sends passes the profile's direction up.\n\n"
	"Examples:\n"
	"  narrowlink shape eth1 --link geo-1g --ingress\n"
	"  narrowlink shape eth0 --link 'rate: 20 Mbit/s, delay: 40 ms, loss: 0.1 %' \\\n"
	"      --to 192.0.2.0/24 --for '10 min' --yes\n"
	"  narrowlink shape eth1 --link leo-1g --dry-run\n";

struct shape_options {
	const char *device;
	struct link_option link;
	struct shaping_wish wish;
	int64_t lease_ns; /* 0: none */
	bool yes, dry_run, json;
};

/* All that is held while a device is shaped. */
struct session {
	const struct shape_options *options;
	struct nl_sock *sock;
	struct view view;
	struct shaping shaping;
	struct saved saved;
	struct keeper keeper;
	int owner_fd, signal_fd;
	int64_t begin_ns, until_ns; /* CLOCK_MONOTONIC */
};

/* What would be cut off by a mistake, and when that is allowed. */
static int check_safety(const struct session *s, struct error *err)
{
	const struct shape_options *o = s->options;
	const struct device *d = &s->shaping.device;
	char text[CARRIES_TEXT];
	int r = carries_what(text, &s->view.devices, d, s->sock, err);

	if (r < 0 || !*text || (o->yes && o->lease_ns))
		return r;
	return error_set(err, -EINVAL, STATUS_INPUT,
		"%s carries %s: a bad link there may cut you off; with --yes and a lease, "
		"e.g. --for '10 min', it is done all the same",
		d->name, text);
}

static int print_what_is(const struct session *s, struct error *err)
{
	struct view v = {0};
	struct ways ways = {0};
	json_t *json;
	int r = view_read(&v, s->sock, err);

	if (r == 0)
		r = view_ways(&ways, &v, &s->shaping.device, s->sock, err);
	if (r == 0 && s->options->json) {
		json = card_json(&v, &s->shaping.device, &ways);
		json_object_set_new(json, "profile", json_string(s->shaping.wish.link->name));
		json_object_set_new(json, "lease_s",
			s->options->lease_ns ? json_real((double)s->options->lease_ns / NS_PER_S)
					     : json_null());
		json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
		putchar('\n');
		json_decref(json);
	} else if (r == 0) {
		card_print(&v, &s->shaping.device, &ways);
	}
	fflush(stdout);
	ways_release(&ways);
	view_release(&v);
	return r;
}

static void print_state(const struct session *s, enum direction d)
{
	const struct shaping_line *l = &s->shaping.line[d];
	char rate[32], delay[32], loss[32];

	printf("%s %s, %s", d == UP ? "out" : "; in",
		quantity_format(rate, sizeof rate, QUANTITY_RATE, l->state.rate_bps, false),
		quantity_format(delay, sizeof delay, QUANTITY_TIME, l->state.delay_ns, false));
	if (l->state.down)
		printf(", DOWN");
	else if (l->state.loss > 0 || l->state.burst_loss > 0)
		printf(", loss %s",
			percent_format(loss, sizeof loss, l->state.loss + l->state.burst_loss, 3));
}

/* One line that is rewritten on a terminal; elsewhere one for each change. */
static void print_status(const struct session *s, bool changed)
{
	bool terminal = isatty(STDOUT_FILENO);
	int64_t now_ns = clock_now_ns();

	if (s->options->json || (!terminal && !changed))
		return;
	printf("%s%s %.1f s: ", terminal ? "\r\033[K" : "", s->shaping.device.name,
		(double)(now_ns - s->begin_ns) / NS_PER_S);
	for (int i = 0; i < shaping_directions(&s->shaping.wish); i++)
		print_state(s, (enum direction)i);
	if (s->until_ns != TIME_NEVER)
		printf("; %.0f s left", (double)(s->until_ns - now_ns) / NS_PER_S);
	if (!terminal)
		putchar('\n');
	fflush(stdout);
}

static void end_status(const struct session *s)
{
	if (!s->options->json && isatty(STDOUT_FILENO))
		fputs("\r\033[K", stdout);
	fflush(stdout);
}

#define LOOK_NS NS_PER_S /* how often it is looked whether all is as it was set */

static int wait_ms(const struct session *s, int64_t t_ns)
{
	int64_t next_ns = shaping_next(&s->shaping) - t_ns;

	if (next_ns > LOOK_NS)
		next_ns = LOOK_NS;
	return next_ns <= 0 ? 0 : (int)((next_ns + NS_PER_MS - 1) / NS_PER_MS);
}

/* Until a signal, the end of the lease, or trouble. */
static int follow(struct session *s, struct error *err)
{
	struct pollfd p[] = {
		{.fd = s->signal_fd, .events = POLLIN}, {.fd = s->keeper.fd, .events = POLLIN}};
	int64_t looked_ns = s->begin_ns;
	int r = 0;

	while (r == 0) {
		int64_t now_ns = clock_now_ns();
		bool changed;

		r = shaping_follow(&s->shaping, s->sock, now_ns - s->begin_ns, &changed, err);
		if (r == 0 && now_ns - looked_ns >= LOOK_NS) {
			r = shaping_verify(&s->shaping, s->sock, err);
			looked_ns = now_ns;
		}
		if (r < 0)
			return r;
		print_status(s, changed);
		if (poll(p, 2, wait_ms(s, clock_now_ns() - s->begin_ns)) > 0)
			return 0;
	}
	return r;
}

/* But for those that were ignored from the start; SIGTERM is what `narrowlink clear` sends. */
static int block_signals(struct error *err)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends[i] == SIGTERM || !signals_ignored(ends[i]))
			sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd >= 0 ? fd : error_sys(err, -errno, "signalfd");
}

/* The keeper is there before anything is set. */
static int hold_device(struct session *s, struct error *err)
{
	struct keeper_job job;
	int r;

	s->signal_fd = block_signals(err);
	r = s->signal_fd < 0 ? s->signal_fd : 0;
	s->begin_ns = clock_now_ns();
	s->until_ns = s->options->lease_ns ? s->begin_ns + s->options->lease_ns : TIME_NEVER;
	job = (struct keeper_job){&s->shaping, &s->saved, s->until_ns, s->owner_fd};
	if (r == 0)
		r = keeper_start(&s->keeper, &job, err);
	return r;
}

static int shape_device(struct session *s, struct error *err)
{
	const char *name = s->shaping.device.name;
	int r = hold_device(s, err), back;

	if (r < 0)
		return r;
	r = shaping_apply(&s->shaping, s->sock, err);
	if (r == 0)
		r = print_what_is(s, err);
	if (r == 0)
		r = follow(s, err);
	end_status(s);
	back = keeper_end(&s->keeper, err);
	if (r == 0 && back == 0 && !s->options->json)
		printf("%s is as it was before\n", name);
	return r < 0 ? r : back;
}

static int plan(struct session *s, struct error *err)
{
	const struct device *d;
	int r = rtnl_open(&s->sock, err);

	if (r == 0)
		r = view_read(&s->view, s->sock, err);
	if (r == 0)
		r = devices_named(&d, &s->view.devices, s->options->device, err);
	if (r == 0)
		shaping_plan(&s->shaping, &s->options->wish, d, &s->view);
	return r;
}

static int shape(const struct shape_options *o, struct error *err)
{
	struct session s = {.options = o, .owner_fd = -1, .signal_fd = -1};
	int r = plan(&s, err);

	if (r == 0 && o->dry_run)
		shaping_commands(&s.shaping, stdout);
	if (r == 0 && o->dry_run && fflush(stdout))
		r = error_sys(err, -errno, "cannot write to standard output");
	if (r == 0 && !o->dry_run)
		r = check_safety(&s, err);
	if (r == 0 && !o->dry_run)
		r = owner_take(&s.owner_fd, s.shaping.device.index, o->device, err);
	if (r == 0 && !o->dry_run)
		r = saved_take(&s.saved, &s.shaping, &s.view, s.sock, err);
	if (r == 0 && !o->dry_run)
		r = shape_device(&s, err);
	cleanup_close(&s.signal_fd);
	cleanup_close(&s.owner_fd);
	saved_release(&s.saved);
	view_release(&s.view);
	rtnl_close(s.sock);
	return r;
}

static int parse_lease(int64_t *lease_ns, const char *text, struct error *err)
{
	struct error own = {0};
	int r = quantity_parse(text, QUANTITY_TIME, lease_ns, &own);

	if (r < 0)
		return error_set(err, r, STATUS_INPUT, "--for %s", own.text);
	return *lease_ns > 0 ? 0
			     : error_set(err, -EINVAL, STATUS_INPUT,
				       "--for \"%.32s\": a lease is longer than that", text);
}

static int parse_to(struct shaping_wish *wish, const char *text, struct error *err)
{
	struct error own = {0};
	int r = prefix_parse(&wish->prefix, text, &own);

	wish->has_prefix = true;
	return r < 0 ? error_set(err, r, STATUS_INPUT, "--to %s", own.text) : 0;
}

static int parse_option(struct shape_options *o, int c, const char *value, struct error *err)
{
	switch (c) {
	case 'l':
		link_option_release(&o->link);
		return link_option_parse(&o->link, value, err);
	case 'f':
		return parse_lease(&o->lease_ns, value, err);
	case 't':
		return parse_to(&o->wish, value, err);
	case 'i':
		o->wish.incoming = true;
		return 0;
	case 'y':
		o->yes = true;
		return 0;
	case 'd':
		o->dry_run = true;
		return 0;
	default:
		o->json = true;
		return 0;
	}
}

static int parse(struct shape_options *o, int argc, char **argv, struct error *err)
{
	static const struct option options[] = {{"link", required_argument, NULL, 'l'},
		{"ingress", no_argument, NULL, 'i'}, {"to", required_argument, NULL, 't'},
		{"for", required_argument, NULL, 'f'}, {"yes", no_argument, NULL, 'y'},
		{"dry-run", no_argument, NULL, 'd'}, {"json", no_argument, NULL, 'j'}, {0}};
	int c, r = 0;

	while (r == 0 && (c = getopt_long(argc, argv, ":", options, NULL)) != -1)
		r = c == '?' || c == ':' ? -(int)command_option(&command_shape, c, argv, err)
					 : parse_option(o, c, optarg, err);
	if (r < 0)
		return r;
	if (optind != argc - 1)
		return -(int)command_usage(&command_shape, err, "it takes one device");
	if (!o->link.link)
		return -(int)command_usage(&command_shape, err, "it needs --link");
	o->device = argv[optind];
	o->wish.link = o->link.link;
	return 0;
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	struct shape_options o = {0};
	int r = parse(&o, argc, argv, err);

	if (r == 0)
		r = shape(&o, err);
	link_option_release(&o.link);
	return r < 0 ? err->status : STATUS_HOLDS;
}

const struct command command_shape = {
	.name = "shape",
	.arguments = "DEV --link LINK",
	.summary = "Make a network device a link, and put back what it was",
	.help = shape_help,
	.run = run,
};
