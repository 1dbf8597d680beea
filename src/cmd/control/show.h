/* What brim control prints: a cycle, and the actions of its book. */
#ifndef BRIM_CMD_CONTROL_SHOW_H
#define BRIM_CMD_CONTROL_SHOW_H
#include "base/json.h"
#include "control/cycle.h"

/* "2 of 12 jobs keep 16 of 96 GPUs idle; 3 jobs wait for 24": a sentence, without a line's end. */
void show_sentence(const struct cycle_view *v, struct str *out);

/* The sentence, the jobs that hold devices, those that are idle first, and what was done. */
void show_cycle(const struct cycle *c, const struct cycle_view *v, int64_t now_ms, struct str *out);
void show_cycle_json(const struct cycle *c, const struct cycle_view *v, int64_t now_ms,
                     struct str *out);

/* One action as a line below show_action_head(), or as an object. */
void show_action_head(struct str *out);
void show_action(const struct control_row *row, struct str *out);
void show_action_json(const struct control_row *row, struct json *j);

#endif
