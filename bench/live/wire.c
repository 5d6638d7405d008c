/*
 * Encoding and decoding of frames; see wire.h. Everything that comes in is checked here, before
 * a number of it is used: the rest of the runtime relies on lengths and offsets being sane.
 */
#include "bench/live/wire.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* A head as it stands on the wire. */
struct head {
	uint8_t type, version;
	uint16_t index;
	uint32_t a;
	uint64_t b, c, d;
};

static void put16(uint8_t *out, uint16_t v)
{
	v = htole16(v);
	memcpy(out, &v, sizeof v);
}

static void put32(uint8_t *out, uint32_t v)
{
	v = htole32(v);
	memcpy(out, &v, sizeof v);
}

static void put64(uint8_t *out, uint64_t v)
{
	v = htole64(v);
	memcpy(out, &v, sizeof v);
}

static uint16_t get16(const uint8_t *in)
{
	uint16_t v;

	memcpy(&v, in, sizeof v);
	return le16toh(v);
}

static uint32_t get32(const uint8_t *in)
{
	uint32_t v;

	memcpy(&v, in, sizeof v);
	return le32toh(v);
}

static uint64_t get64(const uint8_t *in)
{
	uint64_t v;

	memcpy(&v, in, sizeof v);
	return le64toh(v);
}

size_t wire_size(uint8_t type)
{
	if (type < WIRE_HELLO || type > WIRE_CHUNK)
		return 0;
	return type == WIRE_SIGNAL || type == WIRE_FIRST ? WIRE_LONGEST : WIRE_HEAD;
}

static void put_numbers(uint8_t *out, const struct rt_message *m)
{
	put16(out, m->kind);
	put16(out + 2, m->fragment);
	put32(out + 4, m->stage);
	put64(out + 8, m->round);
	put64(out + 16, m->epoch);
	put64(out + 24, m->tokens);
	put64(out + 32, m->steps);
	put64(out + 40, (uint64_t)m->sent_ns);
}

static void get_numbers(struct rt_message *m, const uint8_t *in, int64_t bytes)
{
	*m = (struct rt_message){
		.kind = get16(in),
		.fragment = get16(in + 2),
		.stage = get32(in + 4),
		.round = get64(in + 8),
		.epoch = get64(in + 16),
		.tokens = get64(in + 24),
		.steps = get64(in + 32),
		.sent_ns = (int64_t)get64(in + 40),
		.bytes = bytes,
	};
}

static struct head to_head(const struct wire_frame *f)
{
	struct head h = {.type = (uint8_t)f->type, .version = WIRE_VERSION};

	switch (f->type) {
	case WIRE_HELLO:
		h.index = f->index;
		h.a = WIRE_MAGIC;
		h.b = f->participant | (uint64_t)f->connections << 32;
		h.c = f->session;
		h.d = f->incarnation;
		break;
	case WIRE_PING:
	case WIRE_PONG:
		h.b = f->stamp;
		break;
	case WIRE_FIRST:
	case WIRE_CHUNK:
		h.a = f->length;
		h.b = f->id;
		h.c = (uint64_t)f->offset;
		h.d = (uint64_t)f->total;
		break;
	case WIRE_READY:
	case WIRE_BEAT:
	case WIRE_SIGNAL:
		break;
	}
	return h;
}

size_t wire_encode(const struct wire_frame *f, uint8_t out[WIRE_LONGEST])
{
	struct head h = to_head(f);
	size_t size = wire_size(h.type);

	out[0] = h.type;
	out[1] = h.version;
	put16(out + 2, h.index);
	put32(out + 4, h.a);
	put64(out + 8, h.b);
	put64(out + 16, h.c);
	put64(out + 24, h.d);
	if (size == WIRE_LONGEST)
		put_numbers(out + WIRE_HEAD, &f->message);
	return size;
}

static bool hello_from(struct wire_frame *f, const struct head *h)
{
	if (h->a != WIRE_MAGIC || h->b >> 48 || h->d >> 32)
		return false;
	f->index = h->index;
	f->participant = (uint32_t)h->b;
	f->connections = (uint16_t)(h->b >> 32);
	f->session = h->c;
	f->incarnation = (uint32_t)h->d;
	return true;
}

static bool chunk_from(struct wire_frame *f, const struct head *h)
{
	if (h->index || h->c > INT64_MAX || h->d > INT64_MAX)
		return false;
	if (h->a < 1 || h->a > WIRE_CHUNK_MAX || h->c >= h->d || h->a > h->d - h->c)
		return false;
	if ((h->c == 0) != (h->type == WIRE_FIRST))
		return false;
	f->length = h->a;
	f->id = h->b;
	f->offset = (int64_t)h->c;
	f->total = (int64_t)h->d;
	return true;
}

static bool from_head(struct wire_frame *f, const struct head *h)
{
	bool empty = !h->index && !h->a && !h->c && !h->d;

	switch (f->type) {
	case WIRE_HELLO:
		return hello_from(f, h);
	case WIRE_PING:
	case WIRE_PONG:
		f->stamp = h->b;
		return empty;
	case WIRE_FIRST:
	case WIRE_CHUNK:
		return chunk_from(f, h);
	case WIRE_READY:
	case WIRE_BEAT:
	case WIRE_SIGNAL:
		return empty && !h->b;
	}
	return false;
}

int wire_decode(struct wire_frame *frame, const uint8_t *in, size_t size)
{
	struct wire_frame f = {0};
	struct head h;

	if (size < WIRE_HEAD || size != wire_size(in[0]) || in[1] != WIRE_VERSION)
		return -EPROTO;
	h = (struct head){.type = in[0],
		.version = in[1],
		.index = get16(in + 2),
		.a = get32(in + 4),
		.b = get64(in + 8),
		.c = get64(in + 16),
		.d = get64(in + 24)};
	f.type = h.type;
	if (!from_head(&f, &h))
		return -EPROTO;
	if (size == WIRE_LONGEST)
		get_numbers(&f.message, in + WIRE_HEAD, f.total);
	*frame = f;
	return 0;
}
