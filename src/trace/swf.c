/* The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, ';' starts a
 * comment. A processor counts as a device. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "trace/reader.h"

enum { FIELDS = 18, LINE = 512 };
enum field {
    ID,
    SUBMIT,
    RUN = 3,
    USED = 4,
    ASKED = 7,
    LIMIT = 8,
    USER = 11,
    TEAM = 12,
    QUEUE = 14
};

static bool is_swf(const char *first)
{
    int fields = 0;

    if (*first == ';')
        return true;
    while (*first) {
        size_t len = strspn(first, "-0123456789.");

        if (len == 0)
            return false;
        fields++;
        first += len;
        first += strspn(first, " \t");
    }
    return fields == FIELDS;
}

/* Split a line into numbers; -EINVAL. */
static int split(char *line, double n[FIELDS])
{
    char *word, *rest = line;
    int i = 0;

    while ((word = strsep(&rest, " \t\r"))) {
        if (!*word)
            continue;
        if (i == FIELDS || parse_double(word, &n[i]) < 0 || !(n[i] > -1e12 && n[i] < 1e12))
            return -EINVAL;
        i++;
    }
    return i == FIELDS ? 0 : -EINVAL;
}

static int group(struct reader *r, struct work_names *table, double id, int16_t *ret)
{
    char text[24];

    if (id < 0)
        return 0;
    snprintf(text, sizeof(text), "%.0f", id);
    return reader_group(r, table, text, ret);
}

static int take_line(struct reader *r, char *line)
{
    struct work w = reader_empty();
    double n[FIELDS], devices;
    char name[24];

    if (split(line, n) < 0)
        return reader_bad(r, "not %d numbers", FIELDS);
    if (n[RUN] < 0) {
        r->notes->skipped++; /* it never ran */
        return 0;
    }
    devices = n[ASKED] > 0 ? n[ASKED] : n[USED];
    if (!(devices >= 1 && devices <= WORK_DEVICES))
        return reader_bad(r, "%.0f is no number of processors", devices);
    w.submit_ms = (int64_t)(n[SUBMIT] * 1e3);
    w.length_ms = (int64_t)(n[RUN] * 1e3);
    w.devices = (int32_t)devices;
    if (n[LIMIT] > 0)
        w.limit_ms = (int64_t)(n[LIMIT] * 1e3);
    if (group(r, &r->work->users, n[USER], &w.user) < 0 ||
        group(r, &r->work->teams, n[TEAM], &w.team) < 0 ||
        group(r, &r->work->classes, n[QUEUE], &w.class) < 0)
        return -ENOMEM;
    snprintf(name, sizeof(name), "%.0f", n[ID]);
    return reader_add(r, &w, name);
}

static int read_swf(struct reader *r, const char *text, size_t len, struct err *e)
{
    const char *end = text + len;
    char line[LINE];

    (void)e;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((newline ? newline : end) - text);
        size_t blank;
        int rc = 0;

        r->line++;
        if (n >= sizeof(line)) {
            rc = *text == ';' ? 0 : reader_bad(r, "longer than %d bytes", LINE);
        } else {
            memcpy(line, text, n);
            line[n] = '\0';
            blank = strspn(line, " \t\r");
            if (line[blank] && line[blank] != ';')
                rc = take_line(r, line);
        }
        if (rc < 0)
            return rc;
        text += n + (newline != NULL);
    }
    return 0;
}

const struct reader_ops reader_swf = { "swf", is_swf, read_swf };
