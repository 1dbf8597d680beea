/* Pressure: how long work waited for a resource that was short (/proc/pressure, from Linux 4.20).
 * https://docs.kernel.org/accounting/psi.html */
#include <errno.h>
#include <string.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"
#include "probe/sample/sampler.h"

enum { WAITING, STALLED, SHARE };

static const struct signal_def defs[] = {
    [WAITING] = { "waiting_seconds_total", "time in which some of the work waited",
                  SIGNAL_COUNTER },
    [STALLED] = { "stalled_seconds_total", "time in which all of the work waited", SIGNAL_COUNTER },
    [SHARE] = { "waiting_share", "share of the last 10 s in which some of the work waited",
                SIGNAL_GAUGE },
};

static const struct signal_set set = { "pressure", "resource", defs, ARRAY_SIZE(defs) };

static const struct {
    const char *name, *path;
} resources[] = {
    { "cpu", "proc/pressure/cpu" },
    { "memory", "proc/pressure/memory" },
    { "io", "proc/pressure/io" },
};

struct pressure {
    struct kept files[ARRAY_SIZE(resources)];
};

static void close_pressure(void *state)
{
    struct pressure *p = state;

    for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
        kept_close(&p->files[i]);
    free(p);
}

static int open_pressure(void **state, const struct sampler_env *env, struct err *e)
{
    CLEANUP(freep) struct pressure *p = calloc(1, sizeof(*p));
    size_t found = 0;

    if (!p)
        return err_nomem(e);
    for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
        kept_open(&p->files[i], env->root, resources[i].path);
        found += p->files[i].fd >= 0;
    }
    if (found == 0)
        return -ENOENT;
    *state = steal(&p);
    return 0;
}

/* The number behind "key=" on the line; NaN when there is none. */
static double number_of(const char *line, const char *key)
{
    size_t len = strlen(key);

    for (; *line && *line != '\n'; line++) {
        if (*line != ' ' || strncmp(line + 1, key, len) || line[1 + len] != '=')
            continue;
        line += len + 2;
        return scan_number(&line);
    }
    return (double)NAN;
}

static int sample(void *state, struct tick *t)
{
    const struct pressure *p = state;
    char text[512]; /* two lines of less than 100 bytes */

    for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
        const char *at = text;
        struct signal_row *row;

        if (kept_read(&p->files[i], text, sizeof(text)) <= 0)
            continue;
        row = tick_add(t, &set, resources[i].name);
        if (!row)
            return -ENOMEM;
        do {
            if (scan_word(&at, "some")) {
                row->values[WAITING] = number_of(at, "total") / 1e6;
                row->values[SHARE] = number_of(at, "avg10") / 100;
            } else if (scan_word(&at, "full")) {
                row->values[STALLED] = number_of(at, "total") / 1e6;
            }
        } while (scan_line(&at));
    }
    return 0;
}

const struct sampler_ops sampler_pressure = { "pressure", &set, open_pressure, sample,
                                              close_pressure };
