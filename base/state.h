/*
 * The states of an accelerator: what a participant is doing at an instant.
 *
 * A participant is in exactly one of them at any time; they sum to the wall time. They stand
 * here because strategies enter them, the ledger sums them and charts colour them.
 */
#pragma once

enum state {
	STATE_COMPUTE,	    /* a training step runs; useful only once merged or checkpointed */
	STATE_EXPOSED_COMM, /* waits for an exchange that compute no longer hides */
	STATE_BARRIER_WAIT, /* waits for another participant that is down or silent */
	STATE_CHECKPOINT,   /* writes a checkpoint */
	STATE_DOWN,	    /* crashed, not yet repaired */
	STATE_RECOVER,	    /* repaired, fetches state from a healthy peer */
	STATE_IDLE,	    /* has nothing to do (a syncer; a learner after its last step) */
	STATE_COUNT,
};

/* The name used in files and charts, e.g. "exposed_comm". */
const char *state_name(enum state state);
