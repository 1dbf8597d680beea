#include "control/book_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/open.h"

enum { VERSION = 2 };

/* What both kinds of databases read; their own ways to number actions are put in. */
#define TABLES(number) \
    "CREATE TABLE IF NOT EXISTS job (id BIGINT PRIMARY KEY, start_ms BIGINT, used TEXT," \
    " seen_ms BIGINT, told_ms BIGINT);" \
    "CREATE TABLE IF NOT EXISTS action (id " number ", t BIGINT," \
    " kind BIGINT, job BIGINT, start_ms BIGINT, restarts BIGINT, other BIGINT," \
    " devices BIGINT, state BIGINT, \"user\" TEXT, reason TEXT, outcome TEXT," \
    " node TEXT NOT NULL DEFAULT '', account TEXT NOT NULL DEFAULT '');" \
    "CREATE INDEX IF NOT EXISTS action_of ON action (job, start_ms, kind);" \
    "CREATE INDEX IF NOT EXISTS action_at ON action (kind, t);" \
    "CREATE TABLE IF NOT EXISTS node (name TEXT PRIMARY KEY, unfit_ms BIGINT, fit_ms BIGINT);" \
    "CREATE TABLE IF NOT EXISTS switch (name TEXT PRIMARY KEY, value BIGINT);"

static const char file_tables[] = TABLES("INTEGER PRIMARY KEY AUTOINCREMENT");
/* Since version 2 nodes are acted on as well. */
static const char to_second[] = "ALTER TABLE action ADD COLUMN node TEXT NOT NULL DEFAULT '';"
                                "ALTER TABLE action ADD COLUMN account TEXT NOT NULL DEFAULT ''";

static const char shared_tables[] = TABLES(
    "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY") "INSERT INTO switch VALUES"
                                                       " ('version', 2) ON CONFLICT (name) DO "
                                                       "NOTHING;";

static const char switch_text[] = "SELECT value FROM switch WHERE name = $1";
static const char set_text[] = "INSERT INTO switch (name, value) VALUES ($1, $2)"
                               " ON CONFLICT (name) DO UPDATE SET value = $2";

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t); /* goes on while the machine is suspended */
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* ---- opening ---- */

