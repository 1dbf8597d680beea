/* A group of jobs in JSON, for all that print groups. */
#include "cmd/sim/show.h"

void sim_show_group_json(struct json *j, const char *key, const struct sim_group *g)
{
    json_object(j, key);
    json_string(j, "name", g->name);
    json_int(j, "jobs", (int64_t)g->jobs);
    json_round(j, "completion_s", g->completion, 3);
    json_round(j, "completion_p50_s", g->completion_p50, 3);
    json_round(j, "completion_p90_s", g->completion_p90, 3);
    json_round(j, "completion_p99_s", g->completion_p99, 3);
    json_round(j, "wait_s", g->wait, 3);
    json_round(j, "wait_p50_s", g->wait_p50, 3);
    json_round(j, "wait_p90_s", g->wait_p90, 3);
    json_round(j, "wait_p99_s", g->wait_p99, 3);
    json_round(j, "wait_max_s", g->wait_max, 3);
    json_round(j, "slowdown", g->slowdown, 4);
    json_round(j, "device_hours", g->device_hours, 3);
    sim_show_due_json(g, j);
    json_end(j);
}
