/*
 * A channel: one TCP connection between two participants, its bytes and nothing of their
 * meaning. Out go frames' heads from a buffer and payload from a shared file of pages
 * (sendfile: not copied); in come frames, and payload is discarded unread (MSG_TRUNC). Every
 * byte is counted, payload and framing apart.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/live/live.h"
#include "bench/live/loop.h"
#include "bench/live/wire.h"

/* The size of the file that payload is sent from; larger chunks take it several times. */
#define CHANNEL_POOL (256 << 10)

enum channel_state {
	CHANNEL_CLOSED,
	CHANNEL_CONNECTING, /* connect() is under way */
	CHANNEL_GREETING,   /* our hello is sent, theirs has not come */
	CHANNEL_WAITING,    /* both have; the session is not ready yet */
	CHANNEL_OPEN,
};

struct peer;

struct channel {
	struct loop_source source;
	struct loop *loop;
	struct peer *peer;
	int index;
	enum channel_state state;
	int fd; /* -1 while closed */
	int pool_fd;
	struct traffic *bytes; /* where traffic is counted */
	uint32_t events;       /* what epoll watches */
	bool blocked;	       /* the socket was full; wait for EPOLLOUT */
	uint8_t *out;	       /* heads to send: out[out_sent .. out_count) */
	size_t out_sent, out_count, out_room;
	int64_t body_out; /* payload to send after them */
	uint8_t in[WIRE_LONGEST];
	size_t in_count;
	int64_t body_in;      /* payload to discard before the next head */
	uint64_t body_id;     /* the message it belongs to */
	bool dry;	      /* the last read took all there was */
	int lowat, lowat_max; /* SO_RCVLOWAT, and its largest */
};

/* A memory file of CHANNEL_POOL bytes; its descriptor or a negative errno. */
int channel_pool_open(void);

/* Starts a connection. 0 or a negative errno; the channel is CONNECTING then. */
int channel_connect(struct channel *c, const struct sockaddr_in *to, int notsent_lowat);
/* Takes over an accepted connection that is registered with the loop already. */
int channel_adopt(struct channel *c, int fd, int notsent_lowat);
void channel_close(struct channel *c);
void channel_release(struct channel *c); /* closes and frees */

/* What epoll shall report, besides errors. */
int channel_watch(struct channel *c, uint32_t events);

/* Appends a frame to what is to be sent; its payload, if any, follows it. */
void channel_put(struct channel *c, const struct wire_frame *frame);
bool channel_pending(const struct channel *c);
/* 0: everything pending is sent; -EAGAIN: the socket is full; otherwise why it broke. */
int channel_write(struct channel *c);

/*
 * To be called when reading ends for now: epoll reports the channel again when the rest of a
 * body, or a good part of it, has arrived, instead of at every packet. 0 or a negative errno.
 */
int channel_rest(struct channel *c);

enum channel_got { CHANNEL_FRAME = 1, CHANNEL_BODY };
/*
 * Reads one thing. CHANNEL_FRAME: *frame is set, and `length` bytes of body follow for FIRST and
 * CHUNK; CHANNEL_BODY: *body payload bytes were discarded. -EAGAIN: nothing (more) to read;
 * -ECONNRESET: the peer closed; -EPROTO: no frame of ours; otherwise why it broke.
 */
int channel_read(struct channel *c, struct wire_frame *frame, int64_t *body);

/* TCP_INFO added to *sum (rtt as a sum, min_rtt as a minimum), real time. false if unknown. */
bool channel_info(const struct channel *c, struct tcp_sample *sum);
