/*
 * A fuzz target for packets from a site: what parses must have a shape that holds together, and
 * every piece of it must lie inside the frame and parse to the same shape. Built with libFuzzer
 * by -Dfuzz=true; test-fuzz-packet drives it over mutated packets in every build.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "emu/relay/packet.h"

#define HEAD_BYTES 182

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void cut(
	const struct packet_shape *s, const uint8_t *head, size_t size, int first, int count)
{
	struct packet_piece piece;
	struct packet_shape again;
	_free_ uint8_t *frame = NULL;
	size_t n;

	packet_cut(&piece, s, head, first, count);
	n = piece.head_bytes + piece.payload_bytes;
	require(piece.head_bytes <= sizeof piece.head);
	require(piece.payload_bytes > 0 && piece.payload_offset + piece.payload_bytes <= size);
	frame = memory_zero(n, 1);
	memcpy(frame, piece.head, piece.head_bytes);
	require(packet_parse(&again, frame, n < HEAD_BYTES ? n : HEAD_BYTES, n) == 0);
	require(again.site == s->site && again.version == s->version);
	require(again.n_segments == count);
	require(packet_wire_bytes(&again, 0, count, 14) == packet_wire_bytes(s, first, count, 14));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t head_bytes = size < HEAD_BYTES ? size : HEAD_BYTES;
	_free_ uint8_t *head = memory_zero(head_bytes, 1); /* not one byte more may be read */
	struct packet_shape s;

	memcpy(head, data, head_bytes);
	if (packet_parse(&s, head, head_bytes, size) < 0)
		return 0;
	require(s.ip_bytes + (size_t)PACKET_VNET_BYTES == size && s.n_segments >= 1);
	require(s.site >= -1 && s.site < 255);
	if (s.header_bytes == 0) {
		require(s.n_segments == 1);
		return 0;
	}
	require((size_t)PACKET_VNET_BYTES + s.header_bytes <= head_bytes);
	require(s.header_bytes < s.ip_bytes && s.segment_bytes > 0);
	cut(&s, head, size, 0, 1);
	cut(&s, head, size, s.n_segments - 1, 1);
	if (s.n_segments > 2) {
		cut(&s, head, size, 1, s.n_segments - 1);
		cut(&s, head, size, s.n_segments / 2, 1);
	}
	return 0;
}
