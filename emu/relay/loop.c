/*
 * The loop: one thread, one epoll set. What is due is done first, then each site that has
 * packets is read a little, so that nobody waits for another's burst; it sleeps only when
 * nothing is due and nothing is there.
 *
 * The timer is a timerfd: poll and epoll timeouts are stretched by the kernel in proportion to
 * their length (0.1 %: 0.3 ms of 300 ms) for processes without a real-time class, whatever their
 * timer slack.
 */
#include "emu/relay/loop.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "emu/relay/arrivals.h"
#include "emu/relay/direction.h"
#include "emu/relay/engine.h"
#include "emu/relay/flight.h"
#include "emu/relay/writer.h"

#define READ_BURST 8		   /* packets of a site in one turn */
#define BUSY_PACKETS 5		   /* so many in a turn: more will come before long */
#define REST_NS (100 * NS_PER_US)  /* from one turn to the next while it is so */
#define HELP_NS (500 * NS_PER_US)  /* of work without a rest: the writer is to help */
#define INLINE_BURST 4		   /* packets a turn that are not worth waking it even then */
#define DELIVER_BURST 32	   /* packets to all sites in one turn */
#define SPIN_NS (10 * NS_PER_US)   /* setting the timer and waking up cost more than this */
#define SLEEP_NS (300 * NS_PER_US) /* a sleep longer than this is late to end by up to ... */
#define SPIN_AFTER_SLEEP_NS (100 * NS_PER_US)
#define LONG_SLEEP_NS (10 * NS_PER_MS)
#define EARLY_NS (2 * NS_PER_MS) /* a long sleep ends so much before what is due */
#define NAP_NS (200 * NS_PER_US)
#define TALLY_NS NS_PER_MS
#define PRIORITY 10 /* in SCHED_FIFO: above everyone who does not ask for more */
#define FILES_MAX (SITES_MAX + 4)
#define TOKEN_TIMER SITES_MAX
#define TOKEN_CONTROL (SITES_MAX + 1)
#define TOKEN_WRITER (SITES_MAX + 2)

struct loop {
	const struct relay_job *job;
	struct pool *pool;
	struct engine *engine;
	struct writer *writer;
	struct arrivals *arrivals;
	int n_inline;	   /* packets written by the loop itself in this turn */
	int n_moved;	   /* packets read and delivered since the last rest or sleep */
	int64_t rested_ns; /* when that ended */
	int epoll_fd, timer_fd;
	int64_t epoch_ns;
	int64_t wake_ns;      /* the timer is set to this; TIME_NEVER: it is not set */
	int64_t slept_for_ns; /* what the last sleep above SLEEP_NS was for */
	int64_t early_for_ns; /* what the last long sleep was cut short for */
	bool readable[SITES_MAX], ended;
	int n_readable;
	int64_t ran_ns;		      /* the engine has done what was due then */
	int64_t tallied_ns;	      /* the same at the last tally */
	int64_t polled_ns;	      /* when epoll last said what is readable */
	int64_t unread_ns[SITES_MAX]; /* nothing in a readable site's device is older */
	int64_t came_ns[SITES_MAX];   /* when its first packet came; 0: unknown */
};

/* Writes a packet to its site's device; the writer's thread does this as well. */
static int64_t write_packet(void *context, const struct packet *p)
{
	const struct loop *loop = context;
	struct iovec iov[1 + POOL_IOV_MAX];
	struct packet_piece piece;
	int64_t now_ns;
	int n = 0;

	if (p->count == p->shape.n_segments) {
		n = pool_parts(loop->pool, p, 0, p->root->bytes, iov);
	} else {
		packet_cut(&piece, &p->shape, p->root->head, p->first, p->count);
		iov[0] = (struct iovec){piece.head, piece.head_bytes};
		n = 1 +
		    pool_parts(loop->pool, p, piece.payload_offset, piece.payload_bytes, iov + 1);
	}
	now_ns = clock_now_ns();
	return writev(loop->job->tun_fds[p->to], iov, n) < 0 ? -1 : now_ns;
}

/*
 * The loop writes by itself while it finds time to rest, since waking another thread costs as
 * much as a packet; when it does not, all but a few packets a turn are the writer's. So is
 * everything as long as it has some, for the order's sake.
 */
static int64_t deliver(void *context, int site, struct packet *p)
{
	struct loop *loop = context;
	bool behind = loop->ran_ns - loop->rested_ns > HELP_NS;

	loop->n_moved++;
	if (writer_held(loop->writer) == 0 && (!behind || loop->n_inline < INLINE_BURST)) {
		loop->n_inline++;
		return write_packet(loop, p);
	}
	writer_put(loop->writer, p);
	return ENGINE_LATER;
}

