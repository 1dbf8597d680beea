/* What the loader needs and may use: for advice here, and for what is tried against it. */
#include <string.h>

#include "diagnose/verdict/judge_private.h"

static const double handing_over = 0.02; /* of fetching, on a CPU, for what only waits: guessed */
static const double waiting_most = 0.1;  /* the same, at most */
enum { EPOCH_MOST = 500 };

/* How much of the time that fetching takes is on a CPU. Without workers the first thread fetches;
 * others of a BLAS may spin meanwhile. */
static double on_cpu(const struct judge *j)
{
    double thread = judge_mean(j, RUN_RANK_THREAD_CPU), process = judge_mean(j, RUN_RANK_CPU);
    double share = ((isnan(thread) ? process : thread) - (1 - j->wait)) / j->wait;

    if (j->workers > 0)
        share = judge_mean(j, RUN_WORKER_CPU);
    else if (judge_find(j, CAUSE_LOADER_WAITS))
        share = isnan(share) ? waiting_most : fmax(handing_over, fmin(waiting_most, share));
    else if (!isnan(thread))
        share = fmax(handing_over, share);
    else if (judge_find(j, CAUSE_LOADER_CPU))
        share = 1;
    return isnan(share) ? 1 : fmax(0, fmin(1, share));
}

static bool is_word(struct judge *j, const char *key, const char *word)
{
    for (size_t i = 0; i < j->r->n_ranks; i++) {
        const char *text = judge_setting(j, &j->r->ranks[i], "loader", key);

        if (text)
            return !strcmp(text, word);
    }
    return false;
}

/* Share of the steps that goes into the start of workers of the job's own, in short epochs of which
 * each starts them anew: its longest wait, beyond the others. Wherever the count of steps begins,
 * so many in a row have one such wait. */
static double starting(struct judge *j, double epoch)
{
    size_t each = epoch >= 2 && epoch <= EPOCH_MOST ? (size_t)epoch : 0, n;
    const struct judge_rank *r = &j->ranks[0];
    double longest = 0, rest = 0, total = 0;

    if (!each || j->workers < 1 || is_word(j, "persistent", "yes"))
        return 0;
    n = r->n / each;
    for (size_t i = 0; i < n * each; i += each) {
        double most = 0, sum = 0;

        for (size_t k = i; k < i + each; k++) {
            most = fmax(most, r->steps[k].host_s[BRIM_STAGE_WAIT]);
            sum += fmax(0, r->steps[k].host_s[BRIM_STAGE_WAIT]);
            total += step_seconds(&r->steps[k]);
        }
        longest += most;
        rest += (sum - most) / (epoch - 1);
    }
    return total > 0 ? fmax(0, longest - rest) / total : 0;
}

static double ranks_here(const struct run *r)
{
    double n = 0;

    for (size_t i = 0; i < r->n_ranks; i++)
        n += !r->ranks[i].host || !r->host || !strcmp(r->ranks[i].host, r->host);
    return fmax(n, 1);
}

/* Of its control group files can be taken back, what its processes hold can not. */
static double memory_left(const struct judge *j)
{
    double left = judge_mean(j, RUN_MEMORY_AVAILABLE), limit = judge_mean(j, RUN_JOB_MEMORY_LIMIT);
    double resident = judge_mean(j, RUN_JOB_RESIDENT);

    if (limit > 0 && resident > 0)
        left = isnan(left) ? limit - resident : fmin(left, limit - resident);
    return left;
}

struct loader_need judge_loader_need(struct judge *j)
{
    double here = ranks_here(j->r), processes = judge_mean(j, RUN_JOB_PROCESSES);
    double epoch = judge_number(j, "loader", "epoch");
    struct loader_need n = { .workers = (double)NAN };

    if (!j->n_ranks || !(j->wait >= 0))
        return n;
    return (struct loader_need){
        .workers = j->workers,
        .wait = j->wait,
        .starting = starting(j, epoch),
        .on_cpu = on_cpu(j),
        .queued = judge_mean(j, RUN_JOB_RUN_WAIT) / judge_mean(j, RUN_WORKERS),
        .margin = j->l.fetch_margin,
        .cpus = j->cpus / here,
        .memory_b = memory_left(j) / here,
        .worker_b = processes >= 1 ? judge_mean(j, RUN_JOB_RESIDENT) / processes : (double)NAN,
        .shm_b = (double)NAN,
        .batch_b = judge_number(j, "loader", "batch_bytes"),
        .epoch = epoch,
        .refused = (double)NAN,
        .stream = is_word(j, "kind", "iterable")
    };
}
