/* narrowlink show: what is applied to network devices, in a link's words, read from the kernel. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/card_print.h"
#include "bench/cli/command.h"
#include "emu/card/owner.h"
#include "emu/rtnl.h"

static const char show_help[] =
	"Options:\n"
	"  --json             as JSON: bit/s, ns, bytes, shares\n\n"
	"Reads the queueing disciplines of DEV, or of every device that somebody set some on, and\n"
	"tells them as links: what `narrowlink shape` applied, and what others did with tc. What\n"
	"stands in braces can be given to `shape --link`. Needs no rights.\n\n"
	"Examples:\n"
	"  narrowlink show\n"
	"  narrowlink show eth0\n"
	"  narrowlink show eth0 --json | jq '.[0].ways[0].values.delay_ns'\n";

/* Devices behind others' incoming packets are told there. */
static bool is_worth_telling(const struct view *v, const struct device *d)
{
	return (view_is_shaped(v, d) && strcmp(d->kind, "ifb")) || owner_pid(d->index);
}

static int tell(const struct view *v, const struct device *d, struct nl_sock *sock, json_t *all,
	struct error *err)
{
	struct ways ways = {0};
	int r = view_ways(&ways, v, d, sock, err);

	if (r == 0 && all)
		json_array_append_new(all, card_json(v, d, &ways));
	else if (r == 0)
		card_print(v, d, &ways);
	ways_release(&ways);
	return r;
}

static int tell_all(const struct view *v, struct nl_sock *sock, json_t *all, struct error *err)
{
	int r = 0, told = 0;

	for (size_t i = 0; r == 0 && i < v->devices.n; i++) {
		const struct device *d = &v->devices.list[i];

		if (!is_worth_telling(v, d))
			continue;
		r = tell(v, d, sock, all, err);
		told++;
	}
	if (r == 0 && !told && !all)
		puts("nothing is set on any device; they are as the kernel has them");
	return r;
}

static int show_devices(const char *name, json_t *all, struct error *err)
{
	struct nl_sock *sock = NULL;
	const struct device *d;
	struct view v = {0};
	int r = rtnl_open(&sock, err);

	if (r == 0)
		r = view_read(&v, sock, err);
	if (r == 0 && name) {
		r = devices_named(&d, &v.devices, name, err);
		if (r == 0)
			r = tell(&v, d, sock, all, err);
	} else if (r == 0) {
		r = tell_all(&v, sock, all, err);
	}
	view_release(&v);
	rtnl_close(sock);
	return r;
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	json_t *all = NULL;
	int c, r;

	while ((c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (c != 'j') {
			json_decref(all);
			return command_option(&command_show, c, argv, err);
		}
		if (!all)
			all = json_array();
	}
	if (optind < argc - 1) {
		json_decref(all);
		return command_usage(&command_show, err, "it takes one device, or none");
	}
	r = show_devices(argv[optind], all, err);
	if (r == 0 && all) {
		json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		putchar('\n');
	}
	json_decref(all);
	return r < 0 ? err->status : STATUS_HOLDS;
}

const struct command command_show = {
	.name = "show",
	.arguments = "[DEV]",
	.summary = "Tell what is applied to network devices, as links",
	.help = show_help,
	.run = run,
};
