/*
 * The mesh: all peers of one participant, and the socket on which they are accepted.
 */
#pragma once

#include "bench/live/peer.h"

#define MESH_PORT 20000 /* participant i listens on MESH_PORT + i: below the ephemeral ports */

struct mesh_node {
	char name[SITE_NAME_MAX + 16]; /* for messages to people: "site-3 (learner)" */
	struct in_addr address;
	int site;
	uint32_t incarnation; /* the last one the controller knows of */
};

/* Times are real. Everything is borrowed until mesh_close. */
struct mesh_config {
	int self, n_nodes;
	int connections;
	int pool_fd;
	int64_t rate_bps;   /* of the own link's up direction */
	int64_t attempt_ns; /* an attempt to connect that takes longer begins again */
	int64_t beat_ns, silence_ns;
	struct traffic *link, *local; /* where traffic is counted */
	struct mesh_node nodes[PARTICIPANTS_MAX];
};

struct mesh_user {
	void (*up)(struct mesh *mesh, int peer);
	void (*lost)(struct mesh *mesh, int peer);
	void (*message)(struct mesh *mesh, int peer, const struct rt_message *message);
	void (*pong)(struct mesh *mesh, int peer, int64_t rtt_ns);
	void (*silence)(struct mesh *mesh, int peer, bool silent);
	void (*failed)(struct mesh *mesh, const char *text); /* this must end the case */
};

/* An accepted connection that has not said who it is. */
struct mesh_guest {
	struct loop_source source;
	struct mesh *mesh;
	int fd; /* -1: free */
	uint8_t in[WIRE_HEAD];
	size_t in_count;
};

struct mesh {
	struct loop *loop;
	const struct mesh_config *config;
	const struct mesh_user *user;
	struct loop_source listener;
	int listen_fd;
	int notsent_lowat;
	struct peer *peers[PARTICIPANTS_MAX]; /* NULL at self */
	struct peer *dirty;
	uint64_t sent, received; /* messages in the sessions that exist */
	size_t n_guests;
	struct mesh_guest *guests;
	struct loop_timer beat;
};

/* Listens, and begins to connect. */
int mesh_open(struct mesh *mesh, struct loop *loop, const struct mesh_config *config,
	const struct mesh_user *user, struct error *err);
void mesh_close(struct mesh *mesh);

/* Queued; written by mesh_settle. msg is copied. */
void mesh_send(struct mesh *mesh, int peer, const struct rt_message *message);
void mesh_ping(struct mesh *mesh, int peer);
void mesh_settle(struct mesh *mesh);

bool mesh_is_up(const struct mesh *mesh, int peer);
/* Sum of the incarnations of all participants as known here. */
uint64_t mesh_epoch(const struct mesh *mesh);

/* For peers: a peer has something to write. */
void mesh_dirty(struct mesh *mesh, struct peer *peer);
void mesh_fail(struct mesh *mesh, const char *format, ...) __attribute__((format(printf, 2, 3)));
