/* What every test program needs: cmocka and its prerequisites, in the order cmocka wants. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <cmocka.h>

/* |got - want| <= tolerance, printing all three when not. */
#define assert_near(got, want, tolerance)                                                          \
	do {                                                                                       \
		double got_ = (got), want_ = (want), tolerance_ = (tolerance);                     \
		if (!(got_ >= want_ - tolerance_ && got_ <= want_ + tolerance_))                   \
			fail_msg("%s = %.12g, want %.12g +- %.3g", #got, got_, want_, tolerance_); \
	} while (0)