static void collect_written(struct loop *loop)
{
	struct packet *p;
	int64_t at_ns;

	while ((p = writer_take(loop->writer, &at_ns)))
		engine_delivered(loop->engine, p, at_ns);
}

static void deliver_due(struct loop *loop)
{
	size_t room;

	collect_written(loop);
	loop->n_inline = 0;
	room = WRITER_ROOM - writer_held(loop->writer);
	loop->ran_ns = clock_now_ns();
	engine_run(loop->engine, loop->ran_ns, room < DELIVER_BURST ? (int)room : DELIVER_BURST);
	if (writer_held(loop->writer) > 0)
		writer_wake(loop->writer);
}

/* When the packet that was just read from a site's device came, as well as it is known. */
static int64_t arrival(struct loop *loop, int site)
{
	struct histogram *waited = &loop->job->shared->stats[site][UP].lateness;
	int64_t at_ns = loop->came_ns[site] ? loop->came_ns[site] : clock_now_ns();

	loop->came_ns[site] = 0;
	histogram_add(waited, at_ns - loop->unread_ns[site]);
	return at_ns;
}

/* One packet from a site; false when there is none. */
static bool read_packet(struct loop *loop, int site)
{
	struct packet_shape shape;
	struct packet *p;
	int n_iov;
	const struct iovec *iov = pool_room(loop->pool, &n_iov);
	ssize_t n = readv(loop->job->tun_fds[site], iov, n_iov);

	if (n < 0)
		return false;
	if (packet_parse(&shape, iov[0].iov_base, POOL_HEAD_BYTES, (size_t)n) < 0)
		return true;
	p = pool_take(loop->pool, (size_t)n);
	p->shape = shape;
	loop->n_moved++;
	engine_input(loop->engine, site, p, arrival(loop, site));
	return true;
}

static void read_sites(struct loop *loop)
{
	for (int i = 0; i < loop->job->n_sites; i++) {
		if (!loop->readable[i])
			continue;
		for (int k = 0; k < READ_BURST && loop->readable[i]; k++)
			loop->readable[i] = read_packet(loop, i);
		loop->n_readable -= !loop->readable[i];
	}
}

/*
 * When to wake up for what is due at due_ns; now_ns if it is too soon to sleep. A virtual machine
 * is late to wake up, by a tenth of a millisecond after sleeping for one and by two tenths after a
 * hundred, but not after a nap that is too short for its host to put the processor to sleep. So
 * a long sleep ends early and what remains of it is napped away, and the end is waited for without
 * sleeping. All that costs a fifth of a millisecond of processor time per long sleep.
 */
static int64_t wake_for(struct loop *loop, int64_t due_ns, int64_t now_ns)
{
	int64_t left_ns = due_ns - now_ns;
	int64_t spin_ns = due_ns == loop->slept_for_ns ? SPIN_AFTER_SLEEP_NS : SPIN_NS;

	if (due_ns == TIME_NEVER)
		return TIME_NEVER;
	if (left_ns < spin_ns)
		return now_ns;
	if (left_ns > SLEEP_NS)
		loop->slept_for_ns = due_ns;
	if (left_ns > LONG_SLEEP_NS) {
		loop->early_for_ns = due_ns;
		return due_ns - EARLY_NS;
	}
	if (due_ns == loop->early_for_ns && left_ns > SPIN_AFTER_SLEEP_NS + NAP_NS)
		return now_ns + NAP_NS;
	return due_ns == loop->slept_for_ns ? due_ns - SPIN_AFTER_SLEEP_NS : due_ns;
}

/* What epoll_wait is to do so that the loop goes on at due_ns at the latest. */
static int timeout_for(struct loop *loop, int64_t due_ns)
{
	struct itimerspec when = {0};
	int64_t now_ns = clock_now_ns(), wake_ns = wake_for(loop, due_ns, now_ns);

	if (wake_ns == now_ns)
		return 0;
	if (wake_ns == loop->wake_ns)
		return RELAY_TURN_MS;
	if (wake_ns != TIME_NEVER) {
		when.it_value.tv_sec = wake_ns / NS_PER_S;
		when.it_value.tv_nsec = wake_ns % NS_PER_S;
	}
	timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
	loop->wake_ns = wake_ns;
	return RELAY_TURN_MS;
}

