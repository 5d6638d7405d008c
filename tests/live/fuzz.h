/* The entry of libFuzzer's harnesses; unit tests call it with their own corpus. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
