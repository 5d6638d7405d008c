/*
 * Counter-based random numbers: a draw is a pure function of (seed, entity, stream, counter).
 *
 * There is no generator state to share or to get out of step: the same seed gives the same
 * faults, losses per packet number and jitter whatever the order in which they are asked for,
 * in the live run as in the model. The mixing function is XXH3 (libxxhash), which passes the
 * usual batteries and is fast enough for a draw per packet.
 */
#pragma once

#include <stdint.h>

/* What a draw is for; each is independent of the others. */
enum random_stream {
	RANDOM_COMPUTE = 1, /* spread of a step's compute time; counter = step */
	RANDOM_FAULT,	    /* times between failures; counter = n-th failure */
	RANDOM_LOSS,	    /* random loss; counter = wire segment */
	RANDOM_BURST,	    /* Gilbert-Elliott transitions; counter = wire segment */
	RANDOM_JITTER,	    /* delay jitter; counter = packet */
	RANDOM_REPAIR,	    /* repair times; counter = n-th failure */
	RANDOM_QUEUE,	    /* the model: whose segments a full queue drops; counter = draw */
};

/* 64 uniform bits. entity is a site, participant or link direction, by
 * the stream's own numbering. */
uint64_t random_u64(uint64_t seed, uint32_t entity, enum random_stream stream, uint64_t counter);

/* Uniform in [0, 1), 53 bits. */
double random_unit(uint64_t seed, uint32_t entity, enum random_stream stream, uint64_t counter);

/* Exponential with mean 1: -ln(1 - u). */
double random_exponential(
	uint64_t seed, uint32_t entity, enum random_stream stream, uint64_t counter);
