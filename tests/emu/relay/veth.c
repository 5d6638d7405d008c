/* See veth.h; `ip` makes the pair. */
#include "tests/emu/relay/veth.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void veth_up(struct rig *rig, const char *congestion, int64_t window_bytes)
{
	struct error err = {0};
	char command[256];

	rig_topology(rig, congestion, window_bytes);
	snprintf(command, sizeof command,
		"ip link add " SITE_DEVICE " netns /proc/%d/fd/%d type veth peer name " SITE_DEVICE
		" netns /proc/%d/fd/%d",
		(int)getpid(), rig->topology->sites[0].netns_fd, (int)getpid(),
		rig->topology->sites[1].netns_fd);
	if (system(command) != 0)
		exit(1);
	for (int i = 0; i < 2; i++)
		if (topology_attach(rig->topology, i, LINK_MTU, 1000, 0, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			exit(1);
		}
}
