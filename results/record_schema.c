/*
 * The schema "narrowlink/run/1": docs/results.md in tables. A key that later versions add is
 * not `required`, so that runs of today stay readable.
 */
#include "results/record_schema.h"

#include "results/record.h"

/* clang-format off */
#define END {.key = NULL}
#define VALUE(type, k, name, member) \
	{.key = name, .kind = k, .at = offsetof(struct type, member)}
#define MUST(type, k, name, member) \
	{.key = name, .kind = k, .at = offsetof(struct type, member), .required = true}
#define WORD(type, name, member, list) \
	{.key = name, .kind = FIELD_TEXT, .at = offsetof(struct type, member), .required = true, \
	 .words = list}
#define GROUP(name, table, must) \
	{.key = name, .kind = FIELD_GROUP, .fields = table, .required = must}
#define MANY(type, k, name, list, count, most, must) \
	{.key = name, .kind = k, .at = offsetof(struct type, list), \
	 .count_at = offsetof(struct type, count), .limit = most, .required = must}
#define LIST(type, name, list, count, element, table, most, must) \
	{.key = name, .kind = FIELD_LIST, .at = offsetof(struct type, list), \
	 .count_at = offsetof(struct type, count), .size = sizeof(struct element), \
	 .fields = table, .limit = most, .required = must}

static const char *const verdicts[] = {"holds", "fails", "invalid", "partial", "none", NULL};
static const char *const directions[] = {"up", "down", NULL};
static const char *const results[] = {"holds", "off", "unmeasured", NULL};
static const char *const operators[] = {">=", "<=", ">", "<", NULL};

static const struct field steps_schema[] = {
	MUST(record_participant, FIELD_NUMBER, "useful", steps_useful),
	MUST(record_participant, FIELD_NUMBER, "lost", steps_lost),
	VALUE(record_participant, FIELD_NUMBER, "pending", steps_pending),
	END,
};

const struct field record_participant_schema[] = {
	MUST(record_participant, FIELD_TEXT, "name", name),
	MUST(record_participant, FIELD_TEXT, "role", role),
	VALUE(record_participant, FIELD_TEXT, "site", site),
	VALUE(record_participant, FIELD_NUMBER, "wall_s", wall_s),
	MUST(record_participant, FIELD_STATES, "ledger_s", ledger_s),
	GROUP("steps", steps_schema, true),
	END,
};

static const struct field drops_schema[] = {
	MUST(record_wire, FIELD_NUMBER, "queue", drop_queue),
	MUST(record_wire, FIELD_NUMBER, "random", drop_random),
	VALUE(record_wire, FIELD_NUMBER, "burst", drop_burst),
	MUST(record_wire, FIELD_NUMBER, "outage", drop_outage),
	END,
};

static const struct field lateness_schema[] = {
	VALUE(record_wire, FIELD_NUMBER, "p50", lateness_p50_s),
	VALUE(record_wire, FIELD_NUMBER, "p99", lateness_p99_s),
	VALUE(record_wire, FIELD_NUMBER, "max", lateness_max_s),
	END,
};

const struct field record_wire_schema[] = {
	MUST(record_wire, FIELD_TEXT, "site", site),
	WORD(record_wire, "direction", direction, directions),
	MUST(record_wire, FIELD_NUMBER, "bytes", bytes),
	MUST(record_wire, FIELD_NUMBER, "mean_bps", mean_bps),
	MUST(record_wire, FIELD_NUMBER, "peak_1s_bps", peak_1s_bps),
	MUST(record_wire, FIELD_NUMBER, "limit_bps", limit_bps),
	VALUE(record_wire, FIELD_NUMBER, "packets", packets),
	VALUE(record_wire, FIELD_NUMBER, "segments", segments),
	VALUE(record_wire, FIELD_NUMBER, "queue_high_bytes", queue_high_bytes),
	GROUP("drops", drops_schema, true),
	GROUP("lateness_s", lateness_schema, false),
	END,
};

const struct field record_fault_schema[] = {
	MUST(record_fault, FIELD_TEXT, "kind", kind),
	MUST(record_fault, FIELD_TEXT, "target", target),
	MUST(record_fault, FIELD_NUMBER, "at_s", at_s),
	MUST(record_fault, FIELD_NUMBER, "for_s", for_s),
	VALUE(record_fault, FIELD_FLAG, "happened", happened),
	END,
};

const struct field record_expect_schema[] = {
	MUST(record_expect, FIELD_TEXT, "metric", metric),
	WORD(record_expect, "op", op, operators),
	MUST(record_expect, FIELD_NUMBER, "want", want),
	MUST(record_expect, FIELD_NUMBER, "got", got),
	MUST(record_expect, FIELD_FLAG, "holds", holds),
	END,
};

static const struct field assumption_schema[] = {
	MUST(record_assumption, FIELD_TEXT, "symbol", symbol),
	MUST(record_assumption, FIELD_TEXT, "meaning", meaning),
	MUST(record_assumption, FIELD_TEXT, "value", value),
	END,
};

