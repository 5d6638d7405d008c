/* Agents' processes; see crew.h. */
#include "bench/live/crew.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/live/patience.h"

#define NEWS_AT_ONCE 256
#define BEAT_MAX_NS NS_PER_S
#define BEAT_MIN_NS (20 * NS_PER_MS)
#define BEATS_PER_SILENCE 4

static void member_ready(struct loop_source *source, uint32_t events);

const char *crew_name(const struct crew *crew, int participant)
{
	return crew->setup.mesh.nodes[participant].name;
}

static void fill_nodes(struct crew *crew)
{
	const struct job *job = &crew->scenario->job;
	struct mesh_node *node;

	for (int i = 0; i < crew->n; i++) {
		node = &crew->setup.mesh.nodes[i];
		node->site = job_site(job, i);
		node->address = crew->topology->sites[node->site].address;
		snprintf(node->name, sizeof node->name, "%s (%s)",
			crew->topology->sites[node->site].name,
			job_role(job, i) == ROLE_LEARNER ? "learner" : "syncer");
	}
}

static void fill_setup(struct crew *crew)
{
	const struct scenario *s = crew->scenario;
	const struct patience patience = patience_for(s);
	int64_t beat = s->transport.silence_ns / BEATS_PER_SILENCE;

	beat = beat > BEAT_MAX_NS ? BEAT_MAX_NS : beat;
	beat = (int64_t)((double)beat * s->dilation);
	crew->setup.scenario = s;
	crew->setup.mesh.n_nodes = crew->n;
	crew->setup.mesh.connections = s->transport.connections;
	crew->setup.mesh.attempt_ns = patience.attempt_ns;
	crew->setup.connect_ns = patience.connect_ns;
	crew->setup.mesh.beat_ns = beat < BEAT_MIN_NS ? BEAT_MIN_NS : beat;
	crew->setup.mesh.silence_ns = (int64_t)((double)s->transport.silence_ns * s->dilation);
	fill_nodes(crew);
}

int crew_open(struct crew *crew, struct loop *loop, const struct scenario *s,
	const struct topology *t, const struct crew_user *user, struct error *err)
{
	*crew = (struct crew){.loop = loop,
		.scenario = s,
		.topology = t,
		.user = user,
		.n = job_participants(&s->job)};
	fill_setup(crew);
	for (int i = 0; i < crew->n; i++)
		crew->members[i] = (struct member){
			.source.ready = member_ready, .crew = crew, .participant = i, .fd = -1};
	crew->setup.mesh.pool_fd = channel_pool_open();
	if (crew->setup.mesh.pool_fd < 0)
		return error_sys(err, crew->setup.mesh.pool_fd,
			"cannot create the file that payload is sent from");
	crew->counters = mmap(NULL, (size_t)crew->n * sizeof *crew->counters,
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crew->counters == MAP_FAILED) {
		crew->counters = NULL;
		close(crew->setup.mesh.pool_fd);
		return error_sys(err, -errno, "cannot map the agents' counters");
	}
	return 0;
}

int crew_start(struct crew *crew, int participant, int64_t t0_ns, struct error *err)
{
	struct member *m = &crew->members[participant];
	struct agent_setup setup = crew->setup;
	const struct scenario *s = crew->scenario;
	int site = setup.mesh.nodes[participant].site, r;

	setup.self = participant;
	setup.t0_ns = t0_ns;
	for (int i = 0; i < crew->n; i++)
		setup.alive[i] = crew->members[i].pid > 0;
	setup.counters = &crew->counters[participant];
	setup.mesh.self = participant;
	setup.mesh.link = &setup.counters->link;
	setup.mesh.local = &setup.counters->local;
	setup.mesh.rate_bps =
		(int64_t)((double)s->links[s->sites[site].link].direction[UP].base.rate_bps /
			  s->dilation);
	r = spawn_agent(&setup, crew->topology, &m->pid, &m->fd, err);
	if (r < 0)
		return r;
	r = loop_add(crew->loop, m->fd, EPOLLIN, &m->source);
	return r < 0 ? error_sys(
			       err, r, "cannot watch the agent of %s", crew_name(crew, participant))
		     : 0;
}

