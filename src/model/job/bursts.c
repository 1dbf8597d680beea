#include "model/job/bursts.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "model/job/job_spec.h"

void bursts_begin(struct bursts *b, int64_t since_ms)
{
    *b = (struct bursts){ { { since_ms, since_ms } }, 1, true, since_ms };
}

/* As the scheduler does: of too many, it worked between the first two as well. */
static void add_burst(struct bursts *b, int64_t from_ms, int64_t to_ms)
{
    if (b->n == BURSTS) {
        b->at[1].from_ms = b->at[0].from_ms;
        memmove(&b->at[0], &b->at[1], (BURSTS - 1) * sizeof(*b->at));
        b->n--;
    }
    b->at[b->n++] = (struct burst){ from_ms, to_ms };
}

/* Time that nobody saw. */
static void add_gap(struct bursts *b, int64_t now_ms)
{
    if (now_ms < b->seen_ms) /* no time of before means anything */
        *b = (struct bursts){ { { now_ms, now_ms } }, 1, b->busy, now_ms };
    else if (now_ms - b->seen_ms > BURSTS_GAP_MS && !b->busy)
        add_burst(b, b->seen_ms, now_ms);
}

bool bursts_note(struct bursts *b, int64_t now_ms, int milli)
{
    bool idle = milli <= WORK_IDLE, changed;

    if (milli < 0)
        return false;
    add_gap(b, now_ms);
    changed = idle == b->busy;
    if (changed && idle)
        b->at[b->n - 1].to_ms = MAX(now_ms, b->at[b->n - 1].from_ms);
    else if (changed)
        add_burst(b, now_ms, now_ms);
    b->busy = !idle;
    b->seen_ms = now_ms;
    return changed;
}

int64_t bursts_idle_ms(const struct bursts *b, int64_t now_ms)
{
    bool unknown = b->n == 0 || now_ms - b->seen_ms > BURSTS_GAP_MS;

    return b->busy || unknown ? 0 : b->at[b->n - 1].to_ms;
}

/* ---- as a text ---- */

/* "100-170" or "300-" at *at, which moves behind it. */
static bool read_burst(const char **at, struct burst *ret, bool *open)
{
    uint64_t from = 0, to = 0;
    int n = parse_digits(*at, 10, 18, &from);

    if (n == 0 || (*at)[n] != '-')
        return false;
    *at += n + 1;
    n = parse_digits(*at, 10, 18, &to);
    *at += n;
    *open = n == 0;
    *ret = (struct burst){ (int64_t)from, (int64_t)(*open ? from : to) };
    return *open || to >= from;
}

void bursts_read(struct bursts *b, const char *text, int64_t since_ms)
{
    const char *at = text;

    *b = (struct bursts){ .n = 0 };
    while (b->n < BURSTS && !b->busy && read_burst(&at, &b->at[b->n], &b->busy)) {
        b->n++;
        at += *at == ' ';
    }
    if (*at || b->n == 0)
        bursts_begin(b, since_ms);
}

void bursts_write(const struct bursts *b, char *text, size_t size)
{
    size_t len = 0;

    for (int i = 0; i < b->n && len < size; i++) {
        bool open = i == b->n - 1 && b->busy;

        len += (size_t)snprintf(text + len, size - len, "%s%lld-", i ? " " : "",
                                (long long)b->at[i].from_ms);
        if (!open && len < size)
            len += (size_t)snprintf(text + len, size - len, "%lld", (long long)b->at[i].to_ms);
    }
}
