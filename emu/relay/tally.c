/* Two pages by turns; see tally.h. */
#include "emu/relay/tally.h"

/* Versions begin at 1 and leave out 0 when they wrap. */
static uint32_t next_version(const struct tally *t)
{
	uint32_t version = atomic_load_explicit(&t->version, memory_order_relaxed) + 1;

	return version ? version : 2;
}

struct tally_page *tally_begin(struct tally *t)
{
	return &t->pages[next_version(t) % 2];
}

void tally_end(struct tally *t)
{
	atomic_store(&t->version, next_version(t));
}

void tally_asleep(struct tally *t, bool asleep)
{
	atomic_store(&t->asleep, asleep);
}

int64_t tally_read(const struct tally *t, int site, enum direction d, int64_t (*now_ns)(void),
	struct tally_count *out)
{
	int64_t at_ns, until_ns, now;
	uint32_t version;
	bool asleep;

	do {
		const struct tally_page *page;

		version = atomic_load(&t->version);
		asleep = atomic_load(&t->asleep);
		page = &t->pages[version % 2];
		*out = page->counts[site][d];
		at_ns = page->at_ns;
		until_ns = page->until_ns;
		now = now_ns();
		asleep = asleep && atomic_load(&t->asleep);
	} while (atomic_load(&t->version) != version);
	if (!version)
		return now;
	if (!asleep || now < at_ns)
		return at_ns;
	return now < until_ns ? now : until_ns;
}
