/*
 * The crew: all agents' processes as the controller sees them. It starts them, reads what they
 * tell, kills and reaps them, and knows when one died that should not have.
 */
#pragma once

#include "bench/live/spawn.h"

struct crew;

struct member {
	struct loop_source source;
	struct crew *crew;
	int participant;
	pid_t pid; /* 0: no process */
	int fd;
	bool connected, measured, done;
	int64_t still_ns; /* as last looked at by crew_stood_still */
};

struct crew_user {
	/* news of a participant; for one that is being killed, before crew_kill returns */
	void (*news)(struct crew *crew, int participant, const struct news *news);
	/* an agent is gone and nobody killed it; text is one clause about how */
	void (*died)(struct crew *crew, int participant, const char *text);
};

struct crew {
	struct loop *loop;
	const struct scenario *scenario;
	const struct topology *topology;
	const struct crew_user *user;
	struct agent_setup setup;	/* the common part */
	struct live_counters *counters; /* shared memory, one per participant */
	int n;
	struct member members[PARTICIPANTS_MAX];
};

int crew_open(struct crew *crew, struct loop *loop, const struct scenario *s,
	const struct topology *t, const struct crew_user *user, struct error *err);
void crew_close(struct crew *crew); /* kills and reaps whoever is left */

/* t0_ns: 0 before the start, for an agent that waits to be told. */
int crew_start(struct crew *crew, int participant, int64_t t0_ns, struct error *err);
/* SIGKILL; reads what it had told before, then reaps it. The next one is a new incarnation. */
void crew_kill(struct crew *crew, int participant);
/* Reads all that has been told up to now. */
void crew_read(struct crew *crew);
/* Asks all to stop, reads until they have, kills those that take longer than grace_ns. */
void crew_stop(struct crew *crew, int64_t grace_ns);

void crew_tell(struct crew *crew, const struct order *order);	 /* to all */
const char *crew_name(const struct crew *crew, int participant); /* "site-3 (learner)" */
/*
 * An agent that is stopped, or gets no processor, says so to nobody. Whether the participant's
 * has run again, since this was last asked, after it did not for 2 s or longer by its own clock;
 * at_end: or still does not. *for_ns is how long that was, real time.
 */
bool crew_stood_still(struct crew *crew, int participant, bool at_end, int64_t *for_ns);