static const struct field needed_schema[] = {
	MUST(record_needed, FIELD_NUMBER, "utilisation", utilisation),
	MUST(record_needed, FIELD_NUMBER, "bps", bps),
	MUST(record_needed, FIELD_NUMBER, "step_s", step_s),
	END,
};

static const struct field valid_schema[] = {
	MUST(record_case, FIELD_FLAG, "ok", valid),
	MANY(record_case, FIELD_TEXTS, "reasons", reasons, n_reasons, 1000, true),
	END,
};

static const struct field exchange_schema[] = {
	MUST(record_case, FIELD_NUMBER, "n", exchange_n),
	MUST(record_case, FIELD_NUMBER, "p50", exchange_p50_s),
	MUST(record_case, FIELD_NUMBER, "p90", exchange_p90_s),
	MUST(record_case, FIELD_NUMBER, "p99", exchange_p99_s),
	MUST(record_case, FIELD_NUMBER, "max", exchange_max_s),
	MUST(record_case, FIELD_NUMBER, "predicted", exchange_predicted_s),
	MANY(record_case, FIELD_NUMBERS, "values", exchange_s, n_exchanges, 4000000, false),
	END,
};

static const struct field payload_schema[] = {
	VALUE(record_case, FIELD_NUMBER, "sent", payload_sent_bytes),
	VALUE(record_case, FIELD_NUMBER, "expected", payload_expected_bytes),
	VALUE(record_case, FIELD_NUMBER, "framing", framing_bytes),
	END,
};

const struct field record_check_schema[] = {
	MUST(record_check, FIELD_TEXT, "from", from),
	MUST(record_check, FIELD_TEXT, "to", to),
	MUST(record_check, FIELD_TEXT, "check", check),
	WORD(record_check, "result", result, results),
	MUST(record_check, FIELD_TEXT, "why", why),
	VALUE(record_check, FIELD_NUMBER, "asked", want),
	VALUE(record_check, FIELD_NUMBER, "measured", got),
	VALUE(record_check, FIELD_NUMBER, "low", low),
	VALUE(record_check, FIELD_NUMBER, "high", high),
	VALUE(record_check, FIELD_NUMBER, "min", min),
	VALUE(record_check, FIELD_NUMBER, "p99", p99),
	VALUE(record_check, FIELD_NUMBER, "n", n),
	END,
};

const struct field record_capture_schema[] = {
	MUST(record_capture, FIELD_TEXT, "site", site),
	WORD(record_capture, "direction", direction, directions),
	VALUE(record_capture, FIELD_NUMBER, "bytes", bytes),
	VALUE(record_capture, FIELD_NUMBER, "relay_bytes", relay_bytes),
	VALUE(record_capture, FIELD_NUMBER, "packets", packets),
	VALUE(record_capture, FIELD_NUMBER, "kept_packets", kept_packets),
	VALUE(record_capture, FIELD_NUMBER, "kernel_drops", kernel_drops),
	VALUE(record_capture, FIELD_FLAG, "complete", complete),
	END,
};

static const struct field fidelity_schema[] = {
	VALUE(record_case, FIELD_NUMBER, "idle_rtt_s", idle_rtt_s),
	VALUE(record_case, FIELD_NUMBER, "idle_rtt_expected_s", idle_rtt_expected_s),
	VALUE(record_case, FIELD_NUMBER, "lateness_p99_s", lateness_p99_s),
	VALUE(record_case, FIELD_NUMBER, "relay_cpu", relay_cpu),
	VALUE(record_case, FIELD_NUMBER, "prune_called", prune_called),
	VALUE(record_case, FIELD_NUMBER, "retransmits", retransmits),
	VALUE(record_case, FIELD_NUMBER, "agents_cpu", agents_cpu),
	VALUE(record_case, FIELD_NUMBER, "softirq_cpu", softirq),
	VALUE(record_case, FIELD_NUMBER, "saturated", saturated),
	VALUE(record_case, FIELD_NUMBER, "waited", waited),
	VALUE(record_case, FIELD_NUMBER, "window_limited", window_limited),
	VALUE(record_case, FIELD_NUMBER, "buffer_limited", buffer_limited),
	VALUE(record_case, FIELD_TEXT, "calibration", calibration),
	LIST(record_case, "checks", checks, n_checks, record_check, record_check_schema, 10000,
		false),
	LIST(record_case, "capture", captures, n_captures, record_capture, record_capture_schema,
		1000, false),
	END,
};

