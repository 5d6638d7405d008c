/*
 * Records and granules; see pool.h. An arena is address space with a stack of free elements on
 * its side; elements that were never used lie beyond `fresh` and cost nothing yet.
 */
#include "emu/relay/pool.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "emu/link.h"

static_assert(sizeof(struct packet) == POOL_RECORD_BYTES, "a record is four cache lines");
static_assert(POOL_HEAD_BYTES + POOL_GRANULES_MAX * POOL_GRANULE_BYTES >= PACKET_FRAME_MAX,
	"every frame fits");

#define NONE UINT32_MAX

struct arena {
	uint8_t *memory;
	uint32_t *free; /* stack of the free ones below fresh */
	uint32_t n_free, fresh, room;
	size_t element_bytes;
};

struct pool {
	struct arena records, granules;
	uint64_t carried; /* bytes of the frames in use, with an Ethernet header each */
	uint32_t *next; /* of each granule, the one that goes on after it */
	struct packet *record;                 /* for the next frame */
	uint32_t reserve[POOL_GRANULES_MAX];   /* for the next frame */
	int n_reserve;
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
	return a->memory && a->free ? 0 : -ENOMEM;
}

static void arena_unmap(struct arena *a)
{
	if (a->memory)
		munmap(a->memory, a->room * a->element_bytes);
	if (a->free)
		munmap(a->free, a->room * sizeof *a->free);
}

static uint32_t arena_take(struct arena *a)
{
	if (a->n_free > 0)
		return a->free[--a->n_free];
	return a->fresh < a->room ? a->fresh++ : NONE;
}

static void arena_give(struct arena *a, uint32_t i)
{
	a->free[a->n_free++] = i;
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

/* Adds a granule to a list of parts, to the last of them when it lies right behind it. */
static int parts_add(struct iovec *iov, int n, uint8_t *at, size_t bytes)
{
	if (n > 0 && (uint8_t *)iov[n - 1].iov_base + iov[n - 1].iov_len == at) {
		iov[n - 1].iov_len += bytes;
		return n;
	}
	iov[n] = (struct iovec){at, bytes};
	return n + 1;
}

static void room_build(struct pool *pool)
{
	pool->n_iov = 1;
	for (int i = 0; i < pool->n_reserve; i++)
		pool->n_iov = parts_add(pool->iov, pool->n_iov,
			arena_at(&pool->granules, pool->reserve[i]), POOL_GRANULE_BYTES);
}

/* Refills what the next frame needs. */
static void room_fill(struct pool *pool)
{
	bool grown = false;

	while (pool->n_reserve < POOL_GRANULES_MAX) {
		uint32_t i = arena_take(&pool->granules);

		if (i == NONE)
			break;
		pool->reserve[pool->n_reserve++] = i;
		grown = true;
	}
	if (!pool->record)
		pool->record = record_take(pool);
	if (pool->record)
		pool->iov[0] = (struct iovec){pool->record->head, POOL_HEAD_BYTES};
	if (grown)
		room_build(pool);
}

int pool_new(struct pool **out, uint64_t limit_bytes, struct error *err)
{
	struct pool *pool = memory_zero(1, sizeof *pool);
	uint64_t record_limit = limit_bytes / 4;
	int r;

	r = arena_map(&pool->records, record_limit, POOL_RECORD_BYTES);
	if (r == 0)
		r = arena_map(&pool->granules, limit_bytes - record_limit, POOL_GRANULE_BYTES);
	pool->next = r == 0 ? map(pool->granules.room * sizeof *pool->next) : NULL;
	if (!pool->next || pool->records.room < 2 || pool->granules.room < POOL_GRANULES_MAX) {
		pool_free(pool);
		return error_sys(err, -ENOMEM, "no room for %llu bytes of packets in flight",
			(unsigned long long)limit_bytes);
	}
	room_fill(pool);
	*out = pool;
	return 0;
}

struct pool *pool_free(struct pool *pool)
{
	if (!pool)
		return NULL;
	if (pool->next)
		munmap(pool->next, pool->granules.room * sizeof *pool->next);
	arena_unmap(&pool->records);
	arena_unmap(&pool->granules);
	cleanup_free(&pool);
	return NULL;
}

const struct iovec *pool_room(struct pool *pool, int *n_iov)
{
	room_fill(pool);
	*n_iov = pool->n_iov;
	return pool->iov;
}

bool pool_exhausted(const struct pool *pool)
{
	return pool->n_reserve < POOL_GRANULES_MAX || !pool->record ||
		(double)pool_used(pool) > POOL_FACTOR * (double)pool->carried + POOL_FIXED_BYTES;
}

static uint64_t frame_bytes(const struct packet *p)
{
	return p->bytes + LINK_OVERHEAD_ETHERNET;
}

struct packet *pool_take(struct pool *pool, size_t bytes)
{
	size_t rest = bytes > POOL_HEAD_BYTES ? bytes - POOL_HEAD_BYTES : 0;
	int n = (int)((rest + POOL_GRANULE_BYTES - 1) / POOL_GRANULE_BYTES);
	struct packet *p = pool->record;

	p->next = NULL;
	p->root = p;
	p->bytes = (uint32_t)bytes;
	p->references = 1;
	pool->carried += frame_bytes(p);
	p->granule = n > 0 ? pool->reserve[0] : NONE;
	for (int i = 0; i < n; i++)
		pool->next[pool->reserve[i]] = i + 1 < n ? pool->reserve[i + 1] : NONE;
	pool->n_reserve -= n;
	memmove(pool->reserve, pool->reserve + n, (size_t)pool->n_reserve * sizeof *pool->reserve);
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
static void granules_give(struct pool *pool, uint32_t first)
{
	uint32_t chain[POOL_GRANULES_MAX];
	int n = 0;

	for (uint32_t i = first; i != NONE; i = pool->next[i])
		chain[n++] = i;
	while (n > 0)
		arena_give(&pool->granules, chain[--n]);
}

void pool_release(struct pool *pool, struct packet *p)
{
	struct packet *root = p->root;

	if (--root->references == 0) {
		pool->carried -= frame_bytes(root);
		granules_give(pool, root->granule);
		record_give(pool, root);
	}
	if (p != root)
		record_give(pool, p);
}

int pool_parts(const struct pool *pool, const struct packet *p, size_t offset, size_t bytes,
	struct iovec iov[POOL_IOV_MAX])
{
	const struct packet *root = p->root;
	size_t at = POOL_HEAD_BYTES;
	int n = 0;

	if (offset < POOL_HEAD_BYTES && bytes > 0) {
		size_t part = POOL_HEAD_BYTES - offset < bytes ? POOL_HEAD_BYTES - offset : bytes;

		n = parts_add(iov, n, (uint8_t *)root->head + offset, part);
		offset += part;
		bytes -= part;
	}
	for (uint32_t i = root->granule; bytes > 0; i = pool->next[i], at += POOL_GRANULE_BYTES) {
		size_t skip, part;

		if (offset >= at + POOL_GRANULE_BYTES)
			continue;
		skip = offset - at;
		part = POOL_GRANULE_BYTES - skip < bytes ? POOL_GRANULE_BYTES - skip : bytes;
		n = parts_add(iov, n, (uint8_t *)arena_at(&pool->granules, i) + skip, part);
		offset += part;
		bytes -= part;
	}
	return n;
}

uint64_t pool_used(const struct pool *pool)
{
	const struct arena *r = &pool->records, *g = &pool->granules;

	return (uint64_t)(r->fresh - r->n_free) * r->element_bytes +
		(uint64_t)(g->fresh - g->n_free) * g->element_bytes;
}
