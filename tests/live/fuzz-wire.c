/*
 * Fuzz harness: bytes as they could come from a socket, through the decoder and, where they are
 * chunks, the assembly. What is accepted must encode to the same bytes, and a message that
 * comes out must have had all its bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/live/assembly.h"
#include "tests/live/fuzz.h"

static void check_canonical(const struct wire_frame *frame, const uint8_t *in, size_t size)
{
	uint8_t out[WIRE_LONGEST];

	if (wire_encode(frame, out) != size || memcmp(out, in, size))
		abort();
}

static void assemble(struct assembly *a, const struct wire_frame *chunk)
{
	struct rt_message message;

	if (assembly_claim(a, chunk) < 0)
		return;
	assembly_arrived(a, chunk->id, chunk->length);
	while (assembly_take(a, &message))
		if (message.bytes < 1)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assembly a = {0};
	struct wire_frame frame;
	size_t n;

	while (size && (n = wire_size(data[0])) && n <= size) {
		if (wire_decode(&frame, data, n) == 0) {
			check_canonical(&frame, data, n);
			if (frame.type == WIRE_FIRST || frame.type == WIRE_CHUNK)
				assemble(&a, &frame);
		}
		data += n;
		size -= n;
	}
	assembly_release(&a);
	return 0;
}
