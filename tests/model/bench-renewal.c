/*
 * How long a large fleet takes: 1.2 million chips, 30 days, 100 seeds, as one learner and as
 * eight. Prints seconds of one core and the program's largest memory; fails on neither.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "bench/model/renewal.h"

#define SEEDS 100

static void measure(int learners, int n)
{
	struct fleet f = {
		.chips = 1200000,
		.mtbf_ns = 365 * 86400 * NS_PER_S,
		.learners = learners,
		.quorum = 1,
		.elastic = true,
		.replica = 256,
		.repair_ns = 600 * NS_PER_S,
		.scale_down_ns = 10 * NS_PER_S,
		.scale_up_ns = 11 * NS_PER_S,
		.checkpoint_every_ns = 600 * NS_PER_S,
		.checkpoint_cost_ns = 5 * NS_PER_S,
		.duration_ns = 30 * 86400 * NS_PER_S,
	};
	struct rusage usage;
	struct renewal r;
	double events = 0, seconds;
	int64_t begun = clock_now_ns();

	for (int i = 0; i < SEEDS; i++) {
		renewal_run(&r, &f, (uint64_t)i);
		events += (double)r.events;
	}
	seconds = (double)(clock_now_ns() - begun) / (double)NS_PER_S;
	getrusage(RUSAGE_SELF, &usage);
	printf("ok %d - 1.2 M chips, %d learners, 30 d, %d seeds: %.2f s, %.1f M events/s, %ld "
	       "MB\n",
		n, learners, SEEDS, seconds, events / seconds / 1e6, usage.ru_maxrss / 1000);
}

int main(void)
{
	puts("1..2");
	measure(1, 1);
	measure(8, 2);
	return 0;
}
