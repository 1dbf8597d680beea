#include "store/store.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "store/open.h"

enum { LOOK_S = 60 };

#define DAY_S INT64_C(86400)

DEFINE_CLEANUP(struct store, store_close)

static const struct store_config defaults = {
    .max_bytes = INT64_C(1) << 30,
    .keep_s = { DAY_S, 14 * DAY_S, 365 * DAY_S },
};

static void set_config(struct store_config *to, const struct store_config *from)
{
    *to = defaults;
    if (from && from->max_bytes > 0)
        to->max_bytes = from->max_bytes;
    for (size_t k = 0; k < STORE_TIERS; k++) {
        if (from && from->keep_s[k] > 0)
            to->keep_s[k] = from->keep_s[k];
        if (k > 0) /* a coarser tier is never shorter */
            to->keep_s[k] = MAX(to->keep_s[k], to->keep_s[k - 1]);
    }
}

int store_open(struct store **ret, const char *path, const struct store_config *config,
               int64_t wall_ns, struct err *e)
{
    CLEANUP(store_closep) struct store *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return err_nomem(e);
    s->lock_fd = -1;
    s->minute_oldest = s->minute_seen_min = NO_ROWS;
    s->minute_cut = NEVER;
    set_config(&s->config, config);
    rc = open_folder(path, e);
    if (rc != 0)
        return rc;
    snprintf(s->path, sizeof(s->path), "%s", path);
    s->lock_fd = open_lock(path, e);
    if (s->lock_fd < 0)
        return s->lock_fd;
    rc = open_file(s, wall_ns, e);
    if (rc == 0)
        *ret = steal(&s);
    return rc;
}

/* The last moment of things that did nothing. */
static int write_all_skipped(struct store *s)
{
    int code = sql_step(s->begin);

    for (size_t n = 0; n < s->n_sets && code == SQLITE_OK; n++)
        for (size_t i = 0; i < s->sets[n]->n_things && code == SQLITE_OK; i++)
            code = write_skipped(s->sets[n], s->sets[n]->things[i]);
    return code == SQLITE_OK ? sql_step(s->commit) : code;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    if (s->db && write_all_skipped(s) != SQLITE_OK && !sqlite3_get_autocommit(s->db))
        (void)sql_step(s->rollback);
    open_undo(s);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free(s->fates);
    free(s);
}

/* Whether the path still leads to the file that is open. */
static bool is_there(const struct store *s)
{
    struct stat now;

    return stat(s->path, &now) == 0 && now.st_ino == s->file.st_ino && now.st_dev == s->file.st_dev;
}

/* Begin anew where there is no file, or where the last try to did not work. */
static int look(struct store *s, const struct tick *t, struct err *e)
{
    bool due = t->monotonic_ns - s->looked_ns >= LOOK_S * NS_PER_S;
    int rc;

    if (s->db && !due)
        return 0;
    s->looked_ns = t->monotonic_ns;
    if (s->db && is_there(s))
        return 0;
    if (s->db)
        snprintf(s->note, sizeof(s->note), "%.300s was deleted: a new one is begun", s->path);
    open_undo(s);
    rc = open_folder(s->path, e);
    return rc != 0 ? rc : open_file(s, t->wall_ns, e);
}

static int run_tick(struct store *s, const struct tick *t, int64_t now_ms)
{
    int code = write_rows(s, t, now_ms);

    if (code == SQLITE_OK)
        code = write_events(s, t);
    if (code == SQLITE_OK)
        code = retain(s, now_ms, t->n_rows);
    return code == SQLITE_OK ? sql_step(s->commit) : code;
}

int store_tick(struct store *s, const struct tick *t, struct err *e)
{
    int64_t now_ms = t->wall_ns / NS_PER_MS;
    int code, rc = look(s, t, e);

    if (rc < 0)
        return rc;
    s->ticks++;
    code = run_tick(s, t, now_ms);
    if (code == SQLITE_OK) {
        write_remember(s, t, now_ms);
        return 0;
    }
    rc = sql_error(s->db, code, s->path, e);
    if (!sqlite3_get_autocommit(s->db))
        (void)sql_step(s->rollback);
    write_forget(s);
    if (rc == -EUCLEAN) {
        open_undo(s);
        /* where that fails the next tick opens what is there, and moves it aside */
        if (open_aside(s, "damaged", t->wall_ns, NULL) < 0)
            s->note[0] = 0;
    }
    return rc;
}

const char *store_note(struct store *s)
{
    snprintf(s->told, sizeof(s->told), "%s", s->note);
    s->note[0] = 0;
    return s->told;
}
