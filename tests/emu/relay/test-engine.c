/*
 * The way of a packet against times worked out by hand. 100 Mbit/s is 80 ns per byte; a full
 * frame is 1514 bytes.
 */
#include "tests/test.h"

#include "base/clock.h"
#include "tests/emu/relay/rig.h"
#include "tests/emu/relay/sim.h"

#define POOL (UINT64_C(512) << 20)
#define MS NS_PER_MS
#define FOREVER (TIME_NEVER - 1)

static void begin(struct sim *sim, int n, struct rig_link link)
{
	sim_new(sim, n);
	rig_plan(sim->plan, n, &link);
	sim_begin(sim, POOL);
}

static void test_one_packet(void **state)
{
	struct sim sim;
	int64_t t0;

	begin(&sim, 2,
		(struct rig_link){.rate_bps = 100000000, .delay_ns = 10 * MS, .core_ns = 5 * MS});
	t0 = sim.now_ns;
	sim_send_udp(&sim, 0, 1, 128, 7); /* 142 bytes: 11360 ns, twice */
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 1);
	assert_int_equal(sim.delivered[0].due_ns - t0, 11360 + 25 * MS + 11360);
	assert_int_equal(sim.delivered[0].site, 1);
	sim_check_conservation(&sim);
	assert_int_equal(sim.stats[0][UP].bytes, 142);
	assert_int_equal(sim.stats[0][UP].queue_high_bytes, 142);
	assert_int_equal(sim.stats[1][DOWN].delivered_bytes, 142);
	assert_int_equal(sim.stats[1][DOWN].lateness.count, 1);
	assert_int_equal(sim.stats[1][UP].segments, 0);
	sim_end(&sim);
}

/*
 * Five segments of 121.12 us: the second serialiser is one segment behind the first. They are
 * handed over in runs of at most 0.3 ms: two, two, one.
 */
static void test_super_packet_overlaps(void **state)
{
	const int64_t s = 121120;
	struct sim sim;
	int64_t t0;

	begin(&sim, 2, (struct rig_link){.rate_bps = 100000000, .delay_ns = 10 * MS});
	t0 = sim.now_ns;
	sim_send_tcp(&sim, 0, 1, 5, 1);
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sim.delivered[i].first, 2 * i);
	assert_int_equal(sim.delivered[0].due_ns - t0, 2 * s + 20 * MS + s);
	assert_int_equal(sim.delivered[1].due_ns - t0, 4 * s + 20 * MS + s);
	assert_int_equal(sim.delivered[2].due_ns - t0, 5 * s + 20 * MS + s);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* Whole at a rate at which it takes less: 5 x 1211.2 ns, + one more at the second serialiser. */
static void test_super_packet_stays_whole(void **state)
{
	struct sim sim;
	int64_t t0;

	begin(&sim, 2, (struct rig_link){.rate_bps = 10 * NS_PER_S, .delay_ns = MS});
	t0 = sim.now_ns;
	sim_send_tcp(&sim, 0, 1, 5, 1);
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 1);
	assert_int_equal(sim.delivered[0].count, 5);
	assert_near((double)(sim.delivered[0].due_ns - t0), 6 * 1211.2 + 2e6, 2);
	sim_end(&sim);
}