/* Who may write there may approve: nobody else is to. */
static int check_folder(const char *folder, struct err *e)
{
    struct stat st;

    if (stat(folder, &st) < 0)
        return err_set(e, -errno, "cannot look at %s: %m", folder);
    if (st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return 0;
    return err_set(e, -EPERM,
                   "others may write in %s, and could approve what they want: chmod "
                   "700, or take another folder",
                   folder);
}

static int lock(struct control_book *b, const char *folder, struct err *e)
{
    char path[PATH_MAX];
    int rc;

    if (snprintf(path, sizeof(path), "%s/lock", folder) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "the name of %s is too long", folder);
    b->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (b->lock < 0)
        return err_set(e, -errno, "cannot open %s: %m", path);
    if (flock(b->lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
    return rc == -EBUSY ? err_set(e, rc, "another brim control has %s and leads", folder)
                        : err_set(e, rc, "cannot lock %s: %m", path);
}

static int later(const struct control_book *b, struct err *e)
{
    return err_set(e, -EUCLEAN, "%s is of a later brim: take another one", b->path);
}

static int prepare_file(struct control_book *b, struct err *e)
{
    static const char text[] = "PRAGMA user_version";
    int64_t version = 0;
    int rc = db_number(b->db, text, NULL, 0, &version, e);

    if (rc < 0 || version == VERSION)
        return MIN(rc, 0);
    if (version > VERSION)
        return later(b, e);
    rc = db_begin(b->db, e);
    if (rc == 0) /* another control may have done so meanwhile */
        rc = MIN(db_number(b->db, text, NULL, 0, &version, e), 0);
    if (rc == 0 && version == 1)
        rc = db_script(b->db, to_second, e);
    if (rc == 0)
        rc = db_script(b->db, file_tables, e);
    if (rc == 0)
        rc = db_script(b->db, "PRAGMA user_version = 2", e);
    return rc == 0 ? db_commit(b->db, e) : rc;
}

/* Two that make them at once are one after the other. */
static int prepare_shared(struct control_book *b, struct err *e)
{
    const struct db_value name = { .text = "version" };
    int64_t version = VERSION;
    int rc = db_begin(b->db, e);

    if (rc == 0)
        rc = db_script(b->db, "SELECT pg_advisory_xact_lock(1651664237)", e); /* "brim" */
    if (rc == 0)
        rc = db_script(b->db, shared_tables, e);
    if (rc == 0)
        rc = lease_prepare(b->db, e);
    if (rc == 0)
        rc = db_commit(b->db, e);
    if (rc == 0)
        rc = db_number(b->db, switch_text, &name, 1, &version, e);
    if (rc >= 0 && version > VERSION)
        return later(b, e);
    return MIN(rc, 0);
}

static int open_file_in(struct control_book *b, const char *folder, bool act, struct err *e)
{
    int rc;

    if (snprintf(b->path, sizeof(b->path), "%s/control.db", folder) >= (int)sizeof(b->path))
        return err_set(e, -ENAMETOOLONG, "the name of %s is too long", folder);
    rc = act ? open_folder(folder, e) : 0;
    if (rc < 0)
        return rc;
    if (act && mkdir(folder, 0700) < 0 && errno != EEXIST)
        return err_set(e, -errno, "cannot make %s: %m", folder);
    if (act)
        rc = check_folder(folder, e);
    if (act && rc == 0)
        rc = lock(b, folder, e);
    if (rc == 0)
        rc = db_open(&b->db, b->path, act, e);
    if (rc == -ENOENT && !act)
        return err_set(e, rc, "there is no %s: brim control has not run with this folder", b->path);
    return rc == 0 ? prepare_file(b, e) : rc;
}

static int open_shared(struct control_book *b, const char *address, bool act, struct err *e)
{
    char host[LEASE_NAME] = "";
    uint64_t random = 0;
    int rc;

    snprintf(b->path, sizeof(b->path), "the book in PostgreSQL");
    if (gethostname(host, sizeof(host) - 1) < 0 ||
        getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return err_set(e, -errno, "cannot make a name of this control: %m");
    lease_name(&b->lease, host, getpid(), random);
    rc = db_open(&b->db, address, act, e);
    b->leased = act;
    return rc == 0 ? prepare_shared(b, e) : rc;
}

int control_book_open(struct control_book **ret, const char *where, bool act, struct err *e)
{
    CLEANUP(control_book_closep) struct control_book *b = calloc(1, sizeof(*b));
    int rc;

    if (!b)
        return err_nomem(e);
    b->lock = -1;
    rc = db_is_address(where) ? open_shared(b, where, act, e) : open_file_in(b, where, act, e);
    if (rc == 0)
        *ret = steal(&b);
    return rc;
}

void control_book_close(struct control_book *b)
{
    if (!b)
        return;
    if (b->begun)
        db_undo(b->db);
    if (b->leased && b->db)
        lease_give(&b->lease, b->db);
    db_close(b->db);
    if (b->lock >= 0)
        close(b->lock);
    free(b);
}

/* ---- who leads ---- */

int control_book_lead(struct control_book *b, struct err *e)
{
    int64_t now = now_ns();
    int rc = b->leased && lease_due(&b->lease, now) ? lease_ask(&b->lease, b->db, now, e) : 0;

    return rc < 0 ? rc : control_book_leads(b);
}

bool control_book_leads(const struct control_book *b)
{
    return !b->leased || lease_leads(&b->lease, now_ns());
}

const char *control_book_leader(const struct control_book *b)
{
    return b->lease.leader;
}

/* A cycle may take its time. What another one has had in between is not ours again: what this one
 * is about to store comes from before. */
static int renew(struct control_book *b, struct err *e)
{
    int64_t fence = b->lease.fence, now = now_ns();
    int rc = fence && lease_due(&b->lease, now) ? lease_ask(&b->lease, b->db, now, e) : 0;

    if (b->lease.fence != fence)
        b->lease.fence = 0;
    return MIN(rc, 0);
}

int control_book_begin(struct control_book *b, struct err *e)
{
    int rc = renew(b, e);

    if (rc == 0)
        rc = db_begin(b->db, e);
    b->begun = rc == 0;
    if (rc < 0 || !b->leased)
        return rc;
    rc = lease_hold(&b->lease, b->db, e);
    if (rc < 0)
        db_undo(b->db);
    b->begun = rc == 0;
    return rc;
}

int control_book_commit(struct control_book *b, struct err *e)
{
    b->begun = false;
    return db_commit(b->db, e);
}

/* ---- statements ---- */

int book_begin_alone(struct control_book *b, bool *alone, struct err *e)
{
    *alone = b->leased && !b->begun;
    return *alone ? control_book_begin(b, e) : 0;
}

int book_end_alone(struct control_book *b, bool alone, int rc, struct err *e)
{
    if (!alone || rc >= 0)
        return alone ? control_book_commit(b, e) : MIN(rc, 0);
    if (b->begun)
        db_undo(b->db);
    b->begun = false;
    return rc;
}

/* ---- the switch ---- */

int control_book_stopped(struct control_book *b, bool *ret, struct err *e)
{
    const struct db_value name = { .text = "stopped" };
    int64_t value = 0;
    int rc = db_number(b->db, switch_text, &name, 1, &value, e);

    if (rc >= 0)
        *ret = value != 0;
    return MIN(rc, 0);
}

int control_book_stop(struct control_book *b, bool stopped, struct err *e)
{
    const struct db_value values[] = { { .text = "stopped" }, { .number = stopped } };

    return db_run(b->db, set_text, values, ARRAY_SIZE(values), NULL, NULL, e);
}