/* One message. 1: read, 0: there is none now, -1: the agent has closed its end. */
static int read_news(struct member *m, int flags)
{
	struct news news;
	ssize_t n = recv(m->fd, &news, sizeof news, flags);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < (ssize_t)offsetof(struct news, text))
		return -1;
	if (news.kind == NEWS_CONNECTED)
		m->connected = true;
	else if (news.kind == NEWS_MEASURED)
		m->measured = true;
	else if (news.kind == NEWS_DONE)
		m->done = true;
	m->crew->user->news(m->crew, m->participant, &news);
	return 1;
}

/* Its end is closed, so it has ended or is about to. Returns its wait status. */
static int reap(struct member *m)
{
	int status = 0;

	close(m->fd);
	m->fd = -1;
	while (waitpid(m->pid, &status, 0) < 0 && errno == EINTR)
		;
	m->pid = 0;
	return status;
}

static void describe_death(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
}

static void read_member(struct member *m, int most)
{
	char text[128];
	int r = 1;

	if (m->fd < 0)
		return;
	for (int i = 0; r > 0 && i < most; i++)
		r = read_news(m, MSG_DONTWAIT);
	if (r >= 0)
		return;
	describe_death(reap(m), text, sizeof text);
	m->crew->user->died(m->crew, m->participant, text);
}

static void member_ready(struct loop_source *source, uint32_t events)
{
	read_member(container_of(source, struct member, source), NEWS_AT_ONCE);
}

void crew_read(struct crew *crew)
{
	for (int i = 0; i < crew->n; i++)
		read_member(&crew->members[i], INT_MAX);
}

void crew_kill(struct crew *crew, int participant)
{
	struct member *m = &crew->members[participant];

	if (!m->pid)
		return;
	kill(m->pid, SIGKILL);
	while (read_news(m, 0) >= 0)
		;
	reap(m);
	crew->counters[participant].flow = (struct live_flow){0};
	crew->counters[participant].alive_ns = 0;
	crew->counters[participant].still_ns = 0;
	m->still_ns = 0;
	crew->setup.mesh.nodes[participant].incarnation++;
}

bool crew_stood_still(struct crew *crew, int participant, bool at_end, int64_t *for_ns)
{
	struct member *m = &crew->members[participant];
	int64_t alive_ns = (int64_t)counter_read(&crew->counters[participant].alive_ns);
	int64_t still_ns = (int64_t)counter_read(&crew->counters[participant].still_ns);
	int64_t sum_ns = still_ns - m->still_ns, since_ns = clock_now_ns() - alive_ns;

	m->still_ns = still_ns;
	if (!m->pid || !alive_ns)
		return false;
	if (at_end && since_ns >= STILL_NS)
		sum_ns += since_ns;
	if (sum_ns)
		*for_ns = sum_ns;
	return sum_ns > 0;
}

void crew_tell(struct crew *crew, const struct order *order)
{
	for (int i = 0; i < crew->n; i++)
		if (crew->members[i].pid) /* one that is gone will be noticed by its end of file */
			send(crew->members[i].fd, order, sizeof *order,
				MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool anybody(const struct crew *crew)
{
	for (int i = 0; i < crew->n; i++)
		if (crew->members[i].pid)
			return true;
	return false;
}

static void grace_over(struct loop_timer *timer)
{
}

void crew_stop(struct crew *crew, int64_t grace_ns)
{
	struct loop_timer grace = {.fire = grace_over};
	int64_t until = clock_now_ns() + grace_ns;

	crew_tell(crew, &(struct order){.kind = ORDER_STOP});
	loop_timer_set(crew->loop, &grace, until);
	while (anybody(crew) && clock_now_ns() < until)
		if (loop_once(crew->loop) < 0)
			break;
	loop_timer_cancel(crew->loop, &grace);
}

void crew_close(struct crew *crew)
{
	for (int i = 0; i < crew->n; i++)
		crew_kill(crew, i);
	munmap(crew->counters, (size_t)crew->n * sizeof *crew->counters);
	close(crew->setup.mesh.pool_fd);
}
