/* Names of the accelerator's states. */
#include "base/state.h"

const char *state_name(enum state state)
{
	static const char *const names[STATE_COUNT] = {
		[STATE_COMPUTE] = "compute",
		[STATE_EXPOSED_COMM] = "exposed_comm",
		[STATE_BARRIER_WAIT] = "barrier_wait",
		[STATE_CHECKPOINT] = "checkpoint",
		[STATE_DOWN] = "down",
		[STATE_RECOVER] = "recover",
		[STATE_IDLE] = "idle",
	};

	return state < STATE_COUNT ? names[state] : "unknown";
}
