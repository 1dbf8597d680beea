/* What is told to the user. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "optimize/drive/drive_private.h"

void drive_say(struct drive *d, const char *fmt, ...)
{
    char text[DRIVE_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    d->c.say(d->c.arg, text);
}

/* A session counts groups of steps; people count steps. */
static void count_steps(struct drive *d)
{
    struct session *s = &d->session;

    for (unsigned i = 0; i < d->entries; i++) /* it was kept, and did not hold */
        if (s->entries[i].begin_ns && s->entries[i].outcome != d->progress.outcome[i])
            s->entries[i].end_ns = d->w.now_ns;
    for (; d->entries < s->n_entries; d->entries++) {
        struct session_entry *k = &s->entries[d->entries];

        if (k->outcome == SESSION_LEFT)
            continue;
        k->steps = (unsigned)(d->steps - d->begun);
        k->speed = drive_speed(d);
        k->at_step = (unsigned)d->steps;
        k->at_s = clock_seconds(d->w.now_ns - d->first_ns);
        k->begin_ns = d->begun_ns;
        k->end_ns = d->begun_ns ? d->w.now_ns : 0;
        d->begun_ns = 0;
    }
    if (d->begun_trial == s->trials)
        return;
    d->begun_trial = s->trials;
    d->begun = d->steps;
    d->begun_ns = d->w.now_ns;
    memset(d->power.pace, 0, sizeof(d->power.pace));
    d->did = (struct job_request_marks){ .did = { false } };
}

void drive_progress(struct drive *d)
{
    CLEANUP(str_done) struct str line = STR_INIT(4096);

    count_steps(d);
    while (progress_next(&d->progress, &d->session, &line)) {
        d->c.say(d->c.arg, str_text(&line));
        d->record.told++;
    }
    drive_kept(d);
}

void drive_off(struct drive *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(d->off, sizeof(d->off), fmt, ap);
    va_end(ap);
    d->state = DRIVE_OFF;
    drive_say(d, "%s", d->off);
}
