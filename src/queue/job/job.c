#include "queue/job/job.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/parse.h"

/* ---- arrays ---- */

static int bad_array(const char *text, struct err *e)
{
    return err_set(e, -EINVAL,
                   "--array %s: numbers and ranges from 0 on, each above the one before, such as "
                   "0-9, 1,3,5-7, 0-90:10 or 0-99%%4",
                   text);
}

/* A number at *at, which moves behind it. */
static bool number(const char **at, int64_t *ret)
{
    uint64_t value = 0;
    int n = parse_digits(*at, 10, 9, &value);

    *at += n;
    *ret = (int64_t)value;
    return n > 0;
}

/* "5", "5-7" or "0-90:10". */
static bool range(const char **at, int64_t *first, int64_t *last, int64_t *step)
{
    *step = 1;
    if (!number(at, first))
        return false;
    *last = *first;
    if (**at == '-') {
        ++*at;
        if (!number(at, last))
            return false;
        if (**at == ':') {
            ++*at;
            if (!number(at, step))
                return false;
        }
    }
    return *last >= *first && *step > 0;
}

int queue_array(const char *text, int32_t *width, queue_task_fn *fn, void *arg, struct err *e)
{
    int64_t first, last, step, before = -1, n = 0, most = 0;
    const char *at = text;

    do {
        if (!range(&at, &first, &last, &step) || first <= before || last > INT32_MAX)
            return bad_array(text, e);
        for (int64_t task = first; task <= last; task += step) {
            int rc;

            if (++n > QUEUE_TASKS)
                return err_set(e, -EINVAL, "--array %s: an array has at most %d jobs", text,
                               QUEUE_TASKS);
            rc = fn(arg, (int32_t)task);
            if (rc < 0)
                return rc;
            before = task;
        }
    } while (*at++ == ',');
    if (at[-1] == '%' && (!number(&at, &most) || most < 1 || *at))
        return bad_array(text, e);
    if (at[-1] && !most)
        return bad_array(text, e);
    *width = (int32_t)most;
    return 0;
}

/* ---- dependencies ---- */

static const char *const after_names[] = {
    [AFTER_START] = "after",
    [AFTER_OK] = "afterok",
    [AFTER_ANY] = "afterany",
    [AFTER_NOT_OK] = "afternotok",
};

const char *queue_after_name(enum queue_after_kind kind)
{
    return after_names[kind];
}

/* The word at *at up to ':'; *at moves behind that. */
static int after_kind(const char **at)
{
    size_t len = strcspn(*at, ":,");

    for (int i = AFTER_START; i < (int)ARRAY_SIZE(after_names); i++)
        if ((*at)[len] == ':' && strlen(after_names[i]) == len &&
            !strncmp(*at, after_names[i], len)) {
            *at += len + 1;
            return i;
        }
    return -1;
}

int queue_after_next(const char **at, enum queue_after_kind *kind, int64_t *id, struct err *e)
{
    const char *from = *at;
    int word;

    if (!**at)
        return 0;
    if (*kind == AFTER_NONE || **at < '0' || **at > '9') {
        word = after_kind(at);
        if (word < 0)
            return err_set(e, -EINVAL,
                           "--after %s: say after:ID, afterok:ID, afterany:ID or afternotok:ID, "
                           "several with commas",
                           from);
        *kind = (enum queue_after_kind)word;
    }
    if (!number(at, id) || (**at && **at != ':' && **at != ',') || (**at && !(*at)[1]))
        return err_set(e, -EINVAL, "--after: '%s' is no number of a job", from);
    if (**at == ',' && (*at)[1] >= '0' && (*at)[1] <= '9')
        return err_set(e, -EINVAL, "--after: '%s' lacks its kind, such as afterok:", *at + 1);
    *at += **at != 0;
    return 1;
}

int queue_after_met(enum queue_after_kind kind, const struct queue_met *m)
{
    switch (kind) {
    case AFTER_START:
        return m->started + m->ended >= m->all;
    case AFTER_ANY:
        return m->ended == m->all;
    case AFTER_OK:
        if (m->ended > m->done)
            return -1;
        return m->done == m->all;
    default:
        /* of an array: one that failed is enough, once all have ended */
        if (m->ended < m->all)
            return 0;
        return m->done == m->all ? -1 : 1;
    }
}

