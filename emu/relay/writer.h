/*
 * The writer: a second thread of the relay that writes packets to their devices.
 *
 * Writing is two thirds of the relay's work, because the receiving site's TCP runs inside it:
 * with a thread of its own, what reads and decides can go on meanwhile. The two share nothing
 * but two rings of packets, one to write and one that are written; everything else, memory and
 * statistics included, stays with the loop.
 *
 * Waking a thread costs the other one several microseconds, so the loop hands over only when
 * it has not come to rest for a while; a quiet link never wakes the writer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "emu/relay/packet.h"

#define WRITER_ROOM 1024 /* packets in its hands at most; a power of two */

struct packet;

/* Writes one packet; the time at which that was done, or a negative number if refused. */
typedef int64_t writer_write(void *context, const struct packet *p);

struct writer;

/* Starts the thread; it inherits the caller's scheduling class. */
int writer_new(struct writer **out, writer_write *write, void *context, struct error *err);
struct writer *writer_free(struct writer *w); /* ends the thread; accepts NULL, returns NULL */

/* The following are for the loop's thread only. */
size_t writer_held(const struct writer *w);	     /* packets put and not yet taken back */
void writer_put(struct writer *w, struct packet *p); /* writer_held() < WRITER_ROOM */
void writer_wake(struct writer *w);		     /* after the last of several puts */
/* A packet that was written (or refused: *at_ns negative), in order; NULL if there is none. */
struct packet *writer_take(struct writer *w, int64_t *at_ns);
/*
 * Before and after sleeping: between them writer_fd becomes readable when all that was put is
 * written. writer_sleep returns false if it is already: then do not sleep.
 */
bool writer_sleep(struct writer *w);
void writer_awake(struct writer *w);
int writer_fd(const struct writer *w);
