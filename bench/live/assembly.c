/* A window of messages by id, from the oldest incomplete one on; see assembly.h. */
#include "bench/live/assembly.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

static struct assembly_item *item_at(struct assembly *a, uint64_t id)
{
	return &a->items[(a->first + (size_t)(id - a->base)) & (a->room - 1)];
}

/* Makes room for messages up to and including the n-th of the window. */
static void widen(struct assembly *a, size_t n)
{
	size_t room = a->room ? a->room : 16;
	struct assembly_item *items;

	while (room < n)
		room *= 2;
	if (room != a->room) {
		items = memory_zero(room, sizeof *items);
		for (size_t i = 0; i < a->count; i++)
			items[i] = a->items[(a->first + i) & (a->room - 1)];
		free(a->items);
		a->items = items;
		a->room = room;
		a->first = 0;
	}
	for (; a->count < n; a->count++)
		a->items[(a->first + a->count) & (a->room - 1)] = (struct assembly_item){0};
}

int assembly_claim(struct assembly *a, const struct wire_frame *chunk)
{
	struct assembly_item *item;

	if (chunk->id < a->base || chunk->id - a->base >= ASSEMBLY_MAX)
		return -EPROTO;
	widen(a, (size_t)(chunk->id - a->base) + 1);
	item = item_at(a, chunk->id);
	if (item->known && item->total != chunk->total)
		return -EPROTO;
	if (chunk->type == WIRE_FIRST && item->first)
		return -EPROTO;
	if (chunk->length > chunk->total - item->claimed)
		return -EPROTO;
	if (chunk->type == WIRE_FIRST) {
		item->message = chunk->message;
		item->first = true;
	}
	item->known = true;
	item->total = chunk->total;
	item->claimed += chunk->length;
	return 0;
}

void assembly_arrived(struct assembly *a, uint64_t id, int64_t bytes)
{
	item_at(a, id)->arrived += bytes;
}

bool assembly_take(struct assembly *a, struct rt_message *out)
{
	struct assembly_item *item;

	if (!a->count)
		return false;
	item = item_at(a, a->base);
	if (!item->first || item->arrived < item->total)
		return false;
	*out = item->message;
	a->first = (a->first + 1) & (a->room - 1);
	a->base++;
	a->count--;
	return true;
}

void assembly_clear(struct assembly *a)
{
	a->first = a->count = 0;
	a->base = 0;
}

void assembly_release(struct assembly *a)
{
	free(a->items);
	*a = (struct assembly){0};
}