/* Sleeping is for when no site has packets, nothing is due and nothing has just been written. */
static int wait_time(struct loop *loop)
{
	if (loop->n_readable > 0 || !writer_sleep(loop->writer))
		return 0;
	return timeout_for(loop, engine_next_ns(loop->engine));
}

/* What has been carried is written down before a sleep, and now and then without one. */
static void write_tally(struct loop *loop, bool sleeps)
{
	struct tally *tally = &loop->job->shared->tally;

	if (!sleeps && loop->ran_ns - loop->tallied_ns < TALLY_NS)
		return;
	engine_tally(loop->engine, loop->ran_ns, tally_begin(tally));
	tally_end(tally);
	loop->tallied_ns = loop->ran_ns;
	if (sleeps)
		tally_asleep(tally, true);
}

/*
 * A site has become readable. If we slept or rested its first packet's time is noted, where that
 * is possible. Otherwise it came just now if we slept, and at some time since we looked last if
 * we did not.
 */
static void note_readable(
	struct loop *loop, uint32_t site, bool slept, bool rested, int64_t looked_ns)
{
	int64_t came_ns = slept || rested ? arrivals_first_ns(loop->arrivals, (int)site) : 0;

	loop->readable[site] = true;
	loop->n_readable++;
	loop->came_ns[site] = came_ns;
	loop->unread_ns[site] = came_ns ? came_ns : slept ? loop->polled_ns : looked_ns;
}

/*
 * While packets come and go all the time each would wake the loop, which costs more than carrying
 * it. Instead it rests, as network cards do between interrupts, and does what has come and become
 * due meanwhile in one turn. That makes a packet late by REST_NS at most. False: not now.
 */
static bool rest(struct loop *loop)
{
	int64_t until_ns = loop->rested_ns + REST_NS;
	const struct timespec when = {until_ns / NS_PER_S, until_ns % NS_PER_S};

	if (loop->n_moved < BUSY_PACKETS || clock_now_ns() + SPIN_NS > until_ns)
		return false;
	arrivals_reset(loop->arrivals);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
	return true;
}

static void wait_events(struct loop *loop)
{
	struct epoll_event events[FILES_MAX];
	bool resting = loop->n_readable == 0 && writer_held(loop->writer) == 0 && rest(loop);
	int timeout = resting ? 0 : wait_time(loop), n;
	int64_t looked_ns = loop->polled_ns;

	write_tally(loop, timeout > 0);
	if (timeout > 0)
		arrivals_reset(loop->arrivals);
	n = epoll_wait(loop->epoll_fd, events, FILES_MAX, timeout);
	if (timeout > 0)
		tally_asleep(&loop->job->shared->tally, false);
	loop->polled_ns = clock_now_ns();
	if (resting || timeout > 0) {
		loop->n_moved = 0;
		loop->rested_ns = loop->polled_ns;
	}
	for (int i = 0; i < n; i++) {
		uint32_t token = events[i].data.u32;

		if (token == TOKEN_CONTROL) {
			loop->ended = true;
		} else if (token == TOKEN_WRITER) {
			writer_awake(loop->writer);
		} else if (token == TOKEN_TIMER) {
			loop->wake_ns = TIME_NEVER;
		} else if (!loop->readable[token]) {
			note_readable(loop, token, timeout != 0, resting, looked_ns);
		}
	}
}

static void look_for_start(struct loop *loop)
{
	int64_t epoch_ns = atomic_load_explicit(&loop->job->shared->epoch_ns, memory_order_relaxed);

	if (epoch_ns == loop->epoch_ns)
		return;
	loop->epoch_ns = epoch_ns;
	engine_start(loop->engine, epoch_ns, clock_now_ns());
}

static void loop_run(struct loop *loop)
{
	while (!loop->ended) {
		atomic_store_explicit(
			&loop->job->shared->alive_ns, loop->polled_ns, memory_order_relaxed);
		look_for_start(loop);
		deliver_due(loop);
		read_sites(loop);
		wait_events(loop);
	}
}

static int watch(struct loop *loop, int fd, uint32_t events, uint32_t token, struct error *err)
{
	struct epoll_event event = {.events = events, .data.u32 = token};

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_sys(err, -errno, "the relay cannot watch a device");
	return 0;
}

/* Half of what the machine has to spare: the sites' sockets hold the same bytes once more. */
static uint64_t spare_bytes(void)
{
	_fclose_ FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib;
	char line[128];

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			return (uint64_t)kib * 1024 / 2;
	return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}

