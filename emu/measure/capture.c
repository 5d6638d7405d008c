/*
 * A process per direction of a captured site: see capture.h. Its handle is opened while the
 * process still has its rights, its counters lie in memory shared with the program.
 */
#include "emu/measure/capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

#define RING_BYTES (16 << 20)
#define TIMEOUT_MS 50
#define FILE_HEADER 24
#define RECORD_HEADER 16
#define SAMPLE_EVERY 16
#define FINISH_NS (10 * NS_PER_S)
#define NO_ZERO INT64_MAX

struct shared {
	_Atomic int64_t zero_ns; /* CLOCK_REALTIME of scenario time zero */
	_Atomic bool stop;
	_Atomic int64_t written;
	struct capture_counts counts[];
};

struct device {
	struct capture *capture;
	int site;
	enum direction direction;
	struct capture_counts *counts;
	struct child child;
	/* in the process */
	pcap_t *pcap;
	pcap_dumper_t *file;
	char failed[PCAP_ERRBUF_SIZE + 64];
};

struct capture {
	struct capture_spec spec;
	char *dir;
	const struct topology *topology;
	struct shared *shared;
	size_t shared_bytes;
	int n;
	struct device *devices;
};

static int fail(struct device *d, const char *what, const char *why)
{
	bool more = *why && strcmp(what, why);

	snprintf(d->failed, sizeof d->failed, "%s%s%s", what, more ? ": " : "", more ? why : "");
	return 0; /* the body says it */
}

static int set_filter(struct device *d)
{
	const char *text = d->direction == UP ? "outbound" : "inbound";
	struct bpf_program filter;
	int r;

	if (pcap_compile(d->pcap, &filter, text, 1, PCAP_NETMASK_UNKNOWN) < 0)
		return -1;
	r = pcap_setfilter(d->pcap, &filter);
	pcap_freecode(&filter);
	return r;
}

static void open_file(struct device *d)
{
	const struct capture *c = d->capture;
	_free_ char *path = memory_format("%s/%s-%s.pcap", c->dir, c->topology->sites[d->site].name,
		direction_name(d->direction));

	d->file = pcap_dump_open(d->pcap, path);
	if (!d->file)
		fail(d, "cannot write the capture", pcap_geterr(d->pcap));
	atomic_fetch_add(&c->shared->written, FILE_HEADER);
}

/* With the rights to: the device, the ring, the filter, the file. */
static int open_device(void *device)
{
	struct device *d = device;
	char text[PCAP_ERRBUF_SIZE] = "";
	int r;

	d->pcap = pcap_create(SITE_DEVICE, text);
	if (!d->pcap)
		return fail(d, "libpcap", text);
	pcap_set_snaplen(d->pcap, d->capture->spec.snaplen);
	pcap_set_timeout(d->pcap, TIMEOUT_MS);
	pcap_set_buffer_size(d->pcap, RING_BYTES);
	pcap_set_tstamp_precision(d->pcap, PCAP_TSTAMP_PRECISION_NANO);
	r = pcap_activate(d->pcap);
	if (r < 0)
		return fail(d, pcap_statustostr(r), pcap_geterr(d->pcap));
	if (pcap_setdirection(d->pcap, d->direction == UP ? PCAP_D_OUT : PCAP_D_IN) < 0 ||
		set_filter(d) < 0 || pcap_setnonblock(d->pcap, 1, text) < 0)
		return fail(d, "libpcap", pcap_geterr(d->pcap));
	open_file(d);
	return 0;
}

static int64_t since_zero(const struct device *d, int64_t at_ns)
{
	int64_t zero_ns = atomic_load(&d->capture->shared->zero_ns);

	if (zero_ns == NO_ZERO || at_ns < zero_ns)
		return 0;
	return (int64_t)((double)(at_ns - zero_ns) / d->capture->spec.dilation);
}

static void keep(
	struct device *d, const struct pcap_pkthdr *head, const uint8_t *bytes, int64_t t_ns)
{
	struct pcap_pkthdr h = *head;
	int64_t size = RECORD_HEADER + h.caplen;

