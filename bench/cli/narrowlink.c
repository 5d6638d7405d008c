/*
 * narrowlink: does this workload fit this link, and how much of its accelerators' time stays
 * useful when things fail? This file is the table of commands and the program's entry.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/cli/command.h"
#include "bench/version.h"

static const struct command *const commands[] = {
	&command_run,
	&command_check,
	&command_calibrate,
	&command_profiles,
	&command_doctor,
	&command_report,
	&command_compare,
	&command_published,
	&command_seek,
	&command_sweep,
	&command_shape,
	&command_show,
	&command_clear,
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static void help(FILE *out)
{
	fputs("Usage: narrowlink COMMAND [OPTIONS]\n\n"
	      "Does this workload fit this link? Emulates wide-area links between sites, runs a\n"
	      "synthetic training job over real TCP across them, breaks things on schedule, and\n"
	      "accounts for every accelerator-second.\n\nCommands:\n",
		out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-9s %-15s %s\n", commands[i]->name, commands[i]->arguments,
			commands[i]->summary);
	fputs("\n  narrowlink COMMAND --help tells more.\n\n"
	      "Examples:\n"
	      "  narrowlink check scenarios/claim/eight-sites-0.84g.yaml\n"
	      "  narrowlink run scenarios/claim/eight-sites-0.84g.yaml\n\n"
	      "Exit status: 0 holds; 1 an expectation failed; 2 wrong input; 3 this machine or\n"
	      "user cannot do it; 4 the run was invalid or cut short.\n",
		out);
}

static void command_help(const struct command *c)
{
	printf("Usage: narrowlink %s [OPTIONS] %s\n\n%s.\n\n%s", c->name, c->arguments, c->summary,
		c->help);
}

enum exit_status command_usage(const struct command *c, struct error *err, const char *why)
{
	error_set(err, -EINVAL, STATUS_INPUT,
		"narrowlink %s: %s; `narrowlink %s --help` shows what it takes", c->name, why,
		c->name);
	return STATUS_INPUT;
}

/* The option that getopt_long stumbled over: a long one is behind it, a short one may not be. */
static const char *failed_option(char **argv, char buffer[static 3])
{
	const char *next = argv[optind];
	bool inside = optopt && next && next[0] == '-' && next[1] != '-' && strchr(next, optopt);

	if (!strncmp(argv[optind - 1], "--", 2) && !inside)
		return argv[optind - 1];
	snprintf(buffer, 3, "-%c", optopt);
	return buffer;
}

enum exit_status command_option(const struct command *c, int answer, char **argv, struct error *err)
{
	char buffer[3];
	const char *option = failed_option(argv, buffer);
	_free_ char *why = NULL;

	if (answer == ':')
		why = memory_format("%s needs a value", option);
	else if (strchr(option, '='))
		why = memory_format("%s: wrong option, or it takes no value", option);
	else
		why = memory_format("there is no option %s", option);
	return command_usage(c, err, why);
}

int overrides_add(struct overrides *o, const char *item, struct error *err)
{
	if (!strchr(item, '='))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"--set %s: write --set KEY=VALUE, e.g. --set links.wan.rate='2 Gbit/s'",
			item);
	if (o->count == sizeof o->items / sizeof *o->items)
		return error_set(err, -E2BIG, STATUS_INPUT, "--set: at most %zu values", o->count);
	o->items[o->count++] = item;
	return 0;
}

static int overrides_number(
	struct overrides *o, int slot, const char *key, const char *value, struct error *err)
{
	if (strlen(value) > 32)
		return error_set(
			err, -EINVAL, STATUS_INPUT, "--%s %.32s...: not a number", key, value);
	snprintf(o->text[slot], sizeof o->text[slot], "--%s=%s", key, value);
	return overrides_add(o, o->text[slot], err);
}

int overrides_dilation(struct overrides *o, const char *value, struct error *err)
{
	return overrides_number(o, 0, "dilation", value, err);
}

int overrides_seed(struct overrides *o, const char *value, struct error *err)
{
	return overrides_number(o, 1, "seed", value, err);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	}
	return false;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

/* `narrowlink help COMMAND` is `narrowlink COMMAND --help`. */
static enum exit_status run_command(int argc, char **argv, struct error *err)
{
	bool helps = argc > 2 && !strcmp(argv[1], "help");
	const char *name = argv[helps ? 2 : 1];
	const struct command *c = find(name);

	if (!c)
		return error_set(err, STATUS_INPUT, STATUS_INPUT,
			"there is no command '%s'; see narrowlink --help", name);
	if (helps || wants_help(argc - 2, argv + 2)) {
		command_help(c);
		return STATUS_HOLDS;
	}
	opterr = 0; /* what is wrong is said once, by command_option */
	return c->run(argc - 1, argv + 1, err);
}

/*
 * Whoever started the program with a standard file closed wants nothing of it: a file opened
 * later must not take its number, and be written to by whoever says something.
 */
static void hold_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct error err = {0};
	enum exit_status status;

	hold_standard_files();
	signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error with a reason */
	if (argc < 2 || (argc == 2 && is_help(argv[1]))) {
		help(argc < 2 ? stderr : stdout);
		return argc < 2 ? STATUS_INPUT : STATUS_HOLDS;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("narrowlink %s (%s)\n", NARROWLINK_VERSION, NARROWLINK_GIT);
		return STATUS_HOLDS;
	}
	status = run_command(argc, argv, &err);
	if (err.text[0])
		fprintf(stderr, "narrowlink: %s\n", err.text);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "narrowlink: cannot write to standard output: %s\n",
			strerror(errno));
		return STATUS_MACHINE;
	}
	return status;
}
