/*
 * The memory of what is in flight. A packet is a record with its first bytes, headers among them,
 * inside; the rest lies in blocks that grow with it: two small ones complete a full frame, the
 * largest are of 8 KiB, since copying in small parts is slow. A packet has as many as it needs.
 * Records and blocks come from arenas, last freed first taken, so that a short link stays in
 * the cache and nothing is ever allocated per packet.
 *
 * Blocks of a packet's own rather than large chunks shared by many, because packets leave at very
 * different times: one small packet on a long link would hold a whole chunk.
 *
 * Single-threaded. Memory is address space until it is touched. The pool holds itself to
 * POOL_FACTOR times the bytes it carries and POOL_FIXED_BYTES more, which a flood of tiny packets
 * would exceed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/error.h"
#include "emu/relay/packet.h"

#define POOL_RECORD_BYTES 256
#define POOL_HEAD_BYTES 182 /* of a frame, inside its record */
#define POOL_CLASSES 4	    /* sizes of blocks */
#define POOL_BLOCKS_MAX 14  /* of a frame */
#define POOL_IOV_MAX (1 + POOL_BLOCKS_MAX)
#define POOL_FACTOR 1.3
#define POOL_FIXED_BYTES (UINT64_C(56) << 20)

/* A packet in flight, or a run of its segments: those of another packet it shares the bytes of. */
struct packet {
	struct packet *next;	       /* in the lane it waits in */
	struct packet *root;	       /* whose bytes these are: itself, or what it was cut from */
	int64_t at_ns;		       /* when its last segment is where it is going */
	int64_t span_ns;	       /* how long before that its first segment is */
	uint32_t bytes;		       /* of the frame (root) */
	uint32_t blocks[POOL_CLASSES]; /* first of each class's chain (root) */
	uint32_t references;	       /* to the bytes (root) */
	uint16_t first, count;	       /* the segments this is about */
	struct packet_shape shape;
	uint8_t from, to;
	uint8_t head[POOL_HEAD_BYTES];
};

struct pool;

/* limit_bytes bounds what may ever be touched. -ENOMEM when the address space is refused. */
int pool_new(struct pool **out, uint64_t limit_bytes, struct error *err);
struct pool *pool_free(struct pool *pool); /* accepts NULL, returns NULL */

/* Room for the next frame to be read into; the same until pool_take. */
const struct iovec *pool_room(struct pool *pool, int *n_iov);

/*
 * Makes a packet of the `bytes` bytes (at most PACKET_FRAME_MAX) that were read into the room;
 * its shape is the caller's to set. Never fails: but when pool_exhausted then says so, there is
 * no room for more or the bound is reached, and the packet must be released before the next
 * pool_room.
 */
struct packet *pool_take(struct pool *pool, size_t bytes);
bool pool_exhausted(const struct pool *pool);

/* Another packet on the same bytes; NULL when there is no record left. */
struct packet *pool_share(struct pool *pool, const struct packet *p);
void pool_release(struct pool *pool, struct packet *p);

/* The parts of memory that hold [offset, offset + bytes) of p's frame; returns how many. */
int pool_parts(const struct pool *pool, const struct packet *p, size_t offset, size_t bytes,
	struct iovec iov[POOL_IOV_MAX]);

/* Bytes of records and blocks in use; the high-water mark is what the pool has touched. */
uint64_t pool_used(const struct pool *pool);
