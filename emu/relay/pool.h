/*
 * The memory of what is in flight. A packet is a record with its first bytes, headers among them,
 * inside; the rest lies in a chain of small granules. Records and granules come from two arenas,
 * last freed first taken, so that a short link stays in the cache and nothing is ever allocated
 * per packet.
 *
 * Granules rather than large chunks, because packets of one site leave at very different times:
 * one small packet on a long link would hold a whole chunk. A small packet costs its record, a
 * full frame its record and two granules, a super-packet one granule per 704 bytes; neighbouring
 * granules are read and written as one piece.
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
#define POOL_HEAD_BYTES 192    /* of a frame, inside its record */
#define POOL_GRANULE_BYTES 704 /* two of them and the record hold a frame of 1500 bytes */
#define POOL_GRANULES_MAX 94   /* of one frame */
#define POOL_FACTOR 1.3
#define POOL_FIXED_BYTES (UINT64_C(56) << 20)
#define POOL_IOV_MAX (1 + POOL_GRANULES_MAX)

/* A packet in flight, or a run of its segments: those of another packet it shares the bytes of. */
struct packet {
	struct packet *next;  /* in the lane it waits in */
	struct packet *root;  /* whose bytes these are: itself, or what it was cut from */
	int64_t at_ns;        /* when its last segment is where it is going */
	int64_t span_ns;      /* how long before that its first segment is */
	uint32_t bytes;       /* of the frame (root) */
	uint32_t granule;     /* first of the chain (root) */
	uint32_t references;  /* to the bytes (root) */
	uint16_t first, count; /* the segments this is about */
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

/* Bytes of records and granules in use; the high-water mark is what the pool has touched. */
uint64_t pool_used(const struct pool *pool);
