/* See drawn.h. */
#include "drawn.h"

#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "results/report.h"
#include "scratch.h"

int run_quietly(const char *dir, const char *const *argv)
{
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (!chdir(dir))
			execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void need_gnuplot(void)
{
	const char *const argv[] = {"gnuplot", "--version", NULL};

	if (run_quietly("/", argv))
		skip();
}

void check_svg(const char *charts, const char *file)
{
	const char *const argv[] = {"xmllint", "--noout", file, NULL};
	_free_ char *text = scratch_read(charts, file);
	int status;

	if (!text)
		fail_msg("%s/%s is not there", charts, file);
	assert_non_null(strstr(text, "<svg"));
	assert_non_null(strstr(text, "</svg>"));
	status = run_quietly(charts, argv);
	if (status && status != 127)
		fail_msg("xmllint: %s/%s is not XML", charts, file);
}

void drawn(const char *dir, const struct record *r)
{
	struct error err = {0};

	if (chart_all(dir, r, &err))
		fail_msg("%s", err.text);
}

void write_probes(const char *dir)
{
	_free_ char *path = memory_format("%s/probes.csv", dir);
	_fclose_ FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs("t_s,there_s,back_s\n", f);
	for (int i = 0; i < 100; i++)
		fprintf(f, i % 2 ? "%g,0.0301,\n" : "%g,0.0301,0.0302\n", i / 100.);
}
