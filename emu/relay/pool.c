/*
 * Records and blocks; see pool.h. An arena is address space with a stack of free elements on its
 * side; elements that were never used lie beyond `fresh` and cost nothing yet.
 */
#include "emu/relay/pool.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "emu/link.h"

static_assert(sizeof(struct packet) == POOL_RECORD_BYTES, "a record is four cache lines");

#define NONE UINT32_MAX

/*
 * A frame fills its record's head, then the classes one after another. The sizes keep what the
 * last block leaves empty below 0.3 of the frame for full frames and for super-packets of full
 * segments, and half of that on average.
 */
static const struct {
	uint32_t bytes;
	int per_frame;
} classes[POOL_CLASSES] = {{704, 2}, {2048, 3}, {4096, 3}, {8192, 6}};

static_assert(POOL_HEAD_BYTES + 704 * 2 + 2048 * 3 + 4096 * 3 + 8192 * 6 >= PACKET_FRAME_MAX,
	"every frame fits");
static_assert(POOL_BLOCKS_MAX == 2 + 3 + 3 + 6, "the blocks of a frame");

struct arena {
	uint8_t *memory;
	uint32_t *free; /* stack of the free ones below fresh */
	uint32_t *next; /* of each block, the one that goes on after it in a frame */
	uint32_t n_free, fresh, room;
	size_t element_bytes;
	uint64_t used_bytes;
};

struct pool {
	struct arena records, blocks[POOL_CLASSES];
	uint64_t limit;
	uint64_t carried; /* bytes of the frames in use, with an Ethernet header each */
	/* For the next frame. */
	struct packet *record;
	uint32_t reserve[POOL_CLASSES][POOL_BLOCKS_MAX];
	int n_reserve[POOL_CLASSES];
	struct iovec iov[POOL_IOV_MAX];
	int n_iov;
};

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int arena_map(struct arena *a, uint64_t bytes, size_t element_bytes)
{
	uint64_t room = bytes / element_bytes;

	a->element_bytes = element_bytes;
	a->room = room < NONE ? (uint32_t)room : NONE - 1;
	a->memory = map(a->room * element_bytes);
	a->free = map(a->room * sizeof *a->free);
	a->next = map(a->room * sizeof *a->next);
	if (!a->memory || !a->free || !a->next)
		return -ENOMEM;
	madvise(a->memory, a->room * element_bytes, MADV_HUGEPAGE);
	return 0;
}

static void arena_unmap(struct arena *a)
{
	if (a->memory)
		munmap(a->memory, a->room * a->element_bytes);
	if (a->free)
		munmap(a->free, a->room * sizeof *a->free);
	if (a->next)
		munmap(a->next, a->room * sizeof *a->next);
}

static uint32_t arena_take(struct arena *a)
{
	uint32_t i = NONE;

	if (a->n_free > 0)
		i = a->free[--a->n_free];
	else if (a->fresh < a->room)
		i = a->fresh++;
	if (i != NONE)
		a->used_bytes += a->element_bytes;
	return i;
}

static void arena_give(struct arena *a, uint32_t i)
{
	a->free[a->n_free++] = i;
	a->used_bytes -= a->element_bytes;
}

static void *arena_at(const struct arena *a, uint32_t i)
{
	return a->memory + (size_t)i * a->element_bytes;
}

static struct packet *record_take(struct pool *pool)
{
	uint32_t i = arena_take(&pool->records);

	return i == NONE ? NULL : arena_at(&pool->records, i);
}

static void record_give(struct pool *pool, struct packet *p)
{
	size_t offset = (size_t)((uint8_t *)p - pool->records.memory);

	arena_give(&pool->records, (uint32_t)(offset / POOL_RECORD_BYTES));
}

/* Adds memory to a list of parts, to the last of them when it lies right behind it. */
static int parts_add(struct iovec *iov, int n, uint8_t *at, size_t bytes)
{
	if (n > 0 && (uint8_t *)iov[n - 1].iov_base + iov[n - 1].iov_len == at) {
		iov[n - 1].iov_len += bytes;
		return n;
	}
	iov[n] = (struct iovec){at, bytes};
	return n + 1;
}

/* Refills what the next frame needs, and says where to read it. */
static void room_fill(struct pool *pool)
{
	bool grown = false;

	for (int c = 0; c < POOL_CLASSES; c++) {
		while (pool->n_reserve[c] < classes[c].per_frame) {
			uint32_t i = arena_take(&pool->blocks[c]);

			if (i == NONE)
				break;
			pool->reserve[c][pool->n_reserve[c]++] = i;
			grown = true;
		}
	}
	if (!pool->record)
		pool->record = record_take(pool);
	if (pool->record)
		pool->iov[0] = (struct iovec){pool->record->head, POOL_HEAD_BYTES};
	if (!grown)
		return;
	pool->n_iov = 1;
	for (int c = 0; c < POOL_CLASSES; c++)
		for (int i = 0; i < pool->n_reserve[c]; i++)
			pool->n_iov = parts_add(pool->iov, pool->n_iov,
				arena_at(&pool->blocks[c], pool->reserve[c][i]), classes[c].bytes);
}

static bool room_full(const struct pool *pool)
{
	for (int c = 0; c < POOL_CLASSES; c++)
		if (pool->n_reserve[c] < classes[c].per_frame)
			return false;
	return pool->record != NULL;
}

