/* Files that cannot be used, disks that are full, rows that are too old. */
#include <errno.h>
#include <glob.h>
#include <sys/mount.h>

#include "stored.h"

static int count_files(const struct stored *s, const char *pattern)
{
    char path[2 * PATH_MAX];
    glob_t found = { 0 };
    int n;

    snprintf(path, sizeof(path), "%s%s", s->path, pattern);
    glob(path, 0, NULL, &found);
    n = (int)found.gl_pathc;
    globfree(&found);
    return n;
}

static void fill(struct stored *s, int n)
{
    for (int i = 0; i < n; i++)
        put(s, 1000 + i, i, i);
}

static void overwrite(const struct stored *s, long at, size_t n)
{
    FILE *f = fopen(s->path, "r+e");

    folder_need(f ? 0 : -1, s->path);
    fseek(f, at, SEEK_SET);
    for (size_t i = 0; i < n; i++)
        fputc(0x5a, f);
    fclose(f);
}

static void test_damaged(void)
{
    struct stored s;
    struct err e = { "" };
    int rc = 0;

    stored_make(&s);
    stored_close(&s);
    folder_text(s.folder, "a/b/store.db", "this is a letter and no database, for all that we know");
    ok(stored_open(&s, &e) == 0, "a file that is no database does not stop the store %s", e.text);
    is_int(count_files(&s, ".damaged-1000"), 1,
           "a file that is no database is kept under another name");
    ok(strstr(store_note(s.store), ".damaged-1000, and a new one begun") != NULL,
       "the note names the file that is kept and the new one");
    fill(&s, 400);
    stored_close(&s);
    overwrite(&s, 0, 200);
    ok(stored_open(&s, &e) == 0, "a file with a broken head does not stop the store");
    fill(&s, 2000);
    stored_close(&s);
    overwrite(&s, 4096, 300000);
    rc = stored_open(&s, &e);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = stored_tick(&s, 5000 + i, i, i, &e);
    ok(rc == -EUCLEAN || rc == 0, "one that is found broken later: %d %s", rc, e.text);
    ok(stored_tick(&s, 5010, 1, 1, &e) == 0, "a file that is found broken later is begun anew: %s",
       e.text);
    is_str(ask(&s, "PRAGMA quick_check"), "ok",
           "the file that was begun anew passes SQLite's quick check");
    stored_remove(&s);
}

static void test_foreign(void)
{
    struct stored s;
    struct err e = { "" };
    struct store *other = NULL;

    stored_make(&s);
    is_int(store_open(&other, s.path, NULL, 0, &e), -EBUSY, "one agent alone opens a file");
    ok(strstr(e.text, "is in use by another agent: stop that one, or give this one another path"),
       "the error names the other agent: %s", e.text);
    stored_close(&s);
    unlink(s.path);
    stored_query(&s, "CREATE TABLE mine(x)");
    is_int(stored_open(&s, &e), -EEXIST, "another program's database is left alone: %s", e.text);
    is_str(ask(&s, "SELECT count(*) FROM mine"), "0",
           "the database of another program stays as it was");
    stored_remove(&s);
}

static void test_deleted(void)
{
    struct stored s;

    stored_make(&s);
    put(&s, 1000, 1, 1);
    stored_reader(&s);
    ok(unlink(s.path) == 0, "the file is deleted");
    put(&s, 1059, 2, 2);
    is_str(store_note(s.store), "", "nobody looks for the file again within a minute");
    put(&s, 1060, 2, 2);
    ok(strstr(store_note(s.store), "was deleted") != NULL,
       "the note names that the file was deleted");
    is_str(ask(&s, "SELECT group_concat(busy) FROM disk_1s"), "2.0",
           "a new file replaces the deleted one and has the next tick");
    ok(store_series(s.reader,
                    &(struct store_query){ "disk", "vda", "busy", NULL, 1060000, 1061000, 1000 },
                    &(double){ 0 }, NULL) == 0,
       "the reader goes along");
    stored_remove(&s);
}

static void test_locked(void)
{
    struct stored s;
    struct err e = { "" };
    sqlite3 *db = NULL;

    stored_make(&s);
    put(&s, 1000, 1, 1);
    ok(sqlite3_open(s.path, &db) == SQLITE_OK &&
           sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK,
       "somebody begins to write");
    is_int(stored_tick(&s, 1001, 2, 2, &e), -EBUSY, "a tick fails: %s", e.text);
    sqlite3_close(db);
    put(&s, 1002, 3, 3);
    is_str(ask(&s, "SELECT group_concat(busy) FROM disk_1s"), "1.0,3.0", "the next one works");
    stored_remove(&s);
}