/* A long train at a rate whose segment time is not whole: the last is due when the bits say so. */
static void test_rate_is_exact(void **state)
{
	struct sim sim;
	int64_t t0;

	begin(&sim, 2, (struct rig_link){.rate_bps = 4999999999, .delay_ns = MS});
	t0 = sim.now_ns;
	for (int i = 0; i < 1000; i++)
		sim_send_tcp(&sim, 0, 1, 40, (uint32_t)i);
	sim_run(&sim, FOREVER);
	assert_near((double)(sim.delivered[sim.n_delivered - 1].due_ns - t0),
		40001 * 1514 * 8 / 4.999999999 + 2e6, 1000);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* The queue and the serialiser hold ten full frames; a small packet still fits behind nine. */
static void test_tail_drop_counts_bytes(void **state)
{
	struct sim sim;

	begin(&sim, 2,
		(struct rig_link){.rate_bps = 100000000, .delay_ns = MS, .queue_bytes = 15140});
	for (int i = 0; i < 20; i++)
		sim_send_udp(&sim, 0, 1, 1500, (uint32_t)i);
	sim_run(&sim, sim.now_ns + 121120); /* one has left */
	sim_send_udp(&sim, 0, 1, 1500, 20);
	sim_send_udp(&sim, 0, 1, 28, 21);
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.stats[0][UP].drop_segments[DROP_QUEUE], 11);
	assert_int_equal(sim.stats[0][UP].drop_bytes[DROP_QUEUE], 10 * 1514 + 42);
	assert_int_equal(sim.stats[0][UP].queue_high_bytes, 15140);
	assert_int_equal(sim.n_delivered, 11);
	for (int i = 0; i < 10; i++)
		assert_int_equal(sim.delivered[i].tag, i);
	assert_int_equal(sim.delivered[10].tag, 20);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* The tail of a super-packet does not fit: the segments before it go on as one. */
static void test_tail_drop_cuts_a_super_packet(void **state)
{
	struct sim sim;

	begin(&sim, 2,
		(struct rig_link){
			.rate_bps = NS_PER_S, .delay_ns = MS, .queue_bytes = 5 * 1514 + 100});
	sim_send_tcp(&sim, 0, 1, 8, 1);
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 1);
	assert_int_equal(sim.delivered[0].first, 0);
	assert_int_equal(sim.delivered[0].count, 5);
	assert_int_equal(sim.stats[0][UP].drop_segments[DROP_QUEUE], 3);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* A link whose queue is smaller than a frame still carries frames, one at a time. */
static void test_tiny_queue(void **state)
{
	struct sim sim;

	begin(&sim, 2, (struct rig_link){.rate_bps = 100000000, .delay_ns = MS, .queue_bytes = 1});
	for (int i = 0; i < 3; i++) {
		sim_send_udp(&sim, 0, 1, 1500, (uint32_t)i);
		sim_send_udp(&sim, 0, 1, 1500, 99);
		sim_run(&sim, sim.now_ns + 10 * MS);
	}
	assert_int_equal(sim.n_delivered, 3);
	assert_int_equal(sim.stats[0][UP].drop_segments[DROP_QUEUE], 3);
	sim_end(&sim);
}

/*
 * 80 Mbit/s (10 bytes per us) until 1 ms, then 8 Mbit/s: what is queued then leaves at the new
 * rate. Segment k ends at 1514 k / 10 us while that is below 1 ms, then 1 ms + (1514 k - 10000)
 * us. The way down is fast enough to add 1.2112 us only.
 */
static void test_rate_change_applies_to_the_queue(void **state)
{
	struct link_step slower = {.at_ns = MS, .set = LINK_RATE, .to.rate_bps = 8000000};
	struct sim sim;
	int64_t t0;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2, &(struct rig_link){.rate_bps = 80000000, .delay_ns = MS});
	sim.plan->links[0][UP].n_steps = 1;
	sim.plan->links[0][UP].steps = &slower;
	sim.plan->links[1][DOWN].base.rate_bps = 10 * NS_PER_S;
	sim_begin(&sim, POOL);
	t0 = sim.now_ns;
	engine_start(sim.engine, t0, t0);
	for (int i = 0; i < 20; i++)
		sim_send_udp(&sim, 0, 1, 1500, (uint32_t)i);
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 20);
	for (int k = 1; k <= 20; k++) {
		double bytes = 1514.0 * k;
		double end_us = bytes <= 10000 ? bytes / 10 : 1000 + (bytes - 10000);

		assert_near(
			(double)(sim.delivered[k - 1].due_ns - t0), end_us * 1e3 + 2e6 + 1211.2, 2);
	}
	sim_end(&sim);
}

/* The room in a queue after a change of rate: 30280 bytes, of which 10000 leave in the first ms
 * and 1000 in each later one. At 5 ms 16280 are left. */
static void test_room_across_a_rate_change(void **state)
{
	struct link_step slower = {.at_ns = MS, .set = LINK_RATE, .to.rate_bps = 8000000};
	struct sim sim;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2,
		&(struct rig_link){.rate_bps = 80000000, .delay_ns = MS, .queue_bytes = 30280});
	sim.plan->links[0][UP].n_steps = 1;
	sim.plan->links[0][UP].steps = &slower;
	sim_begin(&sim, POOL);
	engine_start(sim.engine, sim.now_ns, sim.now_ns);
	for (int i = 0; i < 20; i++)
		sim_send_udp(&sim, 0, 1, 1500, (uint32_t)i);
	sim_run(&sim, sim.now_ns + 5 * MS);
	for (int i = 0; i < 10; i++)
		sim_send_udp(&sim, 0, 1, 1500, (uint32_t)i);
	assert_int_equal(sim.stats[0][UP].drop_segments[DROP_QUEUE], 1); /* 9 x 1514 = 13626 fit */
	sim_send_udp(&sim, 0, 1, 30280 - 16280 - 13626 - 14, 0);	 /* to the byte */
	assert_int_equal(sim.stats[0][UP].drop_segments[DROP_QUEUE], 1);
	assert_int_equal(sim.stats[0][UP].queue_high_bytes, 30280);
	sim_end(&sim);
}

