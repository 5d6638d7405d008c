/*
 * sch_tbf's options as a struct, and as the netlink attributes that carry them: a token bucket
 * in front of a queue that is limited in bytes.
 *
 * Source: net/sched/sch_tbf.c, and iproute2's tc for the tables that old kernels want.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct nl_msg;

struct tbf {
	uint64_t rate;	     /* bytes/s, > 0 */
	uint32_t burst;	     /* the bucket, bytes */
	uint32_t limit;	     /* of the queue, bytes */
	uint64_t peak;	     /* bytes/s, 0: none; above rate */
	uint32_t peak_burst; /* bytes, at least a frame */
	uint16_t overhead;   /* bytes, added to each packet */
	uint16_t mpu;	     /* bytes, a smaller packet counts as so many */
};

/* Appends TCA_OPTIONS. -NLE_NOMEM when the message is full. */
int tbf_encode(struct nl_msg *msg, const struct tbf *t);

/*
 * From the payload of TCA_OPTIONS. A message to the kernel tells the bursts in bytes; the kernel
 * answers with the time they take, in ticks of 64 ns: right within the bytes of two ticks.
 * -EINVAL (STATUS_MACHINE) with the attribute that has a wrong size.
 */
int tbf_decode(struct tbf *out, const void *options, size_t size, struct error *err);

/* The bytes by which a burst that is read back may differ: two ticks at this rate, and rounding. */
uint64_t tbf_burst_tolerance(uint64_t rate);
