/* Every allocation of the store failing once, SQLite's among them; of "few" one in 29. */
#include <errno.h>
#include <malloc.h>

#include "base/compiler.h"
#include "oom.h"
#include "stored.h"

int EXPORT fdatasync(int fd);

/* SQLite's own calls come here: nothing of this test outlives it, and 38,000 of them take most of
 * its time. */
int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

static void *give(int n)
{
    return malloc((size_t)n);
}

static void *give_again(void *old, int n)
{
    return realloc(old, (size_t)n);
}

static int size_of(void *p)
{
    return (int)malloc_usable_size(p);
}

static int round_up(int n)
{
    return (n + 7) & ~7;
}

static int nothing(void *arg)
{
    (void)arg;
    return SQLITE_OK;
}

static void no_end(void *arg)
{
    (void)arg;
}

static int tick_at(struct stored *s, int second, struct err *e)
{
    struct event *event;

    tick_begin(&s->tick, second * S_NS, second * S_NS);
    stored_row(s, "vda", second, second);
    stored_row(s, "vdb", 1, 1);
    event = tick_event(&s->tick, "oom", SEVERITY_NOTE, second);
    return event ? store_tick(s->store, &s->tick, e) : -ENOMEM;
}

/* Open, three ticks, one of which ends a bucket; what failed first. */
static int write_some(struct stored *s, struct err *e)
{
    static const int seconds[] = { 1000, 1001, 1061 };
    int rc = stored_open(s, e);

    for (size_t i = 0; i < ARRAY_SIZE(seconds) && rc == 0; i++)
        rc = tick_at(s, seconds[i], e);
    return rc;
}

static void test_write(int stride)
{
    struct stored s;
    bool failed;

    stored_make(&s);
    tick_begin(&s.tick, 0, 0);
    stored_row(&s, "vda", 0, 0);
    stored_row(&s, "vdb", 0, 0); /* the tick's own memory is there */
    ok(tick_event(&s.tick, "oom", SEVERITY_NOTE, 0) != NULL, "tick_event adds an event");
    oom_restart();
    do {
        struct err e = { "" };
        int rc, again = 0;

        stored_close(&s);
        unlink(s.path);
        oom_at += stride - 1;
        oom_next();
        rc = write_some(&s, &e);
        failed = oom_end();
        if (s.store)
            again = tick_at(&s, 1100, &e);
        if ((rc != 0 && rc != -ENOMEM) || (!failed && rc != 0) || again != 0)
            ok(false, "the store with allocation %d failing returns %d, then %d: %s", oom_at, rc,
               again, e.text);
    } while (failed);
    ok(oom_at > 100, "of %d allocations each may fail, in steps of %d", oom_at - 1, stride);
    is_str(ask(&s, "SELECT count(*) FROM disk_1s"), "7", "at the end all is there");
    stored_remove(&s);
}

static int see(void *arg, const char *a, const char *b)
{
    (void)arg;
    (void)a;
    (void)b;
    return 0;
}

static int read_some(struct stored *s, struct err *e)
{
    double out[20];
    int rc = store_reader_open(&s->reader, s->path, e);

    if (rc == 0)
        rc = store_things(s->reader, "disk", see, NULL, e);
    if (rc == 0)
        rc = store_series(
            s->reader, &(struct store_query){ "disk", "vda", "busy", NULL, 1000000, 1020000, 1000 },
            out, e);
    return rc;
}

static void test_read(int stride)
{
    struct stored s;
    bool failed;

    stored_make(&s);
    for (int i = 0; i < 20; i++)
        put(&s, 1000 + i, i, i);
    oom_restart();
    do {
        struct err e = { "" };
        int rc;

        oom_at += stride - 1;
        oom_next();
        rc = read_some(&s, &e);
        failed = oom_end();
        store_reader_close(s.reader);
        s.reader = NULL;
        if ((rc != 0 && rc != -ENOMEM) || (!failed && rc != 0))
            ok(false, "the reader with allocation %d failing returns %d: %s", oom_at, rc, e.text);
    } while (failed);
    ok(oom_at > 20, "of %d allocations of a reader each may fail", oom_at - 1);
    stored_remove(&s);
}

int main(int argc, char **argv)
{
    int stride = argc > 1 && !strcmp(argv[1], "few") ? 29 : 1;
    sqlite3_mem_methods ours = { give, free, give_again, size_of, round_up, nothing, no_end, NULL };

    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK) {
        printf("Bail out! sqlite3_config\n");
        return 1;
    }
    test_write(stride);
    test_read(stride);
    return done();
}
