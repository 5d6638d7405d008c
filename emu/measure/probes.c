/* Probes and their two processes; see probes.h. */
#include "emu/measure/probes.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"

#define SOCKET_BUFFER (8 << 20) /* two seconds of probes while a process does not run */
#define STRAGGLERS_NS (3 * NS_PER_S)
#define WAYS 2

struct message {
	uint32_t number;
	char rest[PROBE_BYTES - sizeof(uint32_t)];
};

static int64_t real_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static struct sockaddr_in address_of(const struct probes *p)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)p->spec.port),
		.sin_addr = p->address};
}

static int open_socket(struct probes *p, bool here)
{
	struct sockaddr_in own = address_of(p);
	const int one = 1, size = SOCKET_BUFFER;

	p->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->fd < 0 || setsockopt(p->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one) < 0 ||
		setsockopt(p->fd, SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof one) < 0)
		return -errno;
	if (setsockopt(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
		setsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	if (here)
		own.sin_addr.s_addr = htonl(INADDR_ANY);
	return bind(p->fd, (struct sockaddr *)&own, sizeof own) < 0 ? -errno : 0;
}

static int prepare_reflector(void *probes)
{
	return open_socket(probes, false);
}

static int prepare_sender(void *probes)
{
	return open_socket(probes, true);
}

/* What the kernel says of a datagram: its time, 0 if it has none, and how many were dropped. */
static int64_t read_control(struct msghdr *msg, uint32_t *dropped)
{
	struct timespec stamp = {0};

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_TIMESTAMPNS)
			memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
		else if (c->cmsg_type == SO_RXQ_OVFL)
			memcpy(dropped, CMSG_DATA(c), sizeof *dropped);
	}
	return stamp.tv_sec * NS_PER_S + stamp.tv_nsec;
}

/* A probe that has arrived and the kernel's time of it; -EAGAIN: none has. */
static int take(struct probes *p, enum probe_way way, struct message *m, int64_t *at_ns,
	struct sockaddr_in *from)
{
	char control[128];
	struct iovec iov = {m, sizeof *m};
	struct msghdr msg = {.msg_name = from,
		.msg_namelen = sizeof *from,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	ssize_t n = recvmsg(p->fd, &msg, 0);

	*at_ns = 0;
	if (n < 0)
		return -errno;
	*at_ns = read_control(&msg, &p->dropped[way]);
	return n != sizeof *m || m->number >= (uint32_t)p->spec.n || !*at_ns ? -EPROTO : 0;
}

static void answer(struct probes *p, const struct message *m, const struct sockaddr_in *to)
{
	struct probe_times *t = &p->times[m->number];

	t->answered_ns = real_now_ns();
	if (sendto(p->fd, m, sizeof *m, 0, (const struct sockaddr *)to, sizeof *to) < 0)
		t->answered_ns = 0;
}

/* Answers until it is killed. */
static int reflect(void *probes, int fd)
{
	struct probes *p = probes;
	struct pollfd ready = {.fd = p->fd, .events = POLLIN};
	struct sockaddr_in from;
	struct message m;
	uint32_t order = 0;
	int64_t at_ns;
	int r;

	while (poll(&ready, 1, -1) >= 0 || errno == EINTR)
		while ((r = take(p, WAY_THERE, &m, &at_ns, &from)) != -EAGAIN) {
			if (r < 0)
				continue;
			p->times[m.number].there_ns = at_ns;
			p->times[m.number].there_order = ++order;
			answer(p, &m, &from);
		}
	return 1;
}

static void take_answers(struct probes *p, uint32_t *order)
{
	struct sockaddr_in from;
	struct message m;
	int64_t at_ns;
	int r;

	while ((r = take(p, WAY_BACK, &m, &at_ns, &from)) != -EAGAIN)
		if (!r) {
			p->times[m.number].back_ns = at_ns;
			p->times[m.number].back_order = ++*order;
		}
}

static void send_one(struct probes *p, int number)
{
	struct sockaddr_in to = address_of(p);
	struct message m = {.number = (uint32_t)number};

	p->times[number].sent_ns = real_now_ns();
	if (sendto(p->fd, &m, sizeof m, 0, (struct sockaddr *)&to, sizeof to) < 0)
		p->times[number].sent_ns = 0; /* the device did not take it: no probe */
}

/* Takes answers until at_ns, or until all have come. */
static void wait_until(struct probes *p, int64_t at_ns, uint32_t *order)
{
	struct pollfd ready = {.fd = p->fd, .events = POLLIN};
	int64_t left_ns;

	while (*order < (uint32_t)p->spec.n && (left_ns = at_ns - clock_now_ns()) > 0) {
		struct timespec left = {left_ns / NS_PER_S, left_ns % NS_PER_S};

		if (ppoll(&ready, 1, &left, NULL) > 0)
			take_answers(p, order);
	}
}

/* Has the far end answered any since then? */
static bool answered_since(const struct probes *p, int64_t real_ns)
{
	for (int i = 0; i < p->spec.n; i++)
		if (p->times[i].answered_ns >= real_ns)
			return true;
	return false;
}

static void await_answers(struct probes *p, uint32_t *order)
{
	int64_t end_ns = clock_now_ns() + p->spec.patience_ns + STRAGGLERS_NS, from_ns;

	do {
		from_ns = real_now_ns();
		wait_until(p, clock_now_ns() + p->spec.patience_ns, order);
	} while (*order < (uint32_t)p->spec.n && answered_since(p, from_ns) &&
		 clock_now_ns() < end_ns);
}

static int64_t sending_ns(const struct probe_spec *spec, int64_t start_ns, int i)
{
	return spec->at_ns ? spec->at_ns[i] : start_ns + i * spec->gap_ns;
}

static int send_all(void *probes, int fd)
{
	struct probes *p = probes;
	int64_t start_ns = clock_now_ns();
	int64_t end_ns = sending_ns(&p->spec, start_ns, p->spec.n - 1) + p->spec.patience_ns;
	int64_t ahead_ns = clock_real_ahead_ns();
	uint32_t order = 0;

	/* a machine that is too slow for all of them sends fewer, and is not waited for */
	for (int i = 0; i < p->spec.n && clock_now_ns() < end_ns; i++) {
		int64_t due_ns = sending_ns(&p->spec, start_ns, i);

		wait_until(p, due_ns, &order);
		p->times[i].due_ns = due_ns + ahead_ns;
		send_one(p, i);
	}
	await_answers(p, &order);
	return 0;
}

static size_t shared_bytes(const struct probes *p)
{
	return (size_t)p->spec.n * sizeof *p->times + WAYS * sizeof *p->dropped;
}

int probes_start(struct probes *p, const struct topology *t, const struct probe_spec *spec,
	struct error *err)
{
	int r;

