/* What brim run tells of a job while it goes on: which fields, and when it is judged anew. Without
 * rings, processes and a judge: those of this file are a few numbers. */
#include "cmd/run/live_status.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/verdict/judge.h"
#include "run/archive/archive_format.h"
#include "run/ring/live_file.h"
#include "tap.h"

enum { TEXT = 512, KIN = 300, STAGE = 2 };

static struct {
    size_t lanes, kin;
    uint64_t steps[3];
    struct verdict_item item;
    const char *sentence;
    size_t items;
    double took_s;
    bool no_family, no_snapshot, no_verdict;
} made;

static int64_t now_ns, began_ns;
static size_t last;
static unsigned judged, written;
static char file[LIVE_RUN_FILE], where[TEXT];

size_t rings_count(const struct rings *s)
{
    (void)s;
    return made.lanes;
}

const struct rank_steps *rings_lane(const struct rings *s, size_t i)
{
    static struct rank_steps lanes[3];

    (void)s;
    lanes[i].count = made.steps[i];
    return &lanes[i];
}

size_t family_kin(const struct family *f, struct family_kin *kin, size_t n)
{
    (void)f;
    for (size_t i = 0; i < n && i < made.kin; i++)
        kin[i].pid = (pid_t)(100 + i);
    return made.kin;
}

uint64_t archive_pid_space(void)
{
    return 4026531836;
}

int run_snapshot(struct run *ret, const struct run_snapshot *w, int64_t since_ns, size_t most)
{
    (void)ret;
    (void)w;
    began_ns = since_ns;
    last = most;
    judged++;
    now_ns += (int64_t)(made.took_s * (double)NS_PER_S);
    return made.no_snapshot ? -ENOMEM : 0;
}

int judge_run(const struct run *r, const struct run *earlier, struct verdict *v)
{
    static struct verdict_item items[1];
    static char sentence[TEXT];

    (void)r;
    (void)earlier;
    items[0] = made.item;
    snprintf(sentence, sizeof(sentence), "%s", made.sentence);
    *v = (struct verdict){ .items = items, .count = made.items, .sentence = sentence };
    v->steps_per_s = 2.5;
    v->samples_per_s = 20;
    v->share[STAGE] = 0.75;
    return made.no_verdict ? -ENOMEM : 0;
}

int live_file_write(const char *folder, const char *text, size_t len, int *fd)
{
    written++;
    snprintf(where, sizeof(where), "%s %d", folder, *fd);
    *fd = -1;
    snprintf(file, sizeof(file), "%.*s", (int)len, text);
    return -ENOSPC;
}

static int64_t monotonic(void *arg)
{
    (void)arg;
    return now_ns;
}

static const struct clock moved = { monotonic, monotonic, NULL };
static struct live_status status;

static void usual(void)
{
    memset(&made, 0, sizeof(made));
    made.items = 1;
    made.sentence = "the loader is slow";
    made.item = (struct verdict_item){
        .cause = CAUSE_SMALL_FILES, .severity = SEVERITY_WARNING, .share = 0.4, .action = "do it"
    };
    now_ns = 100 * NS_PER_S;
    judged = written = 0;
    live_status_init(&status, &moved);
}

static const struct live_run *look(const struct rank_steps *inferred, const char *trying)
{
    static char id[] = "20261101-090000-0001", name[] = "train", user[] = "ana";
    static struct run_note job = { "env.SLURM_JOB_ID", "4711" };
    static const struct run r = { .id = id,
                                  .name = name,
                                  .user = user,
                                  .begin_ns = 5500000000,
                                  .environment = &job,
                                  .n_environment = 1 };
    const struct run_snapshot w = { .run = &r,
                                    .inferred = inferred,
                                    .now_ns = now_ns,
                                    .family = made.no_family ? NULL : (const void *)&r };

    status.teller.look(status.teller.arg, &w, "/rings", trying);
    return &status.told;
}