/* A packet per ms, each leaving 3.2 us after it came: the blackout takes those of ms 10 to 19. */
static void test_blackout_takes_its_window(void **state)
{
	struct link_window blackout = {10 * MS, 20 * MS};
	struct sim sim;
	int64_t t0;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2, &(struct rig_link){.rate_bps = 100000000, .delay_ns = 50 * MS});
	sim.plan->links[0][UP].n_blackouts = 1;
	sim.plan->links[0][UP].blackouts = &blackout;
	sim_begin(&sim, POOL);
	t0 = sim.now_ns + 5 * MS; /* nothing is down before the start */
	engine_start(sim.engine, t0, sim.now_ns);
	for (int i = -5; i < 40; i++) {
		sim_run(&sim, t0 + i * MS);
		sim_send_udp(&sim, 0, 1, 28, (uint32_t)(i + 5));
	}
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 35);
	for (int i = 0; i < 35; i++)
		assert_int_equal(sim.delivered[i].tag, i < 15 ? i : i + 10);
	assert_int_equal(sim.stats[0][UP].drop_segments[DROP_OUTAGE], 10);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* The edge of an outage inside a super-packet: segments end every 12.112 us; 4 before 50 us. */
static void test_outage_begins_inside_a_super_packet(void **state)
{
	struct link_outage outage = {.first_ns = 50000, .every_ns = NS_PER_S, .for_ns = 60000};
	struct sim sim;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2, &(struct rig_link){.rate_bps = NS_PER_S, .delay_ns = MS});
	sim.plan->links[0][UP].n_outages = 1;
	sim.plan->links[0][UP].outages = &outage;
	sim_begin(&sim, POOL);
	engine_start(sim.engine, sim.now_ns, sim.now_ns);
	sim_send_tcp(&sim, 0, 1, 20, 3); /* ends at 242 us; the outage at 110 us, in the 10th */
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 2);
	assert_int_equal(sim.delivered[0].first, 0);
	assert_int_equal(sim.delivered[0].count, 4);
	assert_int_equal(sim.delivered[1].first, 9);
	assert_int_equal(sim.delivered[1].count, 11);
	assert_int_equal(sim.stats[0][UP].drop_segments[DROP_OUTAGE], 5);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* Wilson's 99 % interval for 1 % of 400,000 segments: 0.960 % to 1.041 %. */
static void test_random_loss(void **state)
{
	struct sim sim;
	struct link_stats *s;
	double low, high;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2, &(struct rig_link){.rate_bps = 10 * NS_PER_S, .delay_ns = MS});
	sim.plan->links[0][UP].base.loss = 0.01;
	sim_begin(&sim, POOL);
	for (int i = 0; i < 10000; i++) {
		sim_send_tcp(&sim, 0, 1, 40, (uint32_t)i);
		sim_run(&sim, sim.now_ns + MS);
	}
	sim_run(&sim, FOREVER);
	s = &sim.stats[0][UP];
	stats_wilson(s->drop_segments[DROP_RANDOM], s->segments, 2.576, &low, &high);
	assert_true(low <= 0.01 && 0.01 <= high);
	assert_int_equal(s->drop_segments[DROP_RANDOM] + s->delivered_segments, 400000);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/*
 * Gilbert-Elliott: mean loss 2 % in bursts of 10 segments. Bursts are counted from what arrives:
 * runs of missing segments in the numbering of all that were sent. About 4000 bursts.
 */
