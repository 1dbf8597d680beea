/* What brim submit is asked for as an order to Slurm, and what Slurm cannot carry out. */
#include "cmd/queue/slurm_options.h"

#include <signal.h>

#include "base/clock.h"
#include "tap.h"

static const struct slurm_shell user = { .name = "train", .folder = "/w", .team = "t" },
                                root = { .name = "train", .folder = "/w", .root = true };
#define PLAIN .grace_ns = -1, .deadline_ns = -1

static void test_refused(void)
{
    static const struct {
        struct submit_opts o;
        const char *option, *why;
    } rows[] = {
        { { PLAIN, .least = 1 }, "--min-devices", "as many devices as it asked for" },
        { { PLAIN, .share = true }, "--share", "shards" },
        { { .grace_ns = -1, .deadline_ns = 0 }, "--deadline", "know nothing of deadlines" },
        { { .grace_ns = 0, .deadline_ns = -1 }, "--grace", "GraceTime" },
        { { PLAIN, .signal = "USR1" }, "--checkpoint-signal", "with --warn" },
        { { PLAIN, .warn_ns = 65535 * NS_PER_S + 1 }, "--warn", "65535 s" },
        { { PLAIN, .priority = 1 }, "--priority", "operators" },
        { { PLAIN, .output = "a\\b" }, "--output", "backslash" },
        { { PLAIN, .error = "a\\b" }, "--error", "backslash" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct arena a = ARENA_INIT;
        struct slurm_order order;
        struct err e = { "" };
        char begin[64];
        int n = snprintf(begin, sizeof(begin), "--engine slurm: %s: ", rows[i].option);

        is_int(slurm_options(&order, &rows[i].o, &user, &a, &e), ERR_USAGE, "%s is refused",
               rows[i].option);
        ok(!strncmp(e.text, begin, (size_t)n) && strstr(e.text, rows[i].why),
           "the error names option and reason: %s", e.text);
        arena_done(&a);
    }
}

static void test_taken(void)
{
    const struct submit_opts o = { PLAIN,
                                   .hold = true,
                                   .requeue = true,
                                   .wait = true,
                                   .watch = true,
                                   .name = "n",
                                   .class = "c",
                                   .after = "afterok:7:8,afterany:9",
                                   .array = "0-3",
                                   .output = "o",
                                   .error = "e",
                                   .signal = "USR1",
                                   .devices = 2,
                                   .cpus = 4,
                                   .priority = -3,
                                   .limit_ns = 90 * NS_PER_S + 1,
                                   .warn_ns = 5 * NS_PER_S };
    struct arena a = ARENA_INIT;
    struct slurm_order got;

    is_int(slurm_options(&got, &o, &user, &a, NULL), 0, "an order is made");
    ok(got.hold && got.requeue && got.wait && got.watch && !got.test, "an order has the flags");
    is_str(got.name, "n", "an order has a name");
    is_str(got.folder, "/w", "an order has a folder");
    is_str(got.account, "t", "the team of the shell is the account");
    is_str(got.qos, "c", "a class is a QOS");
    is_str(got.after, "afterok:7,afterok:8,afterany:9", "an order waits for other jobs");
    is_str(got.array, "0-3", "an order has an array");
    is_int(got.devices, 2, "an order has its devices");
    is_int(got.cpus, 4, "an order has its CPUs");
    is_int(got.limit_s, 91, "a limit in whole seconds, not less");
    is_int(got.warn_s, 5, "a warning before the limit");
    is_int(got.signal, SIGUSR1, "a warning has its signal");
    is_int(got.nice, 3000, "others go first by a priority below 0");
    arena_done(&a);
}

static void test_edges(void)
{
    struct submit_opts o = { PLAIN, .priority = 1, .signal = "TERM", .dry = true, .wait = true };
    struct arena a = ARENA_INIT;
    struct slurm_order got;
    struct err e = { "" };

    is_int(slurm_options(&got, &o, &root, &a, NULL), 0, "root puts jobs before others");
    is_int(got.nice, -1000, "a priority above 0 goes as far the other way");
    ok(got.test && !got.wait, "nobody waits for a job that is not submitted");
    is_str(got.name, "train", "a job is called as its command");
    is_str(got.account, NULL, "without a team it has no account of its own");
    o.team = "mine";
    o.warn_ns = 65535 * NS_PER_S;
    is_int(slurm_options(&got, &o, &root, &a, NULL), 0, "the longest time before the limit");
    is_str(got.account, "mine", "a team that is named is its account");
    o.after = "afterok:x";
    is_int(slurm_options(&got, &o, &root, &a, &e), ERR_USAGE, "a job that is none");
    arena_done(&a);
}

int main(void)
{
    test_refused();
    test_taken();
    test_edges();
    return done();
}
