/* A site with something in each field. */
#ifndef BRIM_TESTS_MADE_SITE_H
#define BRIM_TESTS_MADE_SITE_H
#include "model/site/site.h"

static struct site_part made_parts[] = { { 0, 0xf0, 4 }, { 1, 0, 2 } };

static struct site_node made_nodes[] = {
    { .name = "n0",
      .address = "10.0.0.1",
      .state = SITE_NODE_OFF,
      .drained = true,
      .reason = "bad gpu",
      .reason_uid = 7,
      .cpus = 32,
      .memory_mib = INT64_C(1) << 40,
      .devices = 8,
      .kind = "h100",
      .features = "a,b",
      .path = "spine.leaf0",
      .partitions = 2 },
    { .name = "n1", .silent = true, .reserved = true },
};

static struct site_job made_jobs[] = {
    { .id = 7,
      .array = 5,
      .task = 2,
      .uid = 1000,
      .name = "a",
      .user = "b",
      .account = "c",
      .partition = "d",
      .qos = "e",
      .comment = "f",
      .note = "g",
      .kind = "h100",
      .state = SITE_RUNNING,
      .outcome = SITE_LOST,
      .requeue = true,
      .batch = true,
      .exclusive = true,
      .submit_ms = 1,
      .start_ms = 2,
      .end_ms = 3,
      .limit_ms = 4,
      .priority = 0xfffffff0,
      .restarts = 3,
      .nodes = 2,
      .nodes_most = 2,
      .cpus = 64,
      .memory_mib = 1000,
      .devices = 6,
      .devices_per_node = 3,
      .parts = made_parts,
      .n_parts = 2 },
    { .id = 9,
      .task = SITE_NO_TASK,
      .name = "",
      .user = "",
      .account = "",
      .partition = "",
      .qos = "",
      .why = "Resources",
      .after = "afterok:7(unfulfilled)",
      .tasks = "4-9%2",
      .wanted = "n0",
      .avoided = "n1",
      .features = "x",
      .held = true,
      .depends = true,
      .pending_tasks = true },
};

static inline struct site made_site(void)
{
    return (struct site){ .cluster = "made",
                          .time_ms = 123456789,
                          .partitions = { "batch", "low" },
                          .n_partitions = 2,
                          .nodes = made_nodes,
                          .n_nodes = 2,
                          .jobs = made_jobs,
                          .n_jobs = 2 };
}

#endif