/* A tick with a disk that was not there before. */
static int tick_new(struct stored *s, int64_t second)
{
    tick_begin(&s->tick, second * S_NS, second * S_NS);
    stored_row(s, "vdz", 1, (double)second);
    return store_tick(s->store, &s->tick, NULL);
}

/* On a disk of 1 MiB. */
static void test_full(void)
{
    struct stored s;
    struct err e = { "" };
    int rc = 0, last = 0;

    stored_make(&s);
    if (mount("none", s.folder, "tmpfs", 0, "size=1m") < 0) {
        ok(true, "a small disk cannot be made here # SKIP not root");
        stored_remove(&s);
        return;
    }
    stored_reopen(&s);
    for (int i = 0; i < 200000 && rc == 0; i++) {
        rc = stored_tick(&s, 1000 + i, i, i, &e);
        last = rc == 0 ? 1000 + i : last;
    }
    is_int(rc, -ENOSPC, "a full disk stops the store: %s", e.text);
    is_int(tick_new(&s, 300000), -ENOSPC, "a full disk stays full");
    {
        char want[32];

        snprintf(want, sizeof(want), "%d", last);
        is_str(ask(&s, "SELECT max(t) / 1000 FROM disk_1s"), want, "nothing stored is lost");
    }
    ok(mount("none", s.folder, "tmpfs", MS_REMOUNT, "size=8m") == 0, "there is room again");
    ok(tick_new(&s, 300001) == 0, "the next tick works");
    is_str(ask(&s, "SELECT group_concat(name) FROM disk_1s JOIN thing ON thing.id = thing"
                   " WHERE t = 300001000"),
           "vda,vdz", "a thing of a tick that failed has a name");
    is_str(ask(&s, "PRAGMA integrity_check"), "ok", "the file is whole");
    stored_close(&s);
    umount2(s.folder, MNT_DETACH);
    stored_remove(&s);
}

static void test_read_only(void)
{
    struct stored s;
    struct err e = { "" };
    int rc;

    stored_make(&s);
    stored_close(&s);
    if (mount("none", s.folder, "tmpfs", MS_RDONLY, "size=1m") < 0) {
        ok(true, "a read-only disk cannot be made here # SKIP not root");
        stored_remove(&s);
        return;
    }
    rc = stored_open(&s, &e);
    is_int(rc, -EROFS, "a folder that cannot be made: %s", e.text);
    ok(mount("none", s.folder, "tmpfs", MS_REMOUNT, NULL) == 0, "the disk becomes writable again");
    stored_must_open(&s);
    put(&s, 1000, 1, 1);
    stored_close(&s);
    ok(mount("none", s.folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) == 0,
       "the disk becomes read-only again");
    is_int(stored_open(&s, &e), -EROFS, "a file that cannot be written: %s", e.text);
    umount2(s.folder, MNT_DETACH);
    stored_remove(&s);
}

static void test_age(void)
{
    struct stored s;

    stored_make(&s);
    s.config = (struct store_config){ .keep_s = { 100, 200, 600 } };
    stored_reopen(&s);
    for (int i = 0; i < 1500; i++)
        put(&s, 1200 + i, i, i);
    is_str(ask(&s, "SELECT min(t) / 1000 BETWEEN 2530 AND 2600 FROM disk_1s"), "1",
           "rows go when they are too old");
    is_str(ask(&s, "SELECT min(t) / 1000 BETWEEN 2430 AND 2500 FROM disk_10s"), "1",
           "rows of 10 s go later than those of 1 s");
    is_str(ask(&s, "SELECT min(t) / 1000 BETWEEN 2010 AND 2100 FROM disk_1m"), "1",
           "rows of one minute stay longest");
    stored_remove(&s);
}

static void put_event(struct stored *s, int64_t second)
{
    struct event *ev;

    tick_begin(&s->tick, second * S_NS, second * S_NS);
    stored_row(s, "vda", 1, 1);
    ev = tick_event(&s->tick, "xid", SEVERITY_NOTE, 79);
    folder_need(ev ? 0 : -1, "tick_event");
    snprintf(ev->thing, sizeof(ev->thing), "vda");
    ok(store_tick(s->store, &s->tick, NULL) == 0, "an event of second %lld is stored",
       (long long)second);
}

