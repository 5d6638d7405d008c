/*
 * Starting an agent's process: a fork that enters its site, gives up what it does not need and
 * never returns.
 */
#pragma once

#include <sys/types.h>

#include "bench/live/agent.h"

/*
 * Forks the agent of setup->self; its control_fd is set here. *fd is the controller's end of the
 * pair. What goes wrong in the child comes back as NEWS_FAILED.
 */
int spawn_agent(struct agent_setup *setup, const struct topology *t, pid_t *pid, int *fd,
	struct error *err);