int pool_new(struct pool **out, uint64_t limit_bytes, struct error *err)
{
	struct pool *pool = memory_zero(1, sizeof *pool);
	int r = arena_map(&pool->records, limit_bytes, POOL_RECORD_BYTES);

	for (int c = 0; r == 0 && c < POOL_CLASSES; c++)
		r = arena_map(&pool->blocks[c], limit_bytes, classes[c].bytes);
	pool->limit = limit_bytes;
	if (r == 0)
		room_fill(pool);
	if (r < 0 || !room_full(pool)) {
		pool_free(pool);
		return error_sys(err, -ENOMEM, "no room for %llu bytes of packets in flight",
			(unsigned long long)limit_bytes);
	}
	*out = pool;
	return 0;
}

struct pool *pool_free(struct pool *pool)
{
	if (!pool)
		return NULL;
	arena_unmap(&pool->records);
	for (int c = 0; c < POOL_CLASSES; c++)
		arena_unmap(&pool->blocks[c]);
	cleanup_free(&pool);
	return NULL;
}

const struct iovec *pool_room(struct pool *pool, int *n_iov)
{
	room_fill(pool);
	*n_iov = pool->n_iov;
	return pool->iov;
}

uint64_t pool_used(const struct pool *pool)
{
	uint64_t used = pool->records.used_bytes;

	for (int c = 0; c < POOL_CLASSES; c++)
		used += pool->blocks[c].used_bytes;
	return used;
}

bool pool_exhausted(const struct pool *pool)
{
	uint64_t used = pool_used(pool);

	return !room_full(pool) || used > pool->limit ||
	       (double)used > POOL_FACTOR * (double)pool->carried + POOL_FIXED_BYTES;
}

static uint64_t frame_bytes(const struct packet *p)
{
	return p->bytes + LINK_OVERHEAD_ETHERNET;
}

/* Moves what `bytes` need of a class from the reserve into a chain; returns the chain. */
static uint32_t chain_take(struct pool *pool, int c, size_t bytes)
{
	int n = (int)((bytes + classes[c].bytes - 1) / classes[c].bytes);
	uint32_t *reserve = pool->reserve[c], first;

	if (n == 0)
		return NONE;
	if (n > classes[c].per_frame)
		n = classes[c].per_frame;
	first = reserve[0];
	for (int i = 0; i < n; i++)
		pool->blocks[c].next[reserve[i]] = i + 1 < n ? reserve[i + 1] : NONE;
	pool->n_reserve[c] -= n;
	memmove(reserve, reserve + n, (size_t)pool->n_reserve[c] * sizeof *reserve);
	return first;
}

struct packet *pool_take(struct pool *pool, size_t bytes)
{
	size_t rest = bytes > POOL_HEAD_BYTES ? bytes - POOL_HEAD_BYTES : 0;
	struct packet *p = pool->record;

	p->next = NULL;
	p->root = p;
	p->bytes = (uint32_t)bytes;
	p->references = 1;
	pool->carried += frame_bytes(p);
	for (int c = 0; c < POOL_CLASSES; c++) {
		size_t whole = (size_t)classes[c].per_frame * classes[c].bytes;

		p->blocks[c] = chain_take(pool, c, rest);
		rest = rest > whole ? rest - whole : 0;
	}
	pool->record = NULL;
	room_fill(pool);
	return p;
}

struct packet *pool_share(struct pool *pool, const struct packet *p)
{
	struct packet *q = record_take(pool);

	if (!q)
		return NULL;
	memcpy(q, p, offsetof(struct packet, head));
	q->next = NULL;
	q->root->references++;
	return q;
}

/* Back in an order in which they will be taken as they lay in the frame. */
static void chain_give(struct arena *a, uint32_t first)
{
	uint32_t chain[POOL_BLOCKS_MAX];
	int n = 0;

	for (uint32_t i = first; i != NONE; i = a->next[i])
		chain[n++] = i;
	while (n > 0)
		arena_give(a, chain[--n]);
}

void pool_release(struct pool *pool, struct packet *p)
{
	struct packet *root = p->root;

	if (--root->references == 0) {
		pool->carried -= frame_bytes(root);
		for (int c = 0; c < POOL_CLASSES; c++)
			chain_give(&pool->blocks[c], root->blocks[c]);
		record_give(pool, root);
	}
	if (p != root)
		record_give(pool, p);
}

/* A range of a frame, of which parts are collected as the frame's memory goes by. */
struct range {
	size_t offset, bytes;
	struct iovec *iov;
	int n;
};

/* The frame's bytes [at, at + size) lie at memory. */
static void range_pass(struct range *r, size_t at, uint8_t *memory, size_t size)
{
	size_t skip, part;

	if (r->bytes == 0 || r->offset >= at + size)
		return;
	skip = r->offset - at;
	part = size - skip < r->bytes ? size - skip : r->bytes;
	r->n = parts_add(r->iov, r->n, memory + skip, part);
	r->offset += part;
	r->bytes -= part;
}

int pool_parts(const struct pool *pool, const struct packet *p, size_t offset, size_t bytes,
	struct iovec iov[POOL_IOV_MAX])
{
	struct range range = {.offset = offset, .bytes = bytes, .iov = iov};
	struct packet *root = p->root;
	size_t at = POOL_HEAD_BYTES;

	range_pass(&range, 0, root->head, POOL_HEAD_BYTES);
	for (int c = 0; c < POOL_CLASSES; c++) {
		const struct arena *a = &pool->blocks[c];

		for (uint32_t i = root->blocks[c]; i != NONE; i = a->next[i]) {
			range_pass(&range, at, arena_at(a, i), classes[c].bytes);
			at += classes[c].bytes;
		}
	}
	return range.n;
}
