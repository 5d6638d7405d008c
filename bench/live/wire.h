/*
 * The wire format between agents: what precedes every payload byte, and the few frames without
 * payload. Little-endian, of fixed sizes: a head of WIRE_HEAD bytes, followed by WIRE_NUMBERS
 * bytes where a message's numbers are carried.
 *
 *   byte 0  type     1  version     2  index (u16)     4  a (u32)
 *        8  b (u64)                16  c (u64)        24  d (u64)
 *
 *   HELLO   index = connection, a = magic, b = participant | connections << 32,
 *           c = session, d = the sender's incarnation
 *   PING, PONG  b = the pinger's clock
 *   FIRST, CHUNK  a = length, b = message id, c = offset, d = the message's payload in total;
 *           `length` payload bytes follow. FIRST is the chunk at offset 0 and carries the numbers
 *   SIGNAL  a message without payload: its numbers
 *   READY, BEAT  nothing
 *
 * Whatever a frame does not use is zero. Decoding accepts exactly what encoding can produce, so
 * that decode followed by encode gives the same bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bench/runtime.h"

#define WIRE_VERSION 1
#define WIRE_MAGIC UINT32_C(0x6b6c776e) /* "nwlk" */
#define WIRE_HEAD 32
#define WIRE_NUMBERS 48
#define WIRE_LONGEST (WIRE_HEAD + WIRE_NUMBERS)
#define WIRE_CHUNK_MAX (1 << 20)

enum wire_type {
	WIRE_HELLO = 1, /* the first frame in both directions of a connection */
	WIRE_READY,	/* from the initiator: all connections of this session have said hello */
	WIRE_BEAT,	/* the sender is alive */
	WIRE_PING,
	WIRE_PONG,
	WIRE_SIGNAL,
	WIRE_FIRST,
	WIRE_CHUNK,
};

struct wire_frame {
	enum wire_type type;
	uint16_t index, connections; /* HELLO */
	uint32_t participant;	     /* HELLO */
	uint32_t incarnation;	     /* HELLO */
	uint64_t session;	     /* HELLO */
	uint64_t stamp;		     /* PING, PONG */
	uint64_t id;		     /* FIRST, CHUNK */
	int64_t offset, total;	     /* FIRST, CHUNK */
	uint32_t length;	     /* FIRST, CHUNK: 1 to WIRE_CHUNK_MAX */
	struct rt_message message;   /* SIGNAL, FIRST */
};

/* Writes the frame's head (and numbers) and returns its size, at most WIRE_LONGEST. */
size_t wire_encode(const struct wire_frame *frame, uint8_t out[WIRE_LONGEST]);

/* The size of a frame by its first byte; 0 if there is no such type. */
size_t wire_size(uint8_t type);

/*
 * Decodes a frame of exactly wire_size(in[0]) bytes. -EPROTO if it is not one that wire_encode
 * could have written; *frame is set only on success.
 */
int wire_decode(struct wire_frame *frame, const uint8_t *in, size_t size);
