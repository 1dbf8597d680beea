#include "cmd/control/look.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "cmd/control/show.h"

enum { OUTPUT_MAX = 64 << 20 };

static int once(struct control_session *s, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    struct cycle_view v;
    int64_t now_ms;
    int rc = control_book_lead(s->book, e);

    if (rc == 0)
        return err_set(e, -EBUSY, "another brim control leads: %s", control_book_leader(s->book));
    if (rc > 0)
        rc = control_session_cycle(s, &v, e);
    if (rc < 0)
        return rc;
    now_ms = clock_wall_ns(s->app->clock) / NS_PER_MS;
    if (s->o->json)
        show_cycle_json(s->control, &v, now_ms, &out);
    else
        show_cycle(s->control, &v, now_ms, &out);
    return cmd_print(&out, s->o->json, e);
}

/* A sentence is logged when it says something else than the one before. */
static void tell(const struct cycle_view *v, struct str *last)
{
    CLEANUP(str_done) struct str now = STR_INIT(1024);

    show_sentence(v, &now);
    if (str_error(&now) || !strcmp(str_text(&now), str_text(last)))
        return;
    log_info("%s", str_text(&now));
    str_done(last);
    *last = (struct str)STR_INIT(1024);
    str_add(last, str_text(&now));
}

/* The hook of job_submit holds jobs for a control that was there a moment ago, and gives them their
 * places: the time in seconds, in the file "alive". */
static void show_life(const struct control_session *s, bool lives)
{
    char path[PATH_MAX], text[32];
    struct err why = { "" };
    int len = snprintf(text, sizeof(text), "%lld\n",
                       (long long)(clock_wall_ns(s->app->clock) / NS_PER_S));

    if (s->config.mode[CONTROL_PLACING] != CONTROL_ACT ||
        snprintf(path, sizeof(path), "%s/alive", s->folder) >= (int)sizeof(path))
        return;
    if (!lives)
        (void)unlink(path);
    else if (file_write(path, text, (size_t)len, &why) < 0)
        log_warning("%s: jobs are not held for their places", why.text);
}

/* Whether this one leads; who does is logged when that changes. */
static bool leads(struct control_session *s, char leader[CONTROL_TEXT])
{
    struct err why = { "" };
    int rc = control_book_lead(s->book, &why);

    if (rc < 0)
        log_warning("%s", why.text);
    if (rc == 0 && strcmp(leader, control_book_leader(s->book)) != 0)
        log_info("brim control of %s leads: waits", control_book_leader(s->book));
    else if (rc == 1 && *leader && strcmp(leader, control_book_leader(s->book)) != 0)
        log_info("leads by now");
    if (rc >= 0)
        snprintf(leader, CONTROL_TEXT, "%s", control_book_leader(s->book));
    return rc == 1;
}

/* Until SIGTERM or SIGINT. */
static int go_on(struct control_session *s, struct err *e)
{
    CLEANUP(str_done) struct str last = STR_INIT(1024);
    char leader[CONTROL_TEXT] = "";
    const struct timespec pause = { s->o->every_ns / NS_PER_S, s->o->every_ns % NS_PER_S };
    sigset_t ends;
    int rc;

    s->page_config = (struct page_config){ &s->o->page, s->where, s->folder, s->o->mode,
                                           s->app->clock };
    rc = page_open(&s->page, &s->page_config, e);
    s->door_config = (struct door_config){ .path = s->o->door,
                                           .where = s->where,
                                           .conf = s->o->conf,
                                           .patience_ms = s->o->patience_ns / NS_PER_MS,
                                           .own = s->o->page.own };
    if (rc == 0 && s->o->door)
        rc = door_open(&s->door, &s->door_config, e);
    if (rc < 0)
        return rc;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    log_info("reads the cluster by %s; %s", slurm_how(s->slurm), s->o->mode);
    do {
        struct cycle_view v = { .stopped = true };
        struct err why = { "" };

        if (!leads(s, leader))
            continue;
        if (control_session_cycle(s, &v, &why) < 0) {
            log_warning("%s", why.text);
            page_trouble(s->page, why.text);
        } else {
            tell(&v, &last);
            page_show(s->page, s->control);
        }
        show_life(s, !*why.text && !v.stopped);
    } while (sigtimedwait(&ends, NULL, &pause) < 0);
    show_life(s, false);
    return EXIT_OK;
}

static int with_session(struct control_session *s,
                        int (*fn)(struct control_session *s, struct err *e), struct err *e)
{
    int rc;

    (void)signal(SIGPIPE, SIG_IGN); /* what an agent that goes away would send */
    rc = control_session_open(s, e);
    if (rc == 0)
        rc = fn(s, e);
    control_session_close(s);
    return rc;
}

int control_once(struct control_session *s, struct err *e)
{
    log_set_level("warning");
    return with_session(s, once, e);
}

int control_run(struct control_session *s, struct err *e)
{
    log_set_level(s->o->log);
    if (used_open(&s->used) < 0)
        return err_nomem(e);
    return with_session(s, go_on, e);
}
