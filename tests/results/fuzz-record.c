/*
 * libFuzzer's way into run.json: meson setup -Dfuzz=true with CC=clang, then
 * tests/results/fuzz-record tests/results/. Whatever is read must be written and read again.
 */
#include <stdint.h>
#include <stdlib.h>

#include "results/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record *record;
	struct error err = {0};

	if (record_parse_json(&record, (const char *)data, size, "fuzz", &err)) {
		if (err.status != STATUS_INPUT || !*err.text)
			abort();
		return 0;
	}
	if (record_write_json(record, "/dev/shm/narrowlink-fuzz.json", &err))
		abort();
	record_free(record);
	if (record_read_json(&record, "/dev/shm/narrowlink-fuzz.json", &err))
		abort();
	record_free(record);
	return 0;
}
