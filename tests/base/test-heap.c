/* The heap: order by time, equal times in order of pushing, removal from the middle. */
#include "base/heap.h"
#include "base/random.h"
#include "tests/test.h"

#define N 2000

static void pops_in_order(void **state)
{
	static struct heap_node nodes[N];
	struct heap h = {0};
	const struct heap_node *last = NULL;
	size_t popped = 0;

	assert_null(heap_pop(&h));
	for (size_t i = 0; i < N; i++)
		heap_push(&h, &nodes[i], (int64_t)(random_u64(1, 0, RANDOM_LOSS, i) % 100));
	for (size_t i = 0; i < N; i += 3)
		heap_remove(&h, &nodes[i]);
	for (struct heap_node *n; (n = heap_pop(&h)); last = n, popped++) {
		assert_int_not_equal((n - nodes) % 3, 0);
		if (!last)
			continue;
		assert_true(last->at_ns <= n->at_ns);
		if (last->at_ns == n->at_ns)
			assert_true(last->order < n->order);
	}
	assert_int_equal(popped, N - (N + 2) / 3);
	heap_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pops_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