#define SPREAD(member) \
	MUST(record_fleet, FIELD_NUMBER, "mean", member.mean), \
	MUST(record_fleet, FIELD_NUMBER, "ci95", member.ci95), \
	MUST(record_fleet, FIELD_NUMBER, "p5", member.p5), \
	MUST(record_fleet, FIELD_NUMBER, "p50", member.p50), \
	MUST(record_fleet, FIELD_NUMBER, "p95", member.p95), \
	VALUE(record_fleet, FIELD_NUMBER, "predicted", member##_predicted), \
	MANY(record_fleet, FIELD_NUMBERS, "values", member.values, member.n, 100000, true), \
	END

static const struct field goodput_schema[] = {SPREAD(goodput)};
static const struct field uptime_schema[] = {SPREAD(uptime)};

static const struct field shares_schema[] = {
	MUST(record_fleet, FIELD_NUMBER, "useful", shares.useful),
	MUST(record_fleet, FIELD_NUMBER, "lost", shares.lost),
	MUST(record_fleet, FIELD_NUMBER, "waiting", shares.waiting),
	MUST(record_fleet, FIELD_NUMBER, "checkpoint", shares.checkpoint),
	MUST(record_fleet, FIELD_NUMBER, "reconfigure", shares.reconfigure),
	MUST(record_fleet, FIELD_NUMBER, "repair", shares.repair),
	END,
};

const struct field record_fleet_schema[] = {
	MUST(record_fleet, FIELD_NUMBER, "chips", chips),
	MUST(record_fleet, FIELD_NUMBER, "learners", learners),
	MUST(record_fleet, FIELD_NUMBER, "quorum", quorum),
	MUST(record_fleet, FIELD_FLAG, "elastic", elastic),
	GROUP("goodput", goodput_schema, true),
	GROUP("uptime", uptime_schema, true),
	GROUP("shares", shares_schema, true),
	MUST(record_fleet, FIELD_NUMBER, "interruptions", interruptions),
	END,
};

const struct field record_case_schema[] = {
	MUST(record_case, FIELD_TEXT, "name", name),
	MANY(record_case, FIELD_MAP, "set", set, n_set, 1000, true),
	VALUE(record_case, FIELD_TEXT, "strategy", strategy),
	WORD(record_case, "verdict", verdict, verdicts),
	VALUE(record_case, FIELD_TEXT, "because", because),
	GROUP("valid", valid_schema, true),
	VALUE(record_case, FIELD_FLAG, "partial", partial),
	MANY(record_case, FIELD_TEXTS, "notes", notes, n_notes, 1000, false),
	MUST(record_case, FIELD_NUMBER, "wall_s", wall_s),
	MUST(record_case, FIELD_NUMBER, "useful_work", useful_work),
	MUST(record_case, FIELD_NUMBER, "compute_utilisation", compute_utilisation),
	MUST(record_case, FIELD_NUMBER, "availability", availability),
	VALUE(record_case, FIELD_NUMBER, "participation", participation),
	VALUE(record_case, FIELD_NUMBER, "predicted_utilisation", predicted_utilisation),
	LIST(record_case, "assumptions", assumptions, n_assumptions, record_assumption,
		assumption_schema, 1000, false),
	LIST(record_case, "needed", needed, n_needed, record_needed, needed_schema, 1000, false),
	LIST(record_case, "participants", participants, n_participants, record_participant,
		record_participant_schema, 100000, true),
	GROUP("exchange_s", exchange_schema, true),
	GROUP("payload_bytes", payload_schema, false),
	LIST(record_case, "wire", wire, n_wire, record_wire, record_wire_schema, 100000, true),
	GROUP("fidelity", fidelity_schema, true),
	LIST(record_case, "faults", faults, n_faults, record_fault, record_fault_schema,
		1000000, true),
	LIST(record_case, "expect", expect, n_expect, record_expect, record_expect_schema,
		1000, true),
	{.key = "fleet", .kind = FIELD_OPTION, .at = offsetof(struct record_case, fleet),
	 .size = sizeof(struct record_fleet), .fields = record_fleet_schema},
	END,
};

static const struct field tool_schema[] = {
	MUST(record, FIELD_TEXT, "version", tool_version),
	VALUE(record, FIELD_TEXT, "git", tool_git),
	END,
};

static const struct field host_schema[] = {
	VALUE(record, FIELD_TEXT, "kernel", kernel),
	VALUE(record, FIELD_TEXT, "machine", machine),
	VALUE(record, FIELD_INT, "cpus", cpus),
	VALUE(record, FIELD_INT, "hz", hz),
	END,
};

const struct field record_schema[] = {
	GROUP("tool", tool_schema, true),
	GROUP("host", host_schema, true),
	VALUE(record, FIELD_TEXT, "started_utc", started_utc),
	MANY(record, FIELD_TEXTS, "argv", argv, argc, 10000, true),
	MUST(record, FIELD_SEED, "seed", seed),
	MUST(record, FIELD_TEXT, "engine", engine),
	MUST(record, FIELD_NUMBER, "dilation", dilation),
	VALUE(record, FIELD_TEXT, "title", title),
	VALUE(record, FIELD_TEXT, "scenario_path", scenario_path),
	MUST(record, FIELD_TEXT, "scenario", resolved),
	{.key = "cases", .kind = FIELD_POINTERS, .at = offsetof(struct record, cases),
	 .count_at = offsetof(struct record, n_cases), .size = sizeof(struct record_case),
	 .fields = record_case_schema, .limit = 10000, .required = true},
	END,
};
/* clang-format on */
