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

#include "base/files.h"
#include "base/memory.h"
#include "bench/cli/command.h"
#include "bench/version.h"

/*
 * Whether what a command prints is what it is for. The others leave it in a folder or on a device,
 * so that they work without a standard output, as daemons and batch systems start what they start.
 */
static const struct {
	const struct command *command;
	bool prints;
} commands[] = {
	{&command_run, false},
	{&command_check, true},
	{&command_calibrate, true},
	{&command_profiles, true},
	{&command_doctor, true},
	{&command_report, false},
	{&command_compare, true},
	{&command_published, true},
	{&command_seek, true},
	{&command_sweep, false},
	{&command_shape, false},
	{&command_show, true},
	{&command_clear, false},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static void help(FILE *out)
{
	fputs("Usage: narrowlink COMMAND [OPTIONS]\n\n"
	      "Does this workload fit this link? Emulates wide-area links between sites, runs a\n"
	      "synthetic training job over real TCP across them, breaks things on schedule, and\n"
	      "accounts for every accelerator-second.\n\nCommands:\n",
		out);
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const struct command *c = commands[i].command;

		fprintf(out, "  %-9s %-15s %s\n", c->name, c->arguments, c->summary);
	}
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

static const struct command *find(const char *name, bool *prints)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(commands[i].command->name, name))
			continue;
		*prints = commands[i].prints;
		return commands[i].command;
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
static enum exit_status run_command(int argc, char **argv, bool *prints, struct error *err)
{
	bool helps = argc > 2 && !strcmp(argv[1], "help");
	const char *name = argv[helps ? 2 : 1];
	const struct command *c = find(name, prints);

	if (!c)
		return error_set(err, STATUS_INPUT, STATUS_INPUT,
			"there is no command '%s'; see narrowlink --help", name);
	if (helps || wants_help(argc - 2, argv + 2)) {
		command_help(c);
		*prints = true;
		return STATUS_HOLDS;
	}
	opterr = 0; /* what is wrong is said once, by command_option */
	return c->run(argc - 1, argv + 1, err);
}

/*
 * A file opened later must not take the number of a standard file that whoever started the program
 * had closed, and be written to by whoever says something. What holds the number of standard output
 * cannot be written, as if it were closed still. Returns whether standard output was closed.
 */
static bool hold_standard_files(void)
{
	bool closed = false;
	int fd;

	do {
		bool out = fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) < 0;

		fd = open("/dev/null", out ? O_RDONLY : O_RDWR);
		closed = closed || (out && fd == STDOUT_FILENO);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return closed;
}

static enum exit_status answer(int argc, char **argv, bool *prints, struct error *err)
{
	if (argc < 2 || (argc == 2 && is_help(argv[1]))) {
		help(argc < 2 ? stderr : stdout);
		return argc < 2 ? STATUS_INPUT : STATUS_HOLDS;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("narrowlink %s (%s)\n", NARROWLINK_VERSION, NARROWLINK_GIT);
		return STATUS_HOLDS;
	}
	return run_command(argc, argv, prints, err);
}

int main(int argc, char **argv)
{
	bool closed = hold_standard_files(), prints = true;
	struct error err = {0};
	enum exit_status status;

	files_raise();
	signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error with a reason */
	status = answer(argc, argv, &prints, &err);
	if (err.text[0])
		fprintf(stderr, "narrowlink: %s\n", err.text);
	if ((fflush(stdout) || ferror(stdout)) && (prints || !closed)) {
		fprintf(stderr, "narrowlink: cannot write to standard output: %s\n",
			closed ? "it is closed" : strerror(errno));
		return STATUS_MACHINE;
	}
	return status;
}