	*p = (struct probes){.spec = *spec, .address = t->sites[spec->to].address};
	p->times = mmap(
		NULL, shared_bytes(p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->times == MAP_FAILED) {
		p->times = NULL;
		return error_sys(err, -errno, "no memory for %d probes", spec->n);
	}
	p->dropped = (uint32_t *)(p->times + spec->n);
	r = child_start(&p->reflector, t, spec->to, prepare_reflector, reflect, p, err);
	if (!r)
		r = child_start(&p->sender, t, spec->from, prepare_sender, send_all, p, err);
	if (r < 0)
		probes_free(p);
	return r;
}

int probes_finish(struct probes *p, struct error *err)
{
	int64_t until_ns =
		sending_ns(&p->spec, clock_now_ns(), p->spec.n - 1) + p->spec.patience_ns;
	_free_ char *text = NULL;
	int r = child_finish(&p->sender, &text, until_ns + STRAGGLERS_NS + 5 * NS_PER_S,
		p->spec.stop_fd, "the probe", err);

	child_kill(&p->reflector);
	return r;
}

void probes_stop(struct probes *p)
{
	child_kill(&p->sender);
	child_kill(&p->reflector);
}

void probes_free(struct probes *p)
{
	probes_stop(p);
	if (p->times)
		munmap(p->times, shared_bytes(p));
	p->times = NULL;
}

int64_t probe_delay_ns(const struct probe_times *t, enum probe_way way)
{
	if (!t->sent_ns || !t->there_ns || (way != WAY_THERE && !t->back_ns))
		return -1;
	if (way == WAY_THERE)
		return t->there_ns - t->sent_ns;
	if (way == WAY_BACK)
		return t->back_ns - t->answered_ns;
	return t->back_ns - t->sent_ns - (t->answered_ns - t->there_ns);
}

/* Was it sent that way at all? A round trip is by who sent it. */
static bool was_sent(const struct probe_times *t, enum probe_way way)
{
	return t->sent_ns && (way != WAY_BACK || t->answered_ns);
}

void probes_summary(const struct probe_times *times, int n, enum probe_way way, int64_t from_ns,
	int64_t until_ns, struct probe_summary *out)
{
	_free_ double *delays = memory_zero((size_t)n, sizeof *delays);
	_free_ double *late = memory_zero((size_t)n, sizeof *late);
	size_t arrived = 0;
	uint32_t latest = 0;
	bool losing = false;

	*out = (struct probe_summary){0};
	for (int i = 0; i < n; i++) {
		const struct probe_times *t = &times[i];
		int64_t delay_ns = probe_delay_ns(t, way), at_ns = t->sent_ns - times[0].sent_ns;
		uint32_t order = way == WAY_THERE ? t->there_order : t->back_order;

		if (!was_sent(t, way) || at_ns < from_ns || at_ns >= until_ns)
			continue;
		late[out->sent++] = (double)(t->sent_ns - t->due_ns) / NS_PER_S;
		out->lost += delay_ns < 0;
		out->bursts += delay_ns < 0 && !losing;
		losing = delay_ns < 0;
		if (losing)
			continue;
		delays[arrived++] = (double)delay_ns / NS_PER_S;
		out->reordered += order < latest;
		latest = order > latest ? order : latest;
	}
	out->min_s = stats_quantile(delays, arrived, 0);
	out->p50_s = stats_quantile(delays, arrived, .5);
	out->p99_s = stats_quantile(delays, arrived, .99);
	out->max_s = stats_quantile(delays, arrived, 1);
	out->late_p50_s = stats_quantile(late, out->sent, .5);
	out->late_max_s = stats_quantile(late, out->sent, 1);
}
