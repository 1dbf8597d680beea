/* A job as sbatch takes it: what is asked for as options, and a command that stays what it is. */
#include "slurm/user/order.h"

#include "oom_arena.h"
#include "tap.h"

#define T(text) ((char[]){ text })

static char joined[4096];

static char *const train[] = { T("train"), NULL };

/* The options of sbatch behind those that all jobs have, up to the script. */
static const char *options(const struct slurm_order *o)
{
    struct arena a = ARENA_INIT;
    const char *const *argv = slurm_order_argv(o, train, &a);
    size_t len = 0;

    joined[0] = 0;
    for (size_t i = 6; argv && argv[i]; i++)
        len += (size_t)snprintf(joined + len, sizeof(joined) - len, "%s%s", i > 6 ? " " : "",
                                argv[i]);
    arena_done(&a);
    return joined;
}

#define HEAD "--job-name=n --chdir=/w "
#define TAIL "/proc/self/fd/3 train"

static void test_options(void)
{
    static const struct {
        struct slurm_order o;
        const char *want, *what;
    } rows[] = {
        { { .nice = 0 }, "--no-requeue " HEAD TAIL, "nothing" },
        { { .devices = 2, .cpus = 8 },
          "--no-requeue " HEAD "--gres=gpu:2 --cpus-per-task=8 " TAIL,
          "devices and CPUs" },
        { { .limit_s = 60 }, "--no-requeue " HEAD "--time=1 " TAIL, "a limit of a minute" },
        { { .limit_s = 61 }, "--no-requeue " HEAD "--time=2 " TAIL, "one a second longer" },
        { { .limit_s = 600, .warn_s = 90, .signal = 10 },
          "--no-requeue " HEAD "--time=10 --signal=B:10@90 " TAIL,
          "a signal before it" },
        { { .requeue = true, .hold = true },
          "--requeue " HEAD "--hold " TAIL,
          "that it is held and may be requeued" },
        { { .nice = -1000 }, "--no-requeue " HEAD "--nice=-1000 " TAIL, "a priority" },
        { { .account = "a", .qos = "q" },
          "--no-requeue " HEAD "--account=a --qos=q " TAIL,
          "whose share it counts in" },
        { { .array = "0-9%2", .output = "o-%j" },
          "--no-requeue " HEAD "--array=0-9%2 --output=./o-%A_%a " TAIL,
          "an array" },
        { { .after = "afterok:7" },
          "--no-requeue " HEAD "--dependency=afterok:7 --kill-on-invalid-dep=yes " TAIL,
          "what it waits for" },
        { { .wait = true }, "--no-requeue " HEAD "--wait " TAIL, "to wait" },
        { { .test = true }, "--no-requeue " HEAD "--test-only " TAIL, "only to be told" },
        { { .watch = true, .cpus = 3 },
          "--no-requeue " HEAD "--cpus-per-task=3 /proc/self/fd/3 srun --brim --cpus-per-task=3 -- "
          "train",
          "to be watched" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct slurm_order o = rows[i].o;

        o.name = "n";
        o.folder = "/w";
        is_str(options(&o), rows[i].want, "a job asks for %s", rows[i].what);
    }
}

static void test_files(void)
{
    static const struct {
        const char *name, *single, *array;
    } rows[] = {
        { "/a/b", "/a/b", "/a/b" },        { "none", "./none", "./none" },
        { "%j", "./%j", "./%A_%a" },       { "%A-%a", "./%j-0", "./%A-%a" },
        { "100%%", "./100%%", "./100%%" }, { "%N%u", "./%%N%%u", "./%%N%%u" },
        { "/x%", "/x%%", "/x%%" },         { "%%j", "./%%j", "./%%j" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct slurm_order o = { .name = "n", .folder = "/w", .error = rows[i].name };
        char want[64];

        snprintf(want, sizeof(want), "--error=%s ", rows[i].single);
        ok(strstr(options(&o), want), "%s of one job is %s", rows[i].name, rows[i].single);
        o.array = "1";
        snprintf(want, sizeof(want), "--error=%s ", rows[i].array);
        ok(strstr(options(&o), want), "%s of an array is %s", rows[i].name, rows[i].array);
    }
}

/* What no shell, and no reader of options, is to make anything of. */
static char *const hostile[] = {
    T("a b"),      T(""),      T("q'uo\"te"),         T("x\n#SBATCH --uid=0\ny"),
    T("cr\r\nlf"), T("%j %A"), T("$HOME `id` $(id)"), T("-x"),
    T("--"),       T("*"),     T("\xff\xfe"),         T("\\"),
    T("A=b"),      T(";true"), T("--job-name"),       T("\x1b"),
    NULL
};

static void test_command(void)
{
    struct slurm_order o = { .name = "a\n#SBATCH --hold", .folder = "/w x" };
    struct arena a = ARENA_INIT;
    const char *const *argv = slurm_order_argv(&o, hostile, &a);
    size_t n = 0, same = 0, script = 0;

    while (argv[n]) {
        script = strcmp(argv[n], "/proc/self/fd/3") ? script : n;
        n++;
    }
    for (size_t i = 0; i < ARRAY_SIZE(hostile) - 1; i++)
        same += argv[script + 1 + i] == hostile[i];
    is_int((long long)same, ARRAY_SIZE(hostile) - 1, "each argument stays what it is");
    is_int((long long)(n - script), ARRAY_SIZE(hostile), "none is added");
    is_str(argv[7], "--job-name=a\n#SBATCH --hold", "a name stays what it is");
    is_str(argv[8], "--chdir=/w x", "a folder stays what it is");
    ok(!strstr(slurm_order_script, "#SBATCH") && !strncmp(slurm_order_script, "#!/bin/sh\n", 10),
       "the script has no options");
    arena_done(&a);
}

static char *const shell[] = {
    T("PATH=/bin"),     T("SLURM_ARRAY_TASK_ID=3"), T("SLURM_RESTART_COUNT=1"), T("BRIM_JOB=7"),
    T("BRIM_JOBS=x"),   T("BRIM_ARRAY_TASK=2"),     T("BRIM_GUARD=g"),          T("BRIM_DEVICES=9"),
    T("SLURM_CONF=/c"), T("ODD\nNAME=a=b"),         T("BRIM_TEAM=old"),         NULL
};

static void test_env(void)
{
    struct slurm_order o = { .devices = 2, .account = "team" };
    struct arena a = ARENA_INIT;
    char *const *got = slurm_order_env(&o, shell, &a);

    is_str(got[0], "PATH=/bin", "the environment is kept");
    is_str(got[1], "BRIM_JOBS=x", "what tells of another job is not");
    is_str(got[2], "SLURM_CONF=/c", "Slurm is found where it was");
    is_str(got[3], "ODD\nNAME=a=b", "a variable stays what it is");
    is_str(got[4], "BRIM_DEVICES=2", "a variable tells how many devices the job has");
    is_str(got[5], "BRIM_TEAM=team", "a variable tells whose share the job counts in");
    is_str(got[6], NULL, "no other variable is added");
    o = (struct slurm_order){ .devices = 0 };
    got = slurm_order_env(&o, shell, &a);
    is_str(got[4], NULL, "a job without devices has no variable for them");
    arena_done(&a);
}

static const char *words(const char *said, bool errors)
{
    CLEANUP(str_done) struct str out = STR_INIT(1000);

    slurm_order_words(said, errors, &out);
    snprintf(joined, sizeof(joined), "%s", str_text(&out));
    return joined;
}

static const char *forecast(const char *said)
{
    CLEANUP(str_done) struct str out = STR_INIT(1000);

    slurm_order_forecast(said, INT64_C(1795770860) * 1000, &out); /* November 2026 */
    snprintf(joined, sizeof(joined), "%s", str_text(&out));
    return joined;
}

static void test_said(void)
{
    is_str(words("sbatch: error: a\nsbatch: b\n", false), "a; b", "what sbatch says is one line");
    is_str(words("scancel: Terminating job 7\nscancel: error: denied\r\n", true), "denied",
           "of scancel errors alone");
    is_str(words("", false), "", "nothing is nothing");
    is_str(forecast("sbatch: Job 3 to start at 2026-11-27T09:03:53 using 1 processors on nodes "
                    "n[0-1] in partition batch\n"),
           "would start at 2026-11-27T09:03:53, on n[0-1] (partition batch)",
           "a forecast with time and nodes");
    is_str(forecast("sbatch: Job 3 to start at 2028-01-01T00:00:00 using 1 processors on nodes n0 "
                    "in partition batch\n"),
           "would wait: Slurm does not know for how long, as when jobs that run have no limit",
           "a forecast that means never");
    ok(strstr(forecast("sbatch: Job 3 to start at 2027-12-31T00:00:00 using 1 processors on nodes "
                       "n0 in partition batch\n"),
              "would start at 2027-12-31"),
       "the end of next year is no such forecast");
    is_str(forecast("sbatch: Job 3 starts soon\n"), "Job 3 starts soon", "one in other words");
    is_str(forecast("to start at on nodes "), "to start at on nodes ", "one that is broken off");
}

static char *const least[] = { T("A=b"), NULL };

static void test_no_memory(void)
{
    struct slurm_order o = { .name = "n",
                             .folder = "/w",
                             .devices = 1,
                             .account = "a",
                             .output = "o%j",
                             .limit_s = 5,
                             .warn_s = 1,
                             .nice = 3,
                             .cpus = 2 };
    bool failed;

    do {
        struct arena a = ARENA_INIT;
        bool made;

        oom_next();
        made = slurm_order_argv(&o, hostile, &a);
        failed = oom_end();
        ok(made == !failed, "arguments with allocation %d failing", oom_at);
        arena_done(&a);
    } while (failed);
    oom_restart();
    do {
        struct arena a = ARENA_INIT;
        bool made;

        oom_next();
        made = slurm_order_env(&o, least, &a);
        failed = oom_end();
        ok(made == !failed, "variables with allocation %d failing", oom_at);
        arena_done(&a);
    } while (failed);
}

int main(void)
{
    test_options();
    test_files();
    test_command();
    test_env();
    test_said();
    test_no_memory();
    return done();
}
