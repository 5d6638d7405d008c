/*
 * What agents and their controller tell each other, over a SOCK_SEQPACKET pair per agent, and
 * the counters they share in memory. Both are one program: structs as they are in memory.
 */
#pragma once

#include <stddef.h>

#include "bench/live/live.h"
#include "bench/live/mesh.h"

#define NEWS_TEXT 512
#define PULSE_NS (250 * NS_PER_MS)
#define STILL_NS (2 * NS_PER_S) /* a process that has not run for so long stood still */

enum news_kind {
	NEWS_UP,	  /* a peer is up, and the run has not begun */
	NEWS_CONNECTED,	  /* every peer is up */
	NEWS_UNCONNECTED, /* one is not, and the time for it is over; code says why */
	NEWS_RTT,	  /* idle round trip to a peer's site, real time; -1: no answer */
	NEWS_MEASURED,	  /* all of them are told */
	NEWS_STATE,
	NEWS_REPORT,
	NEWS_DONE,
	NEWS_SILENCE,
	NEWS_TCP,
	NEWS_FAILED, /* text says why; the agent ends */
};

/* Agent to controller. at_ns is the scenario's time. */
struct news {
	enum news_kind kind;
	int peer;
	int64_t at_ns;
	union {
		enum state state;
		bool silent;
		int64_t rtt_ns;
		int code; /* negative errno of the last attempt; 0: nothing was heard */
		struct rt_report report;
		struct tcp_sample tcp;
	};
	char text[NEWS_TEXT]; /* only sent with NEWS_FAILED */
};

static inline size_t news_size(const struct news *news)
{
	return news->kind == NEWS_FAILED ? sizeof *news : offsetof(struct news, text);
}

enum order_kind {
	ORDER_MEASURE, /* the idle round trips, now */
	ORDER_START,   /* time zero is t0_ns */
	ORDER_GONE,    /* a participant has crashed: do not wait for it */
	ORDER_STOP,
};

/* Controller to agent. */
struct order {
	enum order_kind kind;
	int participant;
	int64_t t0_ns;
};

/*
 * What is under way, for the controller to see when all is drained: the messages sent and
 * received in the sessions that exist, and the timers that are set.
 */
struct live_flow {
	uint64_t sent, pending, received;
};

/* A participant's counters, in memory that survives its crash. Only its agent writes. */
struct live_counters {
	struct traffic link, local;
	struct live_flow flow;
	uint64_t alive_ns; /* when its loop last went round, as of PULSE_NS ago; 0: not yet */
	uint64_t still_ns; /* sum of the times it stood still, as its own clock says */
} __attribute__((aligned(64)));

static inline void counter_write(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELEASE);
}

/* Reads a counter that another process may be writing. */
static inline uint64_t counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}
