/*
 * A mesh and a ghost: the other participant is played by the test with plain sockets and the
 * wire format, so that it can do what an agent of ours would not.
 */
#pragma once

#include "bench/live/mesh.h"

#define CONNECTIONS 3
#define CHANNELS (CONNECTIONS + 1)

struct rig {
	struct loop loop;
	struct mesh mesh;
	struct mesh_config config;
	struct traffic link, local;
	int ups, losts, messages;
	bool message_before_up;
	struct rt_message last;
	char failure[512];
	struct loop_timer wake;
	int listen_fd, fds[CHANNELS]; /* the ghost's */
	uint64_t session;	      /* as the mesh said hello */
};

/* Lets the mesh do what it can, for a millisecond at most. */
void step(struct rig *rig);
void rig_open(struct rig *rig, int self);
void ghost_close(struct rig *rig);
void rig_close(struct rig *rig);
void ghost_put(int fd, const struct wire_frame *frame);
/* Reads a frame, stepping the mesh meanwhile; beats are passed over. */
struct wire_frame ghost_get(struct rig *rig, int fd);
int ghost_listen(void);
/* The ghost as acceptor, participant 0: greets on all channels and waits for READY. */
void ghost_accept(struct rig *rig, uint32_t incarnation);
void ghost_accept_ready(struct rig *rig, uint32_t incarnation);
/* The ghost as initiator, participant 1: one connection and its hello. */
int ghost_connect(const struct wire_frame *hello);
struct wire_frame ghost_hello(uint32_t incarnation, uint32_t attempt, int index);
void ghost_connect_all(struct rig *rig, uint32_t incarnation, uint32_t attempt);
void wait_for(struct rig *rig, const int *count, int want);
void wait_failure(struct rig *rig, const char *part);
/* Whether the mesh closes a connection of the ghost's. */
void assert_closed(struct rig *rig, int fd);
/* Discards what has come on a connection, at most `most` bytes. */
int64_t drain(int fd, int64_t most);
