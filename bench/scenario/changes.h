/* Changes of a link's direction over time, and the values that a change shares with the start. */
#pragma once

#include "bench/scenario/keys.h"

/* A time or bytes: *queue_ns > 0, or *queue_ns 0 and *bytes. */
int queue_parse(struct loader *l, const struct node *value, int64_t *queue_ns, int64_t *bytes);
void queue_print(struct printer *p, const char *name, int64_t queue_ns, int64_t bytes);
extern const struct key burst_keys[];
int burst_parse(struct loader *l, const struct node *value, struct link_state *state);
void burst_print(struct printer *p, const char *name, const struct link_state *state);

/* What a change makes of a state and its queue in time. */
void change_apply(const struct link_step *step, struct link_state *state, int64_t *queue_ns);

/* base is a struct link_direction. */
int changes_parse(struct loader *l, const struct node *value, void *base);
void changes_print(struct printer *p, const struct key *key, const void *base);
int outages_parse(struct loader *l, const struct node *value, void *base);
void outages_print(struct printer *p, const struct key *key, const void *base);
