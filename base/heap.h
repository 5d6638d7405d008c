/*
 * An intrusive binary heap ordered by time, earliest first; equal times in the order they were
 * pushed, so that a run does not depend on the heap's inner layout.
 *
 * An element embeds a struct heap_node and is owned by its user; the heap holds pointers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
	int64_t at_ns;
	uint64_t order; /* set by heap_push */
	size_t index;	/* 1-based place; 0 when not in a heap */
};

struct heap {
	struct heap_node **nodes;
	size_t count, room;
	uint64_t pushed;
};

void heap_push(struct heap *h, struct heap_node *node, int64_t at_ns);
struct heap_node *heap_peek(const struct heap *h); /* NULL when empty */
struct heap_node *heap_pop(struct heap *h);	   /* NULL when empty */
void heap_remove(struct heap *h, struct heap_node *node);
void heap_release(struct heap *h); /* frees the array, not the elements */

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