	if (atomic_fetch_add(&d->capture->shared->written, size) + size >
		d->capture->spec.limit_bytes) {
		atomic_fetch_sub(&d->capture->shared->written, size);
		d->counts->full = true;
		return;
	}
	h.ts.tv_sec = t_ns / NS_PER_S;
	h.ts.tv_usec = t_ns % NS_PER_S; /* nanoseconds: the file says so */
	pcap_dump((uint8_t *)d->file, &h, bytes);
	d->counts->kept_packets++;
}

static void count(struct device *d, const struct capture_packet *p, int64_t at_ns, int64_t t_ns)
{
	struct capture_counts *c = d->counts;
	size_t bin = (size_t)(t_ns / CAPTURE_BIN_NS);

	atomic_fetch_add(&c->packets, 1);
	atomic_fetch_add(&c->segments, (uint64_t)p->segments);
	atomic_fetch_add(&c->wire_bytes, (uint64_t)p->wire_bytes);
	if (t_ns > 0 && bin < CAPTURE_BINS)
		c->bin_bytes[bin] += (uint64_t)p->wire_bytes;
	if (p->key && p->key % SAMPLE_EVERY == 0 && t_ns > 0 && c->n_samples < CAPTURE_SAMPLES)
		c->samples[c->n_samples++] = (struct capture_sample){p->key, at_ns};
}

static void on_packet(uint8_t *user, const struct pcap_pkthdr *h, const uint8_t *bytes)
{
	struct device *d = (struct device *)user;
	int64_t at_ns = h->ts.tv_sec * NS_PER_S + h->ts.tv_usec;
	int64_t t_ns = since_zero(d, at_ns);
	struct capture_packet p;

	if (capture_weigh(&p, bytes, h->caplen, h->len,
		    d->capture->spec.overhead[d->site][d->direction]) < 0)
		return;
	count(d, &p, at_ns, t_ns);
	keep(d, h, bytes, t_ns);
}

/* Until it is told to stop and nothing is left in the ring. */
static int capture_body(void *device, int fd)
{
	struct device *d = device;
	struct pollfd ready = {.events = POLLIN};
	struct pcap_stat stat = {0};
	int n = 0;

	if (*d->failed)
		return write(fd, d->failed, strlen(d->failed)) < 0 ? 2 : 1;
	ready.fd = pcap_get_selectable_fd(d->pcap);
	/* the ring's last block is handed over TIMEOUT_MS after its first packet */
	for (int quiet = 0; quiet < 2 && n >= 0;) {
		bool last = atomic_load(&d->capture->shared->stop);

		poll(&ready, 1, TIMEOUT_MS);
		n = pcap_dispatch(d->pcap, -1, on_packet, (uint8_t *)d);
		quiet = n == 0 && last ? quiet + 1 : 0;
	}
	if (pcap_stats(d->pcap, &stat) == 0)
		d->counts->kernel_drops = stat.ps_drop;
	n = pcap_dump_flush(d->file);
	pcap_dump_close(d->file);
	d->counts->ended = true;
	if (n == 0)
		return 0;
	return write(fd, "cannot write the capture", 24) < 0 ? 2 : 1;
}

/*
 * What says that a handle is open is its file, which is there as soon as it is; a failure ends the
 * process. Nothing else can be told before the end.
 */