static void test_burst_loss(void **state)
{
	enum { SUPERS = 50000, EACH = 40 };
	uint64_t lost = 0, bursts = 0, next = 0;
	struct sim sim;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2, &(struct rig_link){.rate_bps = 10 * NS_PER_S, .delay_ns = MS});
	sim.plan->links[0][UP].base.burst_loss = 0.02;
	sim.plan->links[0][UP].base.burst_length = 10;
	sim_begin(&sim, POOL);
	for (uint32_t i = 0; i < SUPERS; i++) {
		sim_send_tcp(&sim, 0, 1, EACH, i);
		sim_run(&sim, sim.now_ns + MS / 10);
	}
	sim_run(&sim, FOREVER);
	for (int i = 0; i < sim.n_delivered; i++) {
		uint64_t at =
			(uint64_t)sim.delivered[i].tag * EACH + (uint64_t)sim.delivered[i].first;

		lost += at - next;
		bursts += at > next;
		next = at + (uint64_t)sim.delivered[i].count;
	}
	lost += (uint64_t)SUPERS * EACH - next;
	assert_int_equal(sim.stats[0][UP].drop_segments[DROP_BURST], lost);
	/* The mean's standard error, bursts being independent: 0.02 * sqrt(2 * 10 / 40000). */
	assert_near((double)lost / (SUPERS * EACH), 0.02, 2.576 * 0.02 * 0.0224);
	assert_near((double)lost / (double)bursts, 10, 0.5);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* Delay 20 +- 10 ms on each way: all differ, none overtakes, the mean stays near. */
static void test_jitter_keeps_order(void **state)
{
	double sum = 0, least = 1e9, most = 0;
	struct sim sim;
	int64_t t0;

	begin(&sim, 2,
		(struct rig_link){.rate_bps = NS_PER_S, .delay_ns = 20 * MS, .jitter_ns = 10 * MS});
	t0 = sim.now_ns;
	for (int i = 0; i < 2000; i++) {
		sim_send_udp(&sim, 0, 1, 100, (uint32_t)i);
		sim_run(&sim, sim.now_ns + 100 * MS);
	}
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 2000);
	for (int i = 0; i < 2000; i++) {
		double ms = (double)(sim.delivered[i].due_ns - t0 - i * 100 * MS) / 1e6;

		assert_int_equal(sim.delivered[i].tag, i);
		sum += ms;
		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
	}
	/* Sum of two uniforms of +-10 ms: standard deviation 8.16 ms, of the mean 0.183 ms. */
	assert_near(sum / 2000, 40.002, 2.576 * 0.183);
	assert_true(least > 20 && least < 22.5 && most < 60.01 && most > 57.5);
	sim_end(&sim);
}

/* Packets closer together than the jitter would be reordered; they are not. */
static void test_jitter_of_a_dense_stream(void **state)
{
	struct sim sim;

	begin(&sim, 2,
		(struct rig_link){.rate_bps = NS_PER_S, .delay_ns = 20 * MS, .jitter_ns = 20 * MS});
	for (int i = 0; i < 5000; i++) {
		sim_send_udp(&sim, 0, 1, 1000, (uint32_t)i);
		sim_run(&sim, sim.now_ns + MS / 10);
	}
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 5000);
	for (int i = 1; i < 5000; i++) {
		assert_int_equal(sim.delivered[i].tag, i);
		assert_true(sim.delivered[i].due_ns >= sim.delivered[i - 1].due_ns);
	}
	sim_end(&sim);
}

/*
 * Eight sites at 1 Gbit/s each, into one at 10: nothing waits. A super-packet's end comes at most
 * the others' serialisation (8 x 20 segments of 1.2112 us) after it would alone.
 */
static void test_slow_sources_share_a_fast_way_down(void **state)
{
	struct sim sim;
	int64_t t0, last;

	sim_new(&sim, 9);
	rig_plan(sim.plan, 9, &(struct rig_link){.rate_bps = NS_PER_S, .delay_ns = MS});
	sim.plan->links[8][DOWN].base.rate_bps = 10 * NS_PER_S;
	sim_begin(&sim, POOL);
	t0 = sim.now_ns;
	for (int k = 0; k < 100; k++)
		for (int i = 0; i < 8; i++)
			sim_send_tcp(&sim, i, 8, 20, (uint32_t)k);
	sim_run(&sim, FOREVER);
	last = sim.delivered[sim.n_delivered - 1].due_ns;
	assert_int_equal(sim.stats[8][DOWN].delivered_segments, 8 * 100 * 20);
	assert_true(last - t0 <= 100 * 20 * 12112 + 2 * MS + 8 * 20 * 1212);
	sim_end(&sim);
}

