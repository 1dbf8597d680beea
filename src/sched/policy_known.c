/* The policies that the program knows by name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "sched/policy/policy.h"

struct known {
    const char *name, *about, *text;
};

/* The sources of those that repeat a published simulator are in docs/sim/checked.md; tiresias lets
 * a job fall when it has had more than 18,000 s. */
static const struct known known[] = {
    { "fifo", "in the order of submission; nobody overtakes", "order = fifo\n" },
    { "sjf", "the shortest first, with true lengths; nobody overtakes",
      "order = sjf\nlength = oracle\n" },
    { "greedy", "in the order of submission; whatever fits starts",
      "order = fifo\nbackfill = greedy\n" },
    { "priority", "by priority, which may stop lower ones; whatever fits starts",
      "order = fifo\npriorities = yes\npreempt = victims\n" },
    { "queue", "by priority, with EASY backfill by the limits that users asked for",
      "order = fifo\npriorities = yes\nbackfill = easy\nlength = limit\n" },
    { "easy", "in the order of submission, with EASY backfill by true lengths",
      "order = fifo\nbackfill = easy\nlength = oracle\n" },
    { "easy-limit", "the same by the limits that users asked for",
      "order = fifo\nbackfill = easy\nlength = limit\n" },
    { "conservative", "conservative backfill by true lengths",
      "order = fifo\nbackfill = conservative\nlength = oracle\n" },
    { "slurm", "what Slurm does unless it is told more: none that goes first is delayed, by limits",
      "order = fifo\nbackfill = conservative\nlength = limit\nplace = consolidate\n" },
    { "fair", "the user first who has had the least in the last days; whatever fits starts",
      "order = fair\nbackfill = greedy\nhalf-life = 7d\n" },
    { "srtf", "the least time left first, with true lengths; preempts",
      "order = srtf\npreempt = quota\nlength = oracle\nties = waiting\nevery = 1s\nnotice = 1s\n"
      "restart = 40s\nrestart-multi = 60s\nrestart-adds = yes\n" },
    { "srtf-history", "the least time left first, by what jobs took that were like it; preempts",
      "order = srtf\npreempt = victims\nlength = history\nrestart = 40s\nrestart-multi = 60s\n" },
    { "tiresias", "two queues by the device time that jobs have had; preempts each minute",
      "order = las\nqueues = 18000001ms\npreempt = quota\nties = running\nevery = 60s\nnotice = "
      "1s\n"
      "restart = 40s\nrestart-multi = 60s\nrestart-adds = yes\n" },
    { "las",
      "four queues by the device time that jobs have had; preempts by need, knows no lengths",
      "order = las\nqueues = 1h 10h 100h\npreempt = victims\nrestart = 40s\n"
      "restart-multi = 60s\n" },
    { "deadline", "the earliest deadline first; preempts by need, knows no lengths",
      "order = deadline\npreempt = victims\nrestart = 40s\nrestart-multi = 60s\n" },
    { "topology", "whatever fits starts, on the fewest NVLink domains, racks and leaves",
      "order = fifo\nbackfill = greedy\nplace = topology\n" },
    { "best-fit", "whatever fits starts, on the node that has the least left over",
      "order = fifo\nbackfill = greedy\nplace = best-fit\n" },
    { "fgd", "whatever fits starts, on the node whose fragments grow least",
      "order = fifo\nbackfill = greedy\nplace = fgd\n" },
    { "balance", "the same, and devices are kept where there are CPUs for them",
      "order = fifo\nbackfill = greedy\nplace = balance\n" },
    { "interleave", "up to four jobs share devices by turns: those that let the most end soon",
      "order = srsf\npreempt = rebuild\nlength = oracle\ninterleave = 4\n" },
    { "interleave-steps",
      "the same where jobs declare their steps; the first of a kind runs alone for a minute",
      "order = srsf\npreempt = rebuild\nlength = steps\ninterleave = 4\n" },
    { "interleave-las", "the same without true lengths: who ran for long is expected to run on",
      "order = las\nqueues = 6h\npreempt = rebuild\ninterleave = 4\n" },
    { "srsf", "the least device time left first, with true lengths; preempts by need each minute",
      "order = srsf\npreempt = victims\nlength = oracle\nevery = 60s\nrestart = 40s\n"
      "restart-multi = 60s\n" },
    { "srsf-steps", "the same where jobs declare their steps; each runs first until one is seen",
      "order = srsf\npreempt = victims\nlength = steps\nevery = 60s\nrestart = 40s\n"
      "restart-multi = 60s\n" },
    { "rebuild-srtf", "the least time left first; each pass places all anew",
      "order = srtf\nplace = first\npreempt = rebuild\nlength = oracle\nties = list\n"
      "restart = 10s\nrestart-each-pass = yes\n" },
    { "rebuild-srsf", "the least device time left first; each pass places all anew",
      "order = srsf\nplace = first\npreempt = rebuild\nlength = oracle\nties = list\n"
      "restart = 10s\nrestart-each-pass = yes\n" },
    { "rebuild-tiresias", "three queues by device time; each pass restarts all",
      "order = las\nqueues = 3250s 7200s\nplace = scatter\npreempt = quota\nties = list\n"
      "restart = 10s\nrestart-each-pass = yes\n" },
};

const char *policy_name_at(size_t i)
{
    return i < ARRAY_SIZE(known) ? known[i].name : NULL;
}

const char *policy_about(size_t i)
{
    return known[i].about;
}

static const char *name_at(const void *ctx, size_t i)
{
    (void)ctx;
    return policy_name_at(i);
}

int policy_named(struct policy *ret, const char *name, struct err *e)
{
    char text[512];

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!strcmp(known[i].name, name)) {
            snprintf(text, sizeof(text), "[policy]\nname = %s\n%s", name, known[i].text);
            return policy_read(ret, name, text, strlen(text), e);
        }
    name = opt_nearest(name, ARRAY_SIZE(known), name_at, NULL);
    return err_set(e, -ENOENT, "no such policy%s%s%s: brim sim --policies lists them",
                   name ? " (did you mean " : "", name ? name : "", name ? "?)" : "");
}
