#include "run/archive/retry.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "run/moment/moment.h"

#define AGAIN_NS (10 * NS_PER_S)

/* Moments in memory: 2 MB. */
enum { MOMENTS_MAX = 4096 };

static void failed(struct archive_retry *k, const struct err *why, int64_t now_ns)
{
    char text[640];

    k->failed_ns = now_ns;
    if (k->told)
        return;
    k->told = true;
    snprintf(text, sizeof(text), "the run is not stored: %s; the job goes on", why->text);
    k->say(k->arg, text);
}

void archive_retry_begin(struct archive_retry *k, const char *runs, const struct run *r,
                         int64_t now_ns)
{
    struct err why = { "" };

    if (archive_create(&k->archive, runs, r, now_ns, &why) < 0)
        failed(k, &why, now_ns);
}

void archive_retry_done(struct archive_retry *k)
{
    archive_close(k->archive);
    k->archive = NULL;
}

void archive_retry_now(struct archive_retry *k, const struct run_moment *m,
                       const struct rings *rings, const struct rank_steps *inferred, int64_t now_ns)
{
    struct err why = { "" };
    int rc = 0;

    if (!k->archive || (k->failed_ns && now_ns - k->failed_ns < AGAIN_NS))
        return;
    if (m)
        rc = archive_moment(k->archive, m, &why);
    for (size_t i = 0; rc == 0 && i < rings_count(rings); i++)
        rc = archive_lane(k->archive, i, rings_lane(rings, i), &why);
    if (rc == 0 && !rings_count(rings) && inferred->count)
        rc = archive_lane(k->archive, 0, inferred, &why);
    if (rc < 0)
        failed(k, &why, now_ns);
    else
        k->failed_ns = 0;
}

bool archive_retry_about(struct archive_retry *k, const struct run *r, int64_t now_ns)
{
    struct err why = { "" };

    if (!k->archive || (k->failed_ns && now_ns - k->failed_ns < AGAIN_NS))
        return false;
    if (archive_about(k->archive, r, &why) == 0)
        return true;
    failed(k, &why, now_ns);
    return false;
}

bool archive_retry_end(struct archive_retry *k, const struct run *r)
{
    struct err why = { "" };

    if (k->archive && archive_about(k->archive, r, &why) < 0)
        failed(k, &why, 1);
    return k->archive && !k->told;
}

int archive_retry_in_memory(struct run *r, const struct run_moment *m)
{
    struct run_moment *kept;

    if (r->n_moments == MOMENTS_MAX) {
        for (size_t i = 0; i < MOMENTS_MAX / 2; i++) {
            r->moments[i] = r->moments[2 * i];
            moment_merge(&r->moments[i], &r->moments[2 * i + 1]);
        }
        r->n_moments = MOMENTS_MAX / 2;
    }
    kept = ARENA_PUSH(&r->arena, &r->moments, &r->n_moments);
    if (!kept)
        return -ENOMEM;
    *kept = *m;
    return 0;
}
