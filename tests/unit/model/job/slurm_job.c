/* Which job of Slurm a run is of, what is said of it, and what a user means by a number. */
#include "model/job/slurm_job.h"

#include <string.h>

#include "tap.h"

enum { NOTES_MAX = 8 };

/* "A=1 B=2" as what was kept with a run. */
static struct run run_of(char copy[256], struct run_note notes[NOTES_MAX], const char *text)
{
    struct run r = { .environment = notes };
    char *rest = NULL;

    snprintf(copy, 256, "%s", text);
    for (char *at = strtok_r(copy, " ", &rest); at; at = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(at, '=');

        *equals = 0;
        notes[r.n_environment++] = (struct run_note){ at, equals + 1 };
    }
    return r;
}

#define JOB "env.SLURM_JOB_ID=17 "
#define STEP JOB "env.SLURM_STEP_ID=0 "
#define NAMED JOB "env.SLURM_JOB_NAME=rows "
#define TASK STEP "env.SLURM_ARRAY_JOB_ID=15 env.SLURM_ARRAY_TASK_ID=3 "

static void test_said(void)
{
    static const struct {
        const char *kept, *said; /* NULL: of none */
    } cases[] = {
        { "", NULL },
        { "env.SLURM_STEP_ID=0", NULL },
        { "env.SLURM_JOB_ID=x", NULL },
        { "env.SLURM_JOB_ID=0", NULL },
        { "env.SLURM_JOB_ID=9223372036854775808", NULL },
        { "env.SLURM_JOB_ID=9223372036854775807", "9223372036854775807" },
        { "SLURM_JOB_ID=17", NULL },
        { JOB, "17" },
        { JOB "env.SLURM_STEP_ID=4294967279", "17.4294967279" },
        { JOB "env.SLURM_STEP_ID=4294967280", "17" },
        { STEP, "17.0" },
        { STEP "env.SLURM_RESTART_COUNT=0", "17.0" },
        { STEP "env.SLURM_RESTART_COUNT=2", "17.0, requeue 2" },
        { STEP "env.SLURM_RESTART_COUNT=-2", "17.0" },
        { TASK, "15_3.0" },
        { STEP "env.SLURM_ARRAY_JOB_ID=15", "17.0" },
        { STEP "env.SLURM_ARRAY_TASK_ID=3", "17.0" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char copy[256];
        struct run_note notes[NOTES_MAX];
        struct run r = run_of(copy, notes, cases[i].kept);
        struct slurm_job j;
        bool is = slurm_job_of(&r, &j);

        ok(is == (cases[i].said != NULL), "'%s' is of %s job", cases[i].kept, is ? "a" : "no");
        if (is && cases[i].said)
            is_str(slurm_job_say(&j).text, cases[i].said, "'%s' is said as '%s'", cases[i].kept,
                   cases[i].said);
    }
}

static void test_names(void)
{
    char copy[256];
    struct run_note notes[NOTES_MAX];
    struct run r = run_of(copy, notes, JOB "env.SLURM_JOB_NAME=resnet env.SLURM_CLUSTER_NAME=ours");
    struct slurm_job j;

    ok(slurm_job_of(&r, &j), "a job with names");
    is_str(j.name, "resnet", "the job's name");
    is_str(j.cluster, "ours", "the cluster's name");
    r = run_of(copy, notes, JOB);
    ok(slurm_job_of(&r, &j) && !j.name && !j.cluster, "what was not kept is not known");
}

static void test_meant(void)
{
    static const struct {
        const char *kept, *which;
        bool is;
    } cases[] = {
        { STEP, "17", true },      { STEP, "17.0", true },    { STEP, "17.1", false },
        { STEP, "1", false },      { STEP, "170", false },    { STEP, "17.", false },
        { STEP, "17.00x", false }, { STEP, "", false },       { STEP, "x", false },
        { STEP, "17_0", false },   { JOB, "17", true },       { JOB, "17.0", false },
        { TASK, "17", true },      { TASK, "15", true },      { TASK, "15_3", true },
        { TASK, "15_3.0", true },  { TASK, "15_3.1", false }, { TASK, "15_2", false },
        { TASK, "17_3", false },   { TASK, "15_", false },    { TASK, "15.0", true },
        { NAMED, "rows", true },   { NAMED, "17", true },     { NAMED, "row", false },
        { NAMED, "", false },      { TASK, "3", false },      { STEP, "-17", false },
        { STEP, "0", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char copy[256];
        struct run_note notes[NOTES_MAX];
        struct run r = run_of(copy, notes, cases[i].kept);
        struct slurm_job j;

        ok(slurm_job_of(&r, &j) && slurm_job_is(&j, cases[i].which) == cases[i].is,
           "'%s' means '%s': %s", cases[i].which, cases[i].kept, cases[i].is ? "yes" : "no");
    }
}

int main(void)
{
    test_said();
    test_names();
    test_meant();
    return done();
}