/* Two at 1 Gbit/s into one at 1 Gbit/s: half of each arrives, the queue drops the rest. */
static void test_contention_at_the_way_down(void **state)
{
	struct sim sim;
	int64_t t0;

	sim_new(&sim, 3);
	rig_plan(sim.plan, 3, &(struct rig_link){.rate_bps = NS_PER_S, .delay_ns = MS});
	sim.plan->links[2][DOWN].queue_ns = 0;
	sim.plan->links[2][DOWN].base.queue_bytes = 100 * 1514;
	sim_begin(&sim, POOL);
	t0 = sim.now_ns;
	for (int k = 0; k < 500; k++)
		for (int i = 0; i < 2; i++)
			sim_send_tcp(&sim, i, 2, 20, (uint32_t)k);
	sim_run(&sim, FOREVER);
	/* 10000 segment times of input, then the queue empties. */
	assert_near((double)sim.stats[2][DOWN].delivered_segments, 10000 + 100, 22);
	assert_near((double)(sim.delivered[sim.n_delivered - 1].due_ns - t0), 10100 * 12112 + 2e6,
		22 * 12112);
	assert_true(sim.stats[2][DOWN].queue_high_bytes <= 100 * 1514);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* The start comes while packets wait: what is being sent keeps its time. */
static void test_start_while_busy(void **state)
{
	struct link_step slower = {.at_ns = MS, .set = LINK_RATE, .to.rate_bps = 50000000};
	struct sim sim;
	int64_t t0;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2, &(struct rig_link){.rate_bps = 100000000, .delay_ns = MS});
	sim.plan->links[0][UP].n_steps = 1;
	sim.plan->links[0][UP].steps = &slower;
	sim_begin(&sim, POOL);
	t0 = sim.now_ns;
	sim_run(&sim, t0 + 10 * NS_PER_S); /* no start: the step does not come */
	sim_send_udp(&sim, 0, 1, 1500, 1);
	engine_start(sim.engine, sim.now_ns, sim.now_ns);
	sim_run(&sim, sim.now_ns + 2 * MS);
	sim_send_udp(&sim, 0, 1, 1500, 2);
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.delivered[0].due_ns - t0, 10 * NS_PER_S + 2 * 121120 + 2 * MS);
	assert_int_equal(sim.delivered[1].due_ns - t0, 10 * NS_PER_S + 3 * 121120 + 4 * MS);
	sim_end(&sim);
}

static void test_foreign_packets_count_nowhere(void **state)
{
	struct sim sim;

	begin(&sim, 2, (struct rig_link){.rate_bps = NS_PER_S, .delay_ns = MS});
	sim_send_udp(&sim, 0, 5, 100, 1);
	sim_send_udp(&sim, 0, 0, 100, 1);
	sim_send_udp(&sim, 0, -1, 100, 1);
	assert_int_equal(engine_next_ns(sim.engine), TIME_NEVER);
	assert_int_equal(sim.stats[0][UP].packets, 0);
	sim_end(&sim);
}

static void test_no_memory_is_a_cause_of_its_own(void **state)
{
	struct sim sim;
	uint64_t dropped;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2, &(struct rig_link){.rate_bps = NS_PER_S, .delay_ns = NS_PER_S});
	sim_begin(&sim, 2 << 20);
	for (int i = 0; i < 200; i++)
		sim_send_tcp(&sim, 0, 1, 40, (uint32_t)i);
	dropped = sim.stats[0][UP].drop_segments[DROP_MEMORY];
	assert_in_range(dropped, 160 * 40, 180 * 40);
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.stats[1][DOWN].delivered_segments, 200 * 40 - dropped);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/* A loss in every super-packet: many pieces, none of which may be lost on the way. */
static void test_pieces_of_pieces(void **state)
{
	struct sim sim;
	uint64_t got = 0;

	begin(&sim, 2,
		(struct rig_link){.rate_bps = 10000000,
			.delay_ns = MS,
			.loss = 0.3,
			.queue_ns = 100 * NS_PER_S});
	for (int i = 0; i < 300; i++)
		sim_send_tcp(&sim, 0, 1, 40, (uint32_t)i);
	sim_run(&sim, FOREVER);
	for (int i = 0; i < sim.n_delivered; i++) {
		assert_int_equal(sim.delivered[i].count, 1); /* 1.2 ms each */
		got++;
	}
	assert_int_equal(got, sim.stats[1][DOWN].delivered_segments);
	assert_near((double)got / 12000, 0.49, 2.576 * 0.0046);
	sim_check_conservation(&sim);
	sim_end(&sim);
}