/* ---- slots ---- */

int queue_slots_next(const char **at)
{
    uint64_t value;
    int n = parse_digits(*at, 10, 9, &value);

    if (n == 0)
        return -1;
    *at += n;
    *at += **at == ',';
    return (int)value;
}

int32_t queue_slots_count(const char *slots)
{
    int32_t n = 0;

    while (queue_slots_next(&slots) >= 0)
        n++;
    return n;
}

/* ---- ends ---- */

int queue_exit(int32_t status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void say_status(struct queue_job *j, const char *before)
{
    if (WIFSIGNALED(j->status))
        snprintf(j->reason, sizeof(j->reason), "%skilled by signal %d (%s)", before,
                 WTERMSIG(j->status), strsignal(WTERMSIG(j->status)));
    else
        snprintf(j->reason, sizeof(j->reason), "%sexit status %d", before, WEXITSTATUS(j->status));
}

static void end_as(struct queue_job *j, enum queue_outcome outcome)
{
    static const char *const before[] = {
        [QUEUE_DONE] = "",
        [QUEUE_FAILED] = "",
        [QUEUE_CANCELLED] = "cancelled: ",
        [QUEUE_TIMEOUT] = "it reached its time limit: ",
    };

    j->state = QUEUE_ENDED;
    j->outcome = (uint8_t)outcome;
    say_status(j, before[outcome]);
}

static void wait_again(struct queue_job *j, const char *why)
{
    j->state = QUEUE_WAITING;
    j->stop = QUEUE_GO;
    j->place[0] = 0;
    snprintf(j->reason, sizeof(j->reason), "%.*s", (int)sizeof(j->reason) - 1, why);
}

/* Nobody saw how it ended: it may have done its work, or half of it. */
static void lose(struct queue_job *j, const struct queue_end *end)
{
    char why[sizeof(end->text) + 32];

    snprintf(why, sizeof(why), "queued again: %s", end->text);
    if (j->requeue && j->stop != QUEUE_CANCEL && end->stop != QUEUE_LIMIT) {
        wait_again(j, why);
        return;
    }
    j->state = QUEUE_ENDED;
    j->outcome = end->stop == QUEUE_LIMIT ? QUEUE_TIMEOUT : QUEUE_LOST;
    memcpy(j->reason, end->text, sizeof(j->reason));
}

int queue_priority_check(int64_t priority, bool may_lead, struct err *e)
{
    if (priority < -QUEUE_PRIORITY || priority > QUEUE_PRIORITY)
        return err_set(e, -EINVAL, "a priority is a number from -%d to %d", QUEUE_PRIORITY,
                       QUEUE_PRIORITY);
    if (priority > 0 && !may_lead)
        return err_set(e, -EACCES,
                       "only root may give a priority above 0 in a queue that users share");
    return 0;
}

/* It ran for so long. One whose devices nobody noted had all of them. */
static void add_time(struct queue_job *j, int64_t ms)
{
    int32_t has = j->devices > 0 ? queue_slots_count(j->slots) : 0;

    j->ran_ms += ms;
    if (j->parked_ms)
        ms = MIN(ms, MAX(j->parked_ms - j->since_ms, 0));
    j->device_ms += ms * (has > 0 ? has : j->devices);
}

void queue_job_end(struct queue_job *j, const struct queue_end *end)
{
    bool zero = WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0;
    bool asks = WIFEXITED(end->status) && WEXITSTATUS(end->status) == QUEUE_REQUEUED;

    if (!end->unstarted)
        add_time(j, MAX(end->end_ms - j->since_ms, 0));
    j->since_ms = j->end_ms = end->end_ms;
    j->slots[0] = j->bound[0] = j->used[0] = 0;
    j->told_ms = j->seen_ms = j->parked_ms = 0;
    j->status = end->status;
    if (end->lost)
        lose(j, end);
    else if (end->unstarted && asks && j->stop != QUEUE_CANCEL && j->attempt < QUEUE_ATTEMPTS)
        wait_again(j, end->text);
    else if (end->unstarted && j->stop != QUEUE_CANCEL) {
        j->state = QUEUE_ENDED;
        j->outcome = QUEUE_FAILED;
        memcpy(j->reason, end->text, sizeof(j->reason));
    } else if (zero)
        end_as(j, QUEUE_DONE);
    else if (end->stop == QUEUE_CANCEL || j->stop == QUEUE_CANCEL)
        end_as(j, QUEUE_CANCELLED);
    else if (j->requeue && j->attempt < QUEUE_ATTEMPTS && (asks || end->stop == QUEUE_PREEMPT))
        wait_again(j, asks ? "queued again: it asked for that with exit status 75"
                           : "queued again: it was stopped for a job that goes first");
    else
        end_as(j, end->stop == QUEUE_LIMIT ? QUEUE_TIMEOUT : QUEUE_FAILED);
    if (j->state == QUEUE_WAITING)
        j->end_ms = 0;
    else
        j->next[0] = 0;
    if (!*j->next)
        j->host = 0;
}

void queue_job_drop(struct queue_job *j, enum queue_outcome outcome, int64_t now_ms,
                    const char *why)
{
    j->state = QUEUE_ENDED;
    j->outcome = (uint8_t)outcome;
    j->end_ms = j->since_ms = now_ms;
    j->next[0] = 0;
    snprintf(j->reason, sizeof(j->reason), "%s", why);
}

bool queue_job_stretches(const struct queue_job *j)
{
    return j->requeue && j->least > 0 && j->least < j->devices;
}

int32_t queue_job_cpus(const struct queue_job *j, int32_t devices)
{
    if (devices <= 0 || devices >= j->devices)
        return j->cpus;
    return (int32_t)(((int64_t)j->cpus * devices + j->devices - 1) / j->devices);
}

/* ---- words ---- */

const char *queue_job_word(const struct queue_job *j)
{
    static const char *const states[] = { "waiting", "running" };
    static const char *const outcomes[] = {
        "ended", "done", "failed", "cancelled", "timeout", "lost", "never",
    };

    if (j->state == QUEUE_ENDED)
        return outcomes[j->outcome];
    if (j->state == QUEUE_RUNNING && j->stop != QUEUE_GO)
        return "stopping";
    if (j->state == QUEUE_RUNNING && j->parked_ms)
        return "parked";
    return j->held ? "held" : states[j->state];
}

void queue_job_label(const struct queue_job *j, struct str *out)
{
    if (j->task >= 0)
        str_addf(out, "%lld_%d", (long long)j->array, (int)j->task);
    else
        str_addf(out, "%lld", (long long)j->id);
}

int queue_label_read(const char *text, int64_t *id, int32_t *task, struct err *e)
{
    const char *at = text;
    int64_t number_of = -1;

    if (!number(&at, id) || (*at == '_' && (at++, !number(&at, &number_of))) || *at ||
        number_of > INT32_MAX)
        return err_set(e, -EINVAL, "'%s' is no number of a job, such as 12, or 12_3 of an array",
                       text);
    *task = (int32_t)number_of;
    return 0;
}

/* Signals that may ask for a checkpoint. */
static const struct {
    const char *name;
    int number;
} known[] = {
    { "TERM", SIGTERM }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
    { "INT", SIGINT },   { "HUP", SIGHUP },   { "CONT", SIGCONT },
};

bool queue_signal_known(int32_t number)
{
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (known[i].number == number)
            return true;
    return false;
}

int queue_signal(const char *text, struct err *e)
{
    const char *name = strncmp(text, "SIG", 3) ? text : text + 3;
    uint64_t value;

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!strcmp(known[i].name, name) ||
            (parse_u64(text, &value) == 0 && value == (uint64_t)known[i].number))
            return known[i].number;
    return err_set(e, -EINVAL, "--checkpoint-signal %s: one of TERM, USR1, USR2, INT, HUP, CONT",
                   text);
}
