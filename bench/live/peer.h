/*
 * A peer: another participant, and the channels to it.
 *
 * There are `connections` channels for payload and one more, the last, for what has none:
 * heartbeats, pings and messages of zero bytes. So those do not wait behind hundreds of
 * megabytes, and heartbeats do not keep an idle payload connection's congestion window warm.
 *
 * The participant with the higher id connects to the lower. A session is one set of channels; it
 * is up for the initiator when the acceptor has said hello on all of them, and for the acceptor
 * when the initiator's READY says so. Until then the acceptor reads nothing else. When one
 * channel breaks, the session ends: all are closed, and queued and partial messages are gone.
 */
#pragma once

#include "bench/live/assembly.h"
#include "bench/live/channel.h"
#include "bench/live/stripe.h"

struct mesh;

enum peer_state { PEER_DOWN, PEER_MEETING, PEER_UP };

struct peer {
	struct mesh *mesh;
	int id;
	bool initiator, local; /* we connect to it; it is on our own site */
	enum peer_state state;
	int n_channels; /* those for payload, then the one for the rest */
	struct channel *channels;
	int turn;	  /* which channel is offered the next chunk first */
	uint64_t session; /* the initiator's incarnation << 32 | its attempt; 0: none yet */
	int greeted;	  /* channels on which the peer has said hello */
	uint32_t hello_incarnation; /* as it said in this session */
	uint32_t incarnation;	    /* that was up last, or the controller knew of */
	int64_t last_up;	    /* the incarnation that was up last; -1: none */
	int last_error;		    /* why the last attempt failed; 0 if none did */
	struct stripe out;
	struct assembly in;
	uint64_t sent, received;	   /* messages of this session */
	uint64_t cut_bytes, sampled_bytes; /* payload given to channels, ever and at last sample */
	int64_t heard_ns;
	bool silent;
	struct loop_timer retry;
	bool dirty; /* has something to write; in the mesh's list */
	struct peer *next_dirty;
};

void peer_init(struct peer *p, struct mesh *mesh, int id);
void peer_release(struct peer *p);

/* The initiator's: begins an attempt now. */
void peer_meet(struct peer *p);
/* The acceptor's: a connection whose first frame was this hello. Takes fd, in every case. */
void peer_accept(struct peer *p, const struct wire_frame *hello, int fd);

void peer_send(struct peer *p, const struct rt_message *message);   /* does nothing unless up */
void peer_put(struct peer *p, enum wire_type type, uint64_t stamp); /* BEAT, PING; if up */
void peer_beat(struct peer *p);	 /* unless one waits to be sent already; notices silence */
void peer_write(struct peer *p); /* writes what can be written */

/*
 * TCP_INFO over the payload channels, in real time. false if nothing was sent since the last
 * call, or the peer is down.
 */
bool peer_info(struct peer *p, struct tcp_sample *out);