/* Ticks that only let time pass: one in so many seconds, as many as all things need. */
static void pass(struct stored *s, int64_t from, int64_t to, int64_t step)
{
    for (int64_t second = from; second <= to; second += step)
        put(s, second, (double)second, (double)second);
}

static void test_old_events_and_things(void)
{
    const int64_t day = 86400;
    struct stored s;

    stored_make(&s);
    s.config = (struct store_config){ .keep_s = { 100, 200, day } };
    stored_reopen(&s);
    ok(put_slow(&s, 1200, 1) == 0, "a thing that is seen once is stored");
    put_event(&s, 1300);
    put_event(&s, 1300 + day);
    pass(&s, 1400 + day, 1600 + day, 1);
    is_str(ask(&s, "SELECT group_concat(t / 1000) FROM event"), "87700",
           "events go when the minutes of their time have gone, and those of later stay");
    is_str(ask(&s, "SELECT count(*) FROM thing WHERE set_name = 'slow'"), "1",
           "a thing that is gone stays for two days more than its rows");
    pass(&s, 1000 + 3 * day, 1100 + 3 * day, 1);
    is_str(ask(&s, "SELECT count(*) FROM thing WHERE set_name = 'slow'"), "1",
           "a thing stays until the two days are over");
    pass(&s, 1300 + 3 * day, 1500 + 3 * day, 1);
    is_str(ask(&s, "SELECT count(*) FROM thing WHERE set_name = 'slow'"), "0",
           "a thing goes when the two days are over");
    is_str(ask(&s, "SELECT count(*) FROM thing WHERE set_name = 'disk'"), "1",
           "a thing that is seen stays");
    stored_remove(&s);
}

static void test_size(void)
{
    struct stored s;
    struct stat st;

    stored_make(&s);
    s.config = (struct store_config){ .max_bytes = 600000 };
    stored_reopen(&s);
    for (int i = 0; i < 20000; i++)
        put(&s, 1200 + i, i * 0.1, i * 0.1);
    folder_need(stat(s.path, &st), s.path);
    ok(st.st_size < 600000, "a file has its size: %ld", (long)st.st_size);
    is_str(ask(&s, "SELECT min(t) / 1000 BETWEEN 10000 AND 17700 FROM disk_1s"), "1",
           "the oldest rows go, the last hour stays");
    is_str(ask(&s, "SELECT min(t) / 1000 FROM disk_10s"), "1200", "rows of 10 s stay for a day");
    is_str(ask(&s, "PRAGMA integrity_check"), "ok", "the file is whole");
    stored_remove(&s);
}

static void put_many(struct stored *s, int64_t second)
{
    tick_begin(&s->tick, second * S_NS, second * S_NS);
    for (int i = 0; i < 40; i++) {
        char name[16];

        snprintf(name, sizeof(name), "d%02d", i);
        stored_row(s, name, (double)second * 0.1 + i, (double)second * i);
    }
    folder_need(store_tick(s->store, &s->tick, NULL), "store_tick");
}

/* What was deleted is given back, a little with each tick, until few are left for new rows. */
static void test_given_back(void)
{
    struct stored s;
    int free_pages = 0, most = 0;

    stored_make(&s);
    for (int i = 0; i < 300; i++)
        put_many(&s, 1200 + i);
    is_str(ask(&s, "PRAGMA freelist_count"), "0", "a file of which nothing was deleted is full");
    s.config = (struct store_config){ .keep_s = { 60, 120, 180 } };
    stored_reopen(&s);
    for (int i = 0; i < 60; i++) {
        put(&s, 2000 + i, i, i);
        free_pages = (int)strtol(ask(&s, "PRAGMA freelist_count"), NULL, 10);
        most = MAX(most, free_pages);
    }
    ok(most > 64, "up to 64 free pages are kept for the next rows: %d were", most);
    ok(most < 64 + 16, "more free pages than 64 go with the next tick: %d were", most);
    ok(free_pages > 64 - 16, "free pages are given back a few at a time: %d are left", free_pages);
    is_str(ask(&s, "PRAGMA integrity_check"), "ok", "the file is whole");
    stored_remove(&s);
}

int main(void)
{
    test_damaged();
    test_foreign();
    test_deleted();
    test_locked();
    test_full();
    test_read_only();
    test_age();
    test_old_events_and_things();
    test_size();
    test_given_back();
    return done();
}
