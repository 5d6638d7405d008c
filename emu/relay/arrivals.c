/*
 * The times lie in a BPF array that is mapped into this process; the program is attached as the
 * filter of a TUN device, which lets every packet pass. See arrivals.h, bpf(2) and the kernel's
 * drivers/net/tun.c.
 */
#include "emu/relay/arrivals.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_tun.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "emu/topology.h"

#define PASS_WHOLE (-1) /* the filter returns how much of a packet is kept */

struct slot {
	_Alignas(64) _Atomic int64_t first_ns;
};

struct arrivals {
	int n, error;
	struct slot *slots; /* the array; NULL: there is none */
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int r = (int)syscall(SYS_bpf, command, attr, sizeof *attr);

	return r < 0 ? -errno : r;
}

static int make_array(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = SITES_MAX * sizeof(struct slot),
		.max_entries = 1,
		.map_flags = BPF_F_MMAPABLE,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

/* if (!slot->first_ns) slot->first_ns = ktime_get_ns(); return PASS_WHOLE; */
static int load_program(int array_fd, int slot)
{
	const struct bpf_insn program[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM,
			.dst_reg = BPF_REG_6,
			.src_reg = BPF_PSEUDO_MAP_VALUE,
			.imm = array_fd},
		{.imm = slot * (int)sizeof(struct slot)},
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6},
		{.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_1, .off = 2},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = PASS_WHOLE},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)program,
		.insn_cnt = sizeof program / sizeof *program,
		.license = (uintptr_t) "Apache-2.0",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

static int attach(int tun_fd, int array_fd, int slot)
{
	_close_ int program_fd = load_program(array_fd, slot);

	if (program_fd < 0)
		return program_fd;
	return ioctl(tun_fd, TUNSETFILTEREBPF, &program_fd) < 0 ? -errno : 0;
}

static int open_array(struct arrivals *a, const int *tun_fds)
{
	_close_ int array_fd = make_array();
	int r = 0;
	void *slots;

	if (array_fd < 0)
		return array_fd;
	slots = mmap(NULL, SITES_MAX * sizeof *a->slots, PROT_READ | PROT_WRITE, MAP_SHARED,
		array_fd, 0);
	if (slots == MAP_FAILED)
		return -errno;
	a->slots = slots;
	for (int i = 0; r == 0 && i < a->n; i++)
		r = attach(tun_fds[i], array_fd, i);
	return r;
}

struct arrivals *arrivals_new(const int *tun_fds, int n)
{
	struct arrivals *a = memory_zero(1, sizeof *a);

	a->n = n;
	a->error = open_array(a, tun_fds);
	return a;
}

struct arrivals *arrivals_free(struct arrivals *a)
{
	if (!a)
		return NULL;
	if (a->slots)
		munmap(a->slots, SITES_MAX * sizeof *a->slots);
	cleanup_free(&a);
	return NULL;
}

int arrivals_known(const struct arrivals *a)
{
	return a->error;
}

void arrivals_reset(struct arrivals *a)
{
	for (int i = 0; a->slots && i < a->n; i++)
		atomic_store(&a->slots[i].first_ns, 0);
}

int64_t arrivals_first_ns(const struct arrivals *a, int i)
{
	return a->slots ? atomic_load(&a->slots[i].first_ns) : 0;
}
