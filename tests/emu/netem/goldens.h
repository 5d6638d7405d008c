/*
 * What tc(8) sends: goldens.txt, recorded by record-goldens. A command line with the structs that
 * must give the same message.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emu/netem/netem.h"
#include "emu/netem/tbf.h"

#define GOLDEN_MAX 16384

struct golden {
	const char *command; /* after "tc qdisc " */
	int type, flags;     /* of the message, without NLM_F_REQUEST and NLM_F_ACK */
	uint32_t parent, handle;
	struct netem netem;
	uint32_t attributes;
	struct tbf tbf; /* when its rate is not 0 */
	int stab_overhead;
};

extern const struct golden goldens[];
extern const size_t n_goldens;

/* The message of a command line, from goldens.txt; ends the program when there is none. */
size_t golden_bytes(uint8_t message[static GOLDEN_MAX], const char *command);
/* The file's number of command lines. */
size_t golden_count(void);
