/*
 * A step whose gradients are all-reduced while they are made: forward T/3, backward 2T/3, in
 * which `buckets` equal parts of the payload become ready evenly, the last one with the end of
 * the compute. Each is sent around its own ring as it becomes ready. The exchange is finished
 * when all rings are. data-parallel does this every step, diloco in the last of H.
 *
 * The buckets' times are kept from the step's start by a timer, so that a late one does not
 * delay those after it.
 */
#pragma once

#include "bench/collective.h"
#include "bench/runtime.h"

enum { TIMER_BUCKET, TIMER_CHECKPOINT };

/* From the step's start until bucket k of `buckets` is ready: the last with the step's end. */
int64_t bucket_ready_ns(int64_t step_ns, int bucket, int buckets);

struct backward {
	struct rt *rt;
	struct rings rings;
	int64_t round; /* which exchange; -1 between two */
	int64_t started_ns, step_ns;
	uint64_t epoch;
	bool open;	  /* rings may be started */
	int ready;	  /* buckets started */
	int finished;	  /* buckets all-reduced */
	int64_t first_ns; /* when the first was started */
};

void backward_init(struct backward *b, struct rt *rt);
void backward_release(struct backward *b);
/*
 * A step that ends with exchange `round` has begun. open: the exchange may begin as soon as its
 * first bucket is ready; otherwise backward_open says when.
 */
void backward_begin(struct backward *b, int64_t round, int64_t at_ns, int64_t step_ns);
/* From now on rings may be started, in this epoch; those that are ready are. */
void backward_open(struct backward *b, uint64_t epoch, int64_t at_ns);
/* Forgets what is under way, and what neighbours sent; closes. All buckets start anew later. */
void backward_break(struct backward *b);
/* The exchange is finished, or will not be: the step it ends will be done again. */
void backward_end(struct backward *b);
/* RT_TIMER TIMER_BUCKET, or RT_COMPUTE: what is ready by now is started. */
void backward_ready(struct backward *b, int64_t at_ns);
void backward_message(struct backward *b, const struct rt_message *message);
bool backward_finished(const struct backward *b);

/* struct strategy's planning for one such exchange. */
int64_t backward_bytes_sent(const struct job *job, int learner, int64_t round);
int64_t backward_bound_ns(const struct job *job, int64_t alpha_ns, double goodput_bps);
