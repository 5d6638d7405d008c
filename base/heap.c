/* The time-ordered heap; see heap.h. Indices are 1-based: parent of i is i/2. */
#include "base/heap.h"

#include <stdlib.h>

#include "base/memory.h"

static bool before(const struct heap_node *a, const struct heap_node *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void place(struct heap *h, size_t i, struct heap_node *node)
{
	h->nodes[i] = node;
	node->index = i;
}

static void sift_up(struct heap *h, size_t i, struct heap_node *node)
{
	while (i > 1 && before(node, h->nodes[i / 2])) {
		place(h, i, h->nodes[i / 2]);
		i /= 2;
	}
	place(h, i, node);
}

static void sift_down(struct heap *h, size_t i, struct heap_node *node)
{
	for (;;) {
		size_t child = 2 * i;

		if (child > h->count)
			break;
		if (child < h->count && before(h->nodes[child + 1], h->nodes[child]))
			child++;
		if (!before(h->nodes[child], node))
			break;
		place(h, i, h->nodes[child]);
		i = child;
	}
	place(h, i, node);
}

void heap_push(struct heap *h, struct heap_node *node, int64_t at_ns)
{
	if (h->count + 1 >= h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->nodes = memory_resize(h->nodes, h->room, sizeof *h->nodes);
	}
	node->at_ns = at_ns;
	node->order = h->pushed++;
	h->count++;
	sift_up(h, h->count, node);
}

struct heap_node *heap_peek(const struct heap *h)
{
	return h->count ? h->nodes[1] : NULL;
}

void heap_remove(struct heap *h, struct heap_node *node)
{
	size_t i = node->index;
	struct heap_node *last = h->nodes[h->count--];

	node->index = 0;
	if (last == node)
		return;
	if (i > 1 && before(last, h->nodes[i / 2]))
		sift_up(h, i, last);
	else
		sift_down(h, i, last);
}

struct heap_node *heap_pop(struct heap *h)
{
	struct heap_node *first = heap_peek(h);

	if (first)
		heap_remove(h, first);
	return first;
}

void heap_release(struct heap *h)
{
	free(h->nodes);
	*h = (struct heap){0};
}
