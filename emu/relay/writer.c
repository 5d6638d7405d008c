/*
 * The writer's thread and its two rings; see writer.h.
 *
 * A ring has one producer and one consumer: each owns one counter and only reads the other's, so
 * acquire and release suffice for the packets. For sleeping that is not enough: each side says
 * that it is about to sleep and then looks once more, and the other puts and then looks whether
 * somebody sleeps; these four are sequentially consistent, so that one of the two always sees the
 * other.
 */
#include "emu/relay/writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

#define MASK (WRITER_ROOM - 1)
#define SPIN_NS (20 * NS_PER_US) /* before it sleeps: the loop is often about to bring more */

struct written {
	struct packet *packet;
	int64_t at_ns;
};

struct writer {
	writer_write *write;
	void *context;
	pthread_t thread;
	int event_fd;
	_Atomic bool ended;
	_Atomic uint32_t writer_sleeps, loop_sleeps; /* 1: and wants to be woken */
	size_t n_taken;				     /* the loop's */
	_Alignas(64) _Atomic size_t n_put;	     /* written by the loop */
	_Alignas(64) _Atomic size_t n_written;	     /* written by the writer */
	struct packet *todo[WRITER_ROOM];
	struct written done[WRITER_ROOM];
};

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Tells the processor that this is a wait. */
static void breathe(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void tell_loop(struct writer *w)
{
	if (atomic_exchange(&w->loop_sleeps, 0))
		eventfd_write(w->event_fd, 1);
}

/* Waits until there is more than n_written to write, or the end has come. */
static void wait_for_more(struct writer *w, size_t n_written)
{
	int64_t until_ns = clock_now_ns() + SPIN_NS;

	tell_loop(w);
	while (atomic_load_explicit(&w->n_put, memory_order_acquire) == n_written) {
		if (clock_now_ns() < until_ns) {
			breathe();
			continue;
		}
		atomic_store(&w->writer_sleeps, 1);
		if (atomic_load(&w->n_put) == n_written && !atomic_load(&w->ended))
			futex(&w->writer_sleeps, FUTEX_WAIT, 1);
		atomic_store(&w->writer_sleeps, 0);
		if (atomic_load(&w->ended))
			return;
	}
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	size_t n = 0;

	while (!atomic_load_explicit(&w->ended, memory_order_relaxed)) {
		struct packet *p;

		if (atomic_load_explicit(&w->n_put, memory_order_acquire) == n) {
			wait_for_more(w, n);
			continue;
		}
		p = w->todo[n & MASK];
		w->done[n & MASK] = (struct written){p, w->write(w->context, p)};
		atomic_store(&w->n_written, ++n);
	}
	return NULL;
}

int writer_new(struct writer **out, writer_write *write, void *context, struct error *err)
{
	struct writer *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
	int r;

	if (!w)
		return error_sys(err, -ENOMEM, "the relay's writer");
	*w = (struct writer){.write = write, .context = context};
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->event_fd < 0 ? -errno : -pthread_create(&w->thread, NULL, writer_main, w);
	if (r < 0) {
		cleanup_close(&w->event_fd);
		free(w);
		return error_sys(err, r, "the relay cannot start its writer");
	}
	*out = w;
	return 0;
}

struct writer *writer_free(struct writer *w)
{
	if (!w)
		return NULL;
	atomic_store(&w->ended, true);
	atomic_store(&w->writer_sleeps, 0);
	futex(&w->writer_sleeps, FUTEX_WAKE, 1);
	pthread_join(w->thread, NULL);
	close(w->event_fd);
	free(w);
	return NULL;
}

size_t writer_held(const struct writer *w)
{
	return atomic_load_explicit(&w->n_put, memory_order_relaxed) - w->n_taken;
}

void writer_put(struct writer *w, struct packet *p)
{
	size_t n = atomic_load_explicit(&w->n_put, memory_order_relaxed);

	w->todo[n & MASK] = p;
	atomic_store(&w->n_put, n + 1);
}

void writer_wake(struct writer *w)
{
	if (atomic_exchange(&w->writer_sleeps, 0))
		futex(&w->writer_sleeps, FUTEX_WAKE, 1);
}

struct packet *writer_take(struct writer *w, int64_t *at_ns)
{
	const struct written *done = &w->done[w->n_taken & MASK];

	if (atomic_load_explicit(&w->n_written, memory_order_acquire) == w->n_taken)
		return NULL;
	w->n_taken++;
	*at_ns = done->at_ns;
	return done->packet;
}

bool writer_sleep(struct writer *w)
{
	if (!writer_held(w))
		return true;
	atomic_store(&w->loop_sleeps, 1);
	return atomic_load(&w->n_written) == w->n_taken;
}

void writer_awake(struct writer *w)
{
	eventfd_t value;

	atomic_store(&w->loop_sleeps, 0);
	eventfd_read(w->event_fd, &value);
}

int writer_fd(const struct writer *w)
{
	return w->event_fd;
}
