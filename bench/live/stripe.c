/* The queue of messages to one peer and how they are cut; see stripe.h. */
#include "bench/live/stripe.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"

#define CHUNK_TIME_NS (10 * NS_PER_MS)
#define UNSENT_MIN (16 << 10)
#define UNSENT_MAX (512 << 10)

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

int64_t stripe_chunk_max(int64_t rate_bps, int connections)
{
	return clamp(clock_bytes_in(CHUNK_TIME_NS, rate_bps) / connections, STRIPE_CHUNK_MIN,
		WIRE_CHUNK_MAX);
}

void stripe_init(struct stripe *s, int connections, int64_t chunk_max)
{
	*s = (struct stripe){.connections = connections, .chunk_max = chunk_max};
}

static void grow(struct stripe *s)
{
	size_t room = s->room ? 2 * s->room : 16;
	struct stripe_item *items = memory_zero(room, sizeof *items);

	for (size_t i = 0; i < s->count; i++)
		items[i] = s->items[(s->first + i) & (s->room - 1)];
	free(s->items);
	s->items = items;
	s->room = room;
	s->first = 0;
}

void stripe_put(struct stripe *s, const struct rt_message *message)
{
	if (s->count == s->room)
		grow(s);
	s->items[(s->first + s->count++) & (s->room - 1)] =
		(struct stripe_item){.message = *message, .id = s->next_id++};
}

/* Half of an equal share of what remains, within the limits; a rest too small is not left. */
static int64_t chunk_length(const struct stripe *s, int64_t remaining)
{
	int64_t length = clamp(remaining / (2 * s->connections), STRIPE_CHUNK_MIN, s->chunk_max);

	if (remaining - length < STRIPE_CHUNK_MIN / 2 && remaining <= WIRE_CHUNK_MAX)
		return remaining;
	return length;
}

int64_t stripe_unsent(int64_t chunk_max)
{
	return clamp(chunk_max / 2, UNSENT_MIN, UNSENT_MAX);
}

int64_t stripe_framing(int64_t bytes, int connections, int64_t chunk_max)
{
	const struct stripe s = {.connections = connections, .chunk_max = chunk_max};
	int64_t framing = WIRE_NUMBERS;

	for (; bytes > 0; bytes -= chunk_length(&s, bytes))
		framing += WIRE_HEAD;
	return framing;
}

bool stripe_cut(struct stripe *s, struct wire_frame *out)
{
	struct stripe_item *item;
	int64_t length;

	if (!s->count)
		return false;
	item = &s->items[s->first];
	length = chunk_length(s, item->message.bytes - item->offset);
	*out = (struct wire_frame){
		.type = item->offset ? WIRE_CHUNK : WIRE_FIRST,
		.id = item->id,
		.offset = item->offset,
		.length = (uint32_t)length,
		.total = item->message.bytes,
		.message = item->message,
	};
	item->offset += length;
	if (item->offset == item->message.bytes) {
		s->first = (s->first + 1) & (s->room - 1);
		s->count--;
	}
	return true;
}

void stripe_clear(struct stripe *s)
{
	s->first = s->count = 0;
	s->next_id = 0;
}

void stripe_release(struct stripe *s)
{
	free(s->items);
	*s = (struct stripe){0};
}
