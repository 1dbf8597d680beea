#include "trace/reader.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/parse.h"

static const double seconds_max = 200 * 365.0 * 86400; /* those since 1970 are read, too */
static const float scaling_usual = 0.8F;               /* of elastic jobs that do not say */
static const int64_t length_max_ms = (int64_t)10 * 365 * 86400 * 1000;

struct work reader_empty(void)
{
    return (struct work){
        .limit_ms = WORK_UNKNOWN,
        .restart_ms = -1,
        .milli = WORK_WHOLE,
        .scaling = scaling_usual,
        .user = -1,
        .team = -1,
        .class = -1,
    };
}

int reader_bad(struct reader *r, const char *fmt, ...)
{
    char *out = r->notes->bad < TRACE_NOTES ? r->notes->text[r->notes->bad] : NULL;
    va_list ap;
    int len;

    r->notes->rows++;
    r->notes->bad++;
    if (!out)
        return 0;
    len = snprintf(out, TRACE_NOTE, "line %d: ", r->line);
    va_start(ap, fmt);
    vsnprintf(out + len, TRACE_NOTE - (size_t)len, fmt, ap);
    va_end(ap);
    return 0;
}

int reader_group(struct reader *r, struct work_names *table, const char *name, int16_t *ret)
{
    int number = work_number(r->work, table, name);

    if (number == -ENOMEM)
        return -ENOMEM;
    *ret = (int16_t)(number < 0 ? -1 : number);
    return 0;
}

int reader_add(struct reader *r, const struct work *w, const char *name)
{
    struct work *added;

    if (w->length_ms < 0)
        return reader_bad(r, "it takes less than no time");
    if (w->length_ms > length_max_ms)
        return reader_bad(r, "it takes more than ten years");
    if (w->devices < 0 || w->devices > WORK_DEVICES)
        return reader_bad(r, "%d is no number of devices", (int)w->devices);
    if (w->milli <= 0 || w->milli > WORK_WHOLE || (w->milli < WORK_WHOLE && w->devices != 1))
        return reader_bad(r, "a share is 1 to %d thousandths of one device", WORK_WHOLE);
    if (w->per_node < 0 || (w->per_node > 0 && w->devices % w->per_node != 0))
        return reader_bad(r, "%d devices are not whole nodes of %d", (int)w->devices,
                          (int)w->per_node);
    if (w->cpus_milli < 0 || w->memory_mib < 0)
        return reader_bad(r, "CPUs or memory below zero");
    added = ARENA_PUSH(&r->work->arena, &r->work->jobs, &r->work->n_jobs);
    if (!added)
        return -ENOMEM;
    r->notes->rows++;
    *added = *w;
    added->name = arena_strdup(&r->work->arena, name);
    return added->name ? 0 : -ENOMEM;
}

/* Days from 1970 to a date of the Gregorian calendar. */
static int64_t days_to(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static uint64_t days_of(int64_t year, int64_t month)
{
    int64_t next = month == 12 ? days_to(year + 1, 1, 1) : days_to(year, month + 1, 1);

    return (uint64_t)(next - days_to(year, month, 1));
}

int reader_date(const char *text, int64_t *ret)
{
    static const char form[] = "dddd-dd-dd dd:dd:dd";
    uint64_t n[6];

    for (size_t i = 0; i < sizeof(form); i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';

        if (form[i] == 'd' ? !digit : text[i] != form[i] && !(form[i] == ' ' && text[i] == 'T'))
            return -EINVAL;
    }
    for (size_t i = 0; i < 6; i++)
        parse_digits(text + (i ? 2 + 3 * i : 0), 10, i ? 2 : 4, &n[i]);
    if (n[0] < 1970 || n[1] < 1 || n[1] > 12 || n[2] < 1 ||
        n[2] > days_of((int64_t)n[0], (int64_t)n[1]) || n[3] > 23 || n[4] > 59 || n[5] > 60)
        return -EINVAL;
    *ret = ((days_to((int64_t)n[0], (int64_t)n[1], (int64_t)n[2]) * 24 + (int64_t)n[3]) * 60 +
            (int64_t)n[4]) *
               60 +
           (int64_t)n[5];
    return 0;
}

int reader_seconds(const char *text, int64_t *ret)
{
    double s;

    if (parse_double(text, &s) < 0)
        return -EINVAL;
    if (fabs(s) > seconds_max)
        return -ERANGE;
    *ret = (int64_t)llround(s * 1e3);
    return 0;
}
