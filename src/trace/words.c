/* What a field of a table says of a job in words of its own: kinds of devices with speeds, and how
 * busy it keeps them. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/parse.h"
#include "model/machine/mig.h"
#include "trace/csv.h"

/* ---- kinds ---- */

enum { KINDS_TEXT = 1024 };
static const double speed_min = 1e-3, speed_max = 1e3;

/* "T4:0.3" as a number of a kind of the pool, and a speed; -ENOENT: no node has it. */
static int one_kind(const struct reader *r, char *word, double *speed)
{
    char *colon = strchr(word, ':');

    *speed = 1;
    if (colon) {
        *colon++ = '\0';
        if (parse_double(colon, speed) < 0 || !(*speed >= speed_min && *speed <= speed_max))
            return -EINVAL;
    }
    return pool_kind(r->pool, word) < 0 ? -ENOENT : pool_kind(r->pool, word);
}

int trace_kinds(struct reader *r, const char *text, struct work *w)
{
    struct work_speeds speeds = { { 0 } };
    char copy[KINDS_TEXT], *word, *rest = copy;
    size_t len = strlen(text);
    int number = 0;

    if (!*text || (r->pool->n_kinds == 1 && !*r->pool->kinds[0]))
        return 0;
    if (len >= sizeof(copy))
        return -EINVAL;
    memcpy(copy, text, len + 1);
    while ((word = strsep(&rest, "|,"))) {
        double speed;
        int kind = one_kind(r, word, &speed);

        if (kind == -EINVAL)
            return -EINVAL;
        if (kind < 0)
            continue;
        w->kinds |= 1ULL << kind;
        speeds.of[kind] = (float)speed;
    }
    if (!w->kinds)
        return -ENOENT;
    if (strchr(text, ':'))
        number = work_speeds(r->work, &speeds);
    if (number < 0)
        return number;
    w->speeds = (uint16_t)number;
    return 0;
}

/* ---- instances ---- */

const char *trace_mig(const struct reader *r, const char *text, struct work *w)
{
    int slices = mig_slices(text);
    uint64_t kinds = 0;

    if (!*text)
        return NULL;
    if (slices == 0)
        return "mig is 1g, 2g, 3g, 4g or 7g";
    if (w->devices != 1 || w->milli < WORK_WHOLE || w->most > 0)
        return "mig is for jobs with one device, of which gpu_milli says nothing";
    for (size_t i = 0; i < r->pool->n_kinds; i++)
        if (mig_divides(r->pool->kinds[i]))
            kinds |= 1ULL << i;
    if (w->kinds)
        kinds &= w->kinds;
    if (!kinds)
        return "no node has a device of its kinds that is divided by mig";
    w->kinds = kinds;
    if (slices < MIG_SLICES) {
        w->mig = (uint8_t)slices;
        w->milli = (int16_t)mig_milli(slices);
    }
    return NULL;
}

/* ---- activity ---- */

/* One of "600:95 7200:0 3600:hang 95": seconds and how busy its devices are then, in per cent; the
 * last one may be for the rest of its length. */
static int stretch(const char *word, bool last, int64_t left, struct work_stretch *ret)
{
    const char *colon = strchr(word, ':'), *busy = colon ? colon + 1 : word;
    char time[32];
    double percent;

    ret->ms = left;
    if (!colon && !last)
        return -EINVAL;
    if (colon) {
        if (colon - word >= (ptrdiff_t)sizeof(time))
            return -EINVAL;
        memcpy(time, word, (size_t)(colon - word));
        time[colon - word] = '\0';
        if (reader_seconds(time, &ret->ms) < 0 || ret->ms < 0 || ret->ms > left)
            return -EINVAL;
    }
    ret->milli = WORK_HANGS;
    if (!strcmp(busy, "hang"))
        return 0;
    if (parse_double(busy, &percent) < 0 || !(percent >= 0 && percent <= 100))
        return -EINVAL;
    ret->milli = (int16_t)lround(percent * 10);
    return 0;
}

int trace_activity(struct reader *r, const char *text, struct work *w)
{
    const char *at = text;
    int64_t left = w->length_ms;
    int rc;

    for (at += strspn(at, " "); *at;) {
        size_t len = strcspn(at, " ");
        struct work_stretch s;
        char word[48];

        if (len >= sizeof(word))
            return -EINVAL;
        memcpy(word, at, len);
        word[len] = '\0';
        at += len;
        at += strspn(at, " ");
        if (stretch(word, !*at, left, &s) < 0)
            return -EINVAL;
        left -= s.ms;
        rc = work_stretch_add(r->work, w, s.ms, s.milli);
        if (rc < 0)
            return rc;
    }
    return w->n_stretches > 0 && left > 0 ? -EINVAL : 0;
}
