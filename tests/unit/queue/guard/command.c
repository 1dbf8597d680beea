/* The command of a job as its order makes it: arguments, environment, folder and files. */
#include "queue/guard/command.h"

#include <errno.h>

#include "queue/guard/strays.h"
#include "queue/job/wire.h"
#include "tap.h"

enum { ROOM = 1 << 16 };

static const char *joined(char **words, struct str *out)
{
    str_reset(out);
    for (; *words; words++)
        str_addf(out, "%s%s", out->len ? " | " : "", *words);
    return str_text(out);
}

/* An order, and what becomes of it: NULL for a file that is not asked for. */
static const struct {
    const char *order; /* fields, with ';' between them */
    bool watch;
    int task;
    const char *argv, *env, *out, *err;
    int umask;
    const char *team; /* that it was submitted with; NULL: none */
    int devices;
    const char *slots;
} cases[] = {
    { "arg=true;cwd=/w;umask=18", false, -1, "true", "BRIM_JOB=12 | BRIM_ATTEMPT=3 | MARK", NULL,
      NULL, 18 },
    { "arg=a;arg=b c;arg=;cwd=/w;env=X=1;env=Y=2", true, -1,
      "/proc/self/exe | run | --quiet | --name | mine | -- | a | b c | ",
      "X=1 | Y=2 | BRIM_JOB=12 | BRIM_ATTEMPT=3 | MARK", NULL, NULL, 022 },
    { "arg=a;cwd=/w;env=BRIM_ARRAY=7;env=BRIM_ARRAY_TASK=1;env=BRIM_JOB=9;env=BRIM_ATTEMPT=1;env=A",
      false, -1, "a", "BRIM_JOB=12 | BRIM_ATTEMPT=3 | A | MARK", NULL, NULL, 022 },
    { "arg=a;cwd=/w;env=BRIM_ARRAY=7;env=BRIM_JOB=9", false, 0, "a",
      "BRIM_JOB=12 | BRIM_ARRAY=10 | BRIM_ARRAY_TASK=0 | BRIM_ATTEMPT=3 | MARK", NULL, NULL, 022 },
    { "arg=a;cwd=/w;out=o;err=e;umask=63", false, 4, "a",
      "BRIM_JOB=12 | BRIM_ARRAY=10 | BRIM_ARRAY_TASK=4 | BRIM_ATTEMPT=3 | MARK", "o", "e", 63 },
    { "arg=a;cwd=/w;out=%j-%A-%a-%%-%x-%;err=%%j%J%", false, 4, "a",
      "BRIM_JOB=12 | BRIM_ARRAY=10 | BRIM_ARRAY_TASK=4 | BRIM_ATTEMPT=3 | MARK", "10_4-10-4-%-%x-%",
      "%j%J%", 022 },
    { "arg=a;cwd=/w;out=%j%A%a", false, -1, "a", "BRIM_JOB=12 | BRIM_ATTEMPT=3 | MARK", "12100",
      NULL, 022 },
    { "arg=a;cwd=/w;env=BRIM_TEAM=of the shell", false, -1, "a",
      "BRIM_TEAM=nlp | BRIM_JOB=12 | BRIM_ATTEMPT=3 | MARK", NULL, NULL, 022, "nlp" },
    { "arg=a;cwd=/w;env=BRIM_DEVICES=9", false, -1, "a",
      "BRIM_DEVICES=3 | BRIM_JOB=12 | BRIM_ATTEMPT=3 | MARK", NULL, NULL, 022, NULL, 4, "0,2,5" },
    { "arg=a;cwd=/w;env=BRIM_TEAM=of the shell", false, -1, "a",
      "BRIM_TEAM=of the shell | BRIM_JOB=12 | BRIM_ATTEMPT=3 | MARK", NULL, NULL, 022 },
};

static void make_order(const char *fields, struct str *order)
{
    for (const char *at = fields; *at; at += *at == ';') {
        size_t len = strcspn(at, ";");

        str_add_n(order, at, len);
        str_add_n(order, "", 1);
        at += len;
    }
}

static void test_orders(void)
{
    static const char *const give[] = { "CUDA_VISIBLE_DEVICES", "0,1", "CUDA_DEVICE_ORDER",
                                        "PCI_BUS_ID", NULL };
    char mark[STRAYS_MARK];

    strays_mark(mark, 12, getpid());
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        CLEANUP(str_done)
        struct str order = STR_INIT(ROOM), text = STR_INIT(ROOM), want = STR_INIT(ROOM);
        struct queue_job j = {
            .id = 12,
            .array = 10,
            .task = cases[i].task,
            .attempt = 3,
            .name = "mine",
            .devices = cases[i].devices,
        };
        const struct queue_guard g = {
            .job = &j, .cpus = "", .give = i % 2 ? give : give + 4, .watch = cases[i].watch
        };
        struct queue_command c;
        struct err e = { "" };

        snprintf(j.slots, sizeof(j.slots), "%s", cases[i].slots ? cases[i].slots : "");
        snprintf(j.team, sizeof(j.team), "%s", cases[i].team ? cases[i].team : "");
        make_order(cases[i].order, &order);
        is_int(queue_command_make(&c, &a, &g, &order, &e), 0, "order %zu makes a command: %s", i,
               e.text);
        is_str(joined(c.argv, &text), cases[i].argv, "order %zu has its arguments", i);
        str_add_n(&want, cases[i].env, strlen(cases[i].env) - 4);
        str_addf(&want, QUEUE_GUARD_VARIABLE "=%s", mark);
        if (i % 2)
            str_add(&want, " | CUDA_VISIBLE_DEVICES=0,1 | CUDA_DEVICE_ORDER=PCI_BUS_ID");
        is_str(joined(c.env, &text), str_text(&want), "order %zu has its environment", i);
        is_str(c.out, cases[i].out, "order %zu has its file", i);
        is_str(c.err, cases[i].err, "order %zu has its file of errors", i);
        is_int(c.umask, cases[i].umask, "order %zu has its mask", i);
        is_str(c.cwd, "/w", "order %zu has its folder", i);
    }
}

static void test_damaged(void)
{
    static const char *const orders[] = { "", "cwd=/w", "arg=a", "argument=a;cwd=/w" };
    static const char *const none[] = { NULL };

    for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        CLEANUP(str_done) struct str order = STR_INIT(ROOM);
        struct queue_job j = { .id = 1, .task = -1 };
        const struct queue_guard g = { .job = &j, .cpus = "", .give = none };
        struct queue_command c;
        struct err e = { "" };

        make_order(orders[i], &order);
        is_int(queue_command_make(&c, &a, &g, &order, &e), -EINVAL, "order '%s' makes no command",
               orders[i]);
        is_str(e.text, "its order is damaged", "order '%s' is told to be damaged", orders[i]);
    }
}

int main(void)
{
    test_orders();
    test_damaged();
    return done();
}
