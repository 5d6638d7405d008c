/*
 * A made-up case whose figures are known: two learners, ten steps of 1 s, links that carried what
 * a fake backend says.
 */
#pragma once

#include "base/clock.h"
#include "bench/verdict.h"
#include "tests/test.h"

struct fixture {
	struct scenario s;
	struct expectation expect[2]; /* useful_work >= 75 %, wire_rate <= 100 Mbit/s */
	struct link_plan links;
	struct observation o;
	struct outcome live;
	struct plan plan;
	struct verdict_input in;
	struct host_tcp tcp;
	struct link_profile wan;
	uint64_t carried, delivered; /* bytes, every direction */
	int64_t late_ns, stats_at_ns;
	uint64_t memory_drops;
	struct record *record;
	struct record_case *c;
};

struct fixture *make(void);
void release(struct fixture *f);
/* A step, its exchange and its use, told by a learner. */
void step(struct fixture *f, int p, int64_t at_ns, int64_t n);
/* Both learners: 1 s compute and 0.2 s exposed communication, ten times; 12 s in all. */
void play(struct fixture *f);
/* The record's case, from f->in. */
void judge(struct fixture *f, bool partial);