/*
 * Each direction has its own delay and overhead, and the core a delay each way: 128 bytes of IP at
 * 80 ns per byte, each time with what that direction adds.
 */
static void test_directions_differ(void **state)
{
	struct sim sim;
	int64_t t0;

	sim_new(&sim, 2);
	rig_plan(sim.plan, 2, &(struct rig_link){.rate_bps = 100000000});
	for (int i = 0; i < 4; i++) {
		sim.plan->links[i / 2][i % 2].base.delay_ns = (10 + i) * MS;
		sim.plan->links[i / 2][i % 2].overhead_bytes = 10 * i;
	}
	sim.plan->core_delay_ns[0][1] = 5 * MS;
	sim.plan->core_delay_ns[1][0] = 7 * MS;
	sim_begin(&sim, POOL);
	t0 = sim.now_ns;
	sim_send_udp(&sim, 0, 1, 128, 1); /* [0][UP]: 10 ms, 0 bytes; [1][DOWN]: 13 ms, 30 */
	sim_send_udp(&sim, 1, 0, 128, 2); /* [1][UP]: 12 ms, 20 bytes; [0][DOWN]: 11 ms, 10 */
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.n_delivered, 2);
	assert_int_equal(sim.delivered[0].due_ns - t0, (10 + 5 + 13) * MS + (128 + 158) * 80);
	assert_int_equal(sim.delivered[1].due_ns - t0, (12 + 7 + 11) * MS + (148 + 138) * 80);
	assert_int_equal(sim.stats[0][UP].bytes, 128);
	assert_int_equal(sim.stats[1][DOWN].bytes, 158);
	assert_int_equal(sim.stats[1][UP].bytes, 148);
	assert_int_equal(sim.stats[0][DOWN].bytes, 138);
	sim_end(&sim);
}

/* What a site's device does not take is a drop before the site, and not delivered. */
static void test_refused_by_the_device(void **state)
{
	struct sim sim;

	begin(&sim, 2, (struct rig_link){.rate_bps = NS_PER_S, .delay_ns = MS});
	sim.refuses = true;
	sim_send_tcp(&sim, 0, 1, 8, 1);
	sim_run(&sim, FOREVER);
	assert_int_equal(sim.stats[0][UP].delivered_segments, 8);
	assert_int_equal(sim.stats[1][DOWN].drop_segments[DROP_QUEUE], 8);
	assert_int_equal(sim.stats[1][DOWN].drop_bytes[DROP_QUEUE], 8 * 1514);
	assert_int_equal(sim.stats[1][DOWN].delivered_segments, 0);
	assert_int_equal(sim.stats[1][DOWN].lateness.count, 0);
	sim_end(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_packet),
		cmocka_unit_test(test_super_packet_overlaps),
		cmocka_unit_test(test_super_packet_stays_whole),
		cmocka_unit_test(test_rate_is_exact),
		cmocka_unit_test(test_tail_drop_counts_bytes),
		cmocka_unit_test(test_tail_drop_cuts_a_super_packet),
		cmocka_unit_test(test_tiny_queue),
		cmocka_unit_test(test_rate_change_applies_to_the_queue),
		cmocka_unit_test(test_room_across_a_rate_change),
		cmocka_unit_test(test_blackout_takes_its_window),
		cmocka_unit_test(test_outage_begins_inside_a_super_packet),
		cmocka_unit_test(test_random_loss),
		cmocka_unit_test(test_burst_loss),
		cmocka_unit_test(test_jitter_keeps_order),
		cmocka_unit_test(test_jitter_of_a_dense_stream),
		cmocka_unit_test(test_slow_sources_share_a_fast_way_down),
		cmocka_unit_test(test_contention_at_the_way_down),
		cmocka_unit_test(test_start_while_busy),
		cmocka_unit_test(test_foreign_packets_count_nowhere),
		cmocka_unit_test(test_no_memory_is_a_cause_of_its_own),
		cmocka_unit_test(test_pieces_of_pieces),
		cmocka_unit_test(test_directions_differ),
		cmocka_unit_test(test_refused_by_the_device),
	};

	return cmocka_run_group_tests_name("relay engine", tests, NULL, NULL);
}