static uint64_t pool_limit(const struct relay_job *job)
{
	double needed = POOL_FACTOR * (double)flight_bytes(job->plan, job->n_sites) +
			(double)POOL_FIXED_BYTES;

	return (uint64_t)fmin(needed, (double)spare_bytes());
}

static int loop_open(struct loop *loop, struct error *err)
{
	const struct relay_job *job = loop->job;
	int r = pool_new(&loop->pool, pool_limit(job), err);

	if (r < 0)
		return r;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->epoll_fd < 0 || loop->timer_fd < 0)
		return error_sys(err, -errno, "the relay cannot make its timer");
	for (int i = 0; r == 0 && i < job->n_sites; i++)
		r = watch(loop, job->tun_fds[i], EPOLLIN | EPOLLET, (uint32_t)i, err);
	if (r == 0)
		r = watch(loop, loop->timer_fd, EPOLLIN | EPOLLET, TOKEN_TIMER, err);
	if (r == 0)
		r = writer_new(&loop->writer, write_packet, loop, err);
	if (r == 0)
		r = watch(loop, writer_fd(loop->writer), EPOLLIN | EPOLLET, TOKEN_WRITER, err);
	if (r == 0)
		r = watch(loop, job->control_fd, EPOLLIN, TOKEN_CONTROL, err);
	if (r == 0)
		loop->engine = engine_new(job->plan, job->n_sites, loop->pool, job->shared->stats,
			deliver, loop, clock_now_ns());
	return r;
}

static void loop_close(struct loop *loop)
{
	loop->writer = writer_free(loop->writer);
	loop->engine = engine_free(loop->engine);
	loop->arrivals = arrivals_free(loop->arrivals);
	loop->pool = pool_free(loop->pool);
	cleanup_close(&loop->epoll_fd);
	cleanup_close(&loop->timer_fd);
}

static int compare_int(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Closes everything but the standard files, the devices and the control file. */
static void close_others(const struct relay_job *job)
{
	int keep[FILES_MAX], n = 0, from = STDERR_FILENO + 1;

	for (int i = 0; i < job->n_sites; i++)
		keep[n++] = job->tun_fds[i];
	keep[n++] = job->control_fd;
	qsort(keep, (size_t)n, sizeof *keep, compare_int);
	for (int i = 0; i < n; i++) {
		if (keep[i] > from)
			close_range((unsigned)from, (unsigned)keep[i] - 1, 0);
		from = keep[i] + 1;
	}
	close_range((unsigned)from, ~0u, 0);
}

/* In a real-time class, or at least ahead of the others; the links work without as well. */
static void be_punctual(void)
{
	const struct sched_param param = {.sched_priority = PRIORITY};

	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0) {
		log_debug("relay: no real-time class (%s): expect a higher lateness",
			strerror(errno));
		if (setpriority(PRIO_PROCESS, 0, -20) < 0)
			log_debug("relay: no higher priority either (%s)", strerror(errno));
	}
	prctl(PR_SET_TIMERSLACK, 1UL);
}

/* While the relay still has its rights. */
static void watch_arrivals(struct loop *loop)
{
	loop->arrivals = arrivals_new(loop->job->tun_fds, loop->job->n_sites);
	if (arrivals_known(loop->arrivals) < 0)
		log_debug("relay: no times of arrival (%s): idle round trips are longer by the "
			  "time this machine takes to wake up",
			strerror(-arrivals_known(loop->arrivals)));
}

/* The program decides when the relay ends, also on a Ctrl-C that reaches both. */
static int depend_on_program(const struct relay_job *job, struct error *err)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	int r = topology_drop_capabilities(err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return error_sys(err, -errno, "the relay cannot follow the program's end");
	if (getppid() != job->program)
		return error_set(err, -ESRCH, STATUS_MACHINE, "the program has gone");
	return 0;
}

void relay_main(const struct relay_job *job)
{
	struct loop loop = {
		.job = job,
		.epoll_fd = -1,
		.timer_fd = -1,
		.epoch_ns = DIRECTION_NO_EPOCH,
		.wake_ns = TIME_NEVER,
		.slept_for_ns = -1,
		.early_for_ns = -1,
	};
	struct error err = {0};
	int r;

	prctl(PR_SET_NAME, "narrowlink-link"); /* what ps and top show */
	close_others(job);
	be_punctual();
	watch_arrivals(&loop);
	r = depend_on_program(job, &err);
	if (r == 0)
		r = loop_open(&loop, &err);
	if (send(job->control_fd, &err, sizeof err, MSG_NOSIGNAL) < 0)
		r = -errno;
	if (r == 0)
		loop_run(&loop);
	loop_close(&loop);
}