static int await_open(struct device *d, struct error *err)
{
	const struct capture *c = d->capture;
	const char *site = c->topology->sites[d->site].name;
	_free_ char *path =
		memory_format("%s/%s-%s.pcap", c->dir, site, direction_name(d->direction));
	_free_ char *what = memory_format("the capture at %s", site), *text = NULL;
	int64_t until_ns = clock_now_ns() + FINISH_NS;

	while (access(path, F_OK) < 0 && clock_now_ns() < until_ns) {
		siginfo_t info = {0};

		if (waitid(P_PID, (id_t)d->child.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
			info.si_pid)
			return child_finish(&d->child, &text, until_ns, NULL, what, err);
		nanosleep(&(struct timespec){0, NS_PER_MS}, NULL);
	}
	return 0;
}

static int start_device(struct device *d, struct error *err)
{
	int r = child_start(
		&d->child, d->capture->topology, d->site, open_device, capture_body, d, err);

	return r ? r : await_open(d, err);
}

static int share(struct capture *c, struct error *err)
{
	c->shared_bytes = sizeof *c->shared + (size_t)c->n * sizeof *c->shared->counts;
	c->shared = mmap(NULL, c->shared_bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->shared == MAP_FAILED) {
		c->shared = NULL;
		return error_sys(err, -errno, "no memory for the capture");
	}
	atomic_init(&c->shared->zero_ns, NO_ZERO);
	return 0;
}

int capture_start(struct capture **out, const struct topology *t, const struct capture_spec *spec,
	struct error *err)
{
	struct capture *c = memory_zero(1, sizeof *c);
	int r;

	c->spec = *spec;
	c->dir = memory_string(spec->dir);
	c->topology = t;
	c->devices = memory_zero((size_t)t->n_sites * DIRECTIONS, sizeof *c->devices);
	for (int i = 0; i < t->n_sites; i++)
		for (enum direction d = UP; spec->sites[i] && d < DIRECTIONS; d++)
			c->devices[c->n++] = (struct device){
				.capture = c, .site = i, .direction = d, .child.fd = -1};
	r = share(c, err);
	for (int i = 0; !r && i < c->n; i++) {
		c->devices[i].counts = &c->shared->counts[i];
		r = start_device(&c->devices[i], err);
	}
	if (r < 0) {
		capture_free(c);
		return r;
	}
	*out = c;
	return 0;
}

void capture_zero(struct capture *c, int64_t t0_ns)
{
	atomic_store(&c->shared->zero_ns, t0_ns + clock_real_ahead_ns());
}

int capture_finish(struct capture *c, struct error *err)
{
	int64_t until_ns = clock_now_ns() + FINISH_NS;
	int r = 0;

	atomic_store(&c->shared->stop, true);
	for (int i = 0; i < c->n && !r; i++) {
		struct device *d = &c->devices[i];
		_free_ char *text = NULL, *what = memory_format("the capture at %s",
						  c->topology->sites[d->site].name);

		r = child_finish(&d->child, &text, until_ns, NULL, what, err);
	}
	return r;
}

struct capture *capture_free(struct capture *c)
{
	if (!c)
		return NULL;
	for (int i = 0; i < c->n; i++)
		child_kill(&c->devices[i].child);
	if (c->shared)
		munmap(c->shared, c->shared_bytes);
	free(c->devices);
	free(c->dir);
	free(c);
	return NULL;
}

const struct capture_counts *capture_counts(const struct capture *c, int site, enum direction d)
{
	for (int i = 0; i < c->n; i++)
		if (c->devices[i].site == site && c->devices[i].direction == d)
			return c->devices[i].counts;
	return NULL;
}

static int by_key(const void *a, const void *b)
{
	const struct capture_sample *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

size_t capture_delays(
	const struct capture *c, int from, int to, struct capture_delay *out, size_t n)
{
	const struct capture_counts *up = capture_counts(c, from, UP);
	const struct capture_counts *down = capture_counts(c, to, DOWN);
	int64_t zero_ns = atomic_load(&c->shared->zero_ns);
	double k = c->spec.dilation * NS_PER_S;
	_free_ struct capture_sample *sent = NULL;
	size_t found = 0;

	if (!up || !down || from == to)
		return 0;
	sent = memory_zero(up->n_samples, sizeof *sent);
	memcpy(sent, up->samples, up->n_samples * sizeof *sent);
	qsort(sent, up->n_samples, sizeof *sent, by_key);
	for (uint32_t i = 0; i < down->n_samples && found < n; i++) {
		const struct capture_sample *there = &down->samples[i];
		const struct capture_sample *s =
			bsearch(there, sent, up->n_samples, sizeof *sent, by_key);

		if (s && there->at_ns > s->at_ns)
			out[found++] = (struct capture_delay){(double)(s->at_ns - zero_ns) / k,
				(double)(there->at_ns - s->at_ns) / k};
	}
	return found;
}