static void test_about(void)
{
    const struct live_run *told;
    struct live_run *read = malloc(sizeof(*read));

    usual();
    made.kin = 2;
    told = look(NULL, "loader.workers=4");
    is_str(told->id, "20261101-090000-0001", "the run's id is told");
    is_str(told->name, "train", "the run's name is told");
    is_str(told->user, "ana", "the run's user is told");
    is_str(told->trying, "loader.workers=4", "what is on trial is told");
    is_int(told->slurm_job, 4711, "the number of Slurm's job is told");
    is_int(told->since_ms, 5500, "the begin of the run is told");
    ok(told->pid_space == 4026531836 && told->n_pids == 2 && told->pids[0] == 100 &&
           told->pids[1] == 101,
       "the run's processes are told");
    is_int(written, 1, "the file is written");
    is_str(where, "/rings -1", "the file is beside the rings");
    ok(read && live_run_read(read, file, strlen(file)) == 0 && !strcmp(read->name, "train") &&
           read->n_pids == 2,
       "the file can be read: %s", file);
    free(read);
    (void)look(NULL, "");
    is_int(written, 2, "the file is written again when there was no room");
    made.kin = KIN;
    is_int((long long)look(NULL, "")->n_pids, LIVE_RUN_PIDS, "no more processes than fit are told");
    made.no_family = true;
    is_int((long long)look(NULL, "")->n_pids, 0, "a job whose processes are not known has none");
}

/* The file's descriptor, which holds its lock. */
static void test_done(void)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    usual();
    status.fd = null;
    live_status_done(&status);
    ok(null >= 0 && fcntl(null, F_GETFD) < 0, "the file is closed at the end");
    is_int(status.fd, -1, "nothing is closed twice");
}

static void test_steps(void)
{
    const struct rank_steps none = { .count = 0 }, seven = { .count = 7 };
    const struct live_run *told;

    usual();
    told = look(NULL, "");
    ok(isnan(told->ranks) && isnan(told->steps), "a job that marks nothing has no steps");
    told = look(&none, "");
    ok(isnan(told->ranks) && isnan(told->steps), "a job whose steps are not found has none");
    told = look(&seven, "");
    is_int((long long)told->ranks, 1, "a job whose steps are found is a rank");
    is_int((long long)told->steps, 7, "steps that are found are told");
    made.lanes = 3;
    made.steps[0] = 5;
    made.steps[1] = 9;
    made.steps[2] = 8;
    told = look(&seven, "");
    is_int((long long)told->ranks, 3, "each lane is a rank");
    is_int((long long)told->steps, 9, "the rank that is ahead tells the steps");
    made.lanes = 1;
    made.steps[0] = 0;
    told = look(&seven, "");
    is_int((long long)told->steps, 0, "steps that are found do not count where some are marked");
}

static void test_verdict(void)
{
    const struct live_run *told;

    usual();
    told = look(NULL, "");
    ok(began_ns == 70 * NS_PER_S && last == 1000, "the last half minute is judged");
    ok(told->steps_per_s > 2.4 && told->samples_per_s > 19 && told->split[STAGE] > 0.7,
       "the rates and shares of the verdict are told");
    is_str(told->sentence, "the loader is slow", "the sentence of the verdict is told");
    is_str(told->cause, "small-files", "the cause is told");
    is_str(told->action, "do it", "what to do is told");
    ok(told->limited && told->severity == SEVERITY_WARNING && told->share > 0.3,
       "a cause that costs time limits the job");

    usual();
    made.item.severity = SEVERITY_NOTE;
    made.item.action = NULL;
    told = look(NULL, "");
    ok(!told->limited, "what is only noted limits nothing");
    is_str(told->action, "", "a verdict without an action has none");
    usual();
    made.item.share = 0;
    ok(!look(NULL, "")->limited, "what costs no time limits nothing");
    usual();
    made.item.cause = CAUSE_NONE;
    ok(!look(NULL, "")->limited, "no cause limits nothing");

    usual();
    made.no_snapshot = true;
    is_str(look(NULL, "")->sentence, "", "what cannot be taken is not judged");
    usual();
    made.no_verdict = true;
    is_str(look(NULL, "")->sentence, "", "what cannot be judged is not told");
    usual();
    made.items = 0;
    is_str(look(NULL, "")->sentence, "", "a verdict without items is not told");
}

/* How often it is judged while it is looked at each second. */
static void test_pauses(void)
{
    usual();
    for (int i = 0; i < 7; i++) {
        now_ns = (100 + i) * NS_PER_S;
        (void)look(NULL, "");
    }
    is_int(judged, 4, "a job is judged every two seconds");
    usual();
    made.took_s = 0.1;
    for (int i = 0; i <= 5; i++) {
        now_ns = (100 + i) * NS_PER_S;
        (void)look(NULL, "");
        is_int(judged, i < 5 ? 1 : 2, "a verdict that took 0.1 s is made again after 5 s, not %d",
               i);
    }
    is_int(written, 6, "the job is told of each second");
}

int main(void)
{
    test_about();
    test_done();
    test_steps();
    test_verdict();
    test_pauses();
    return done();
}
