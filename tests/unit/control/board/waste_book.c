/* What GPUs' time went into, over looks, gaps and restarts. */
#include "control/board/waste_book.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/book.h"
#include "tap.h"

static const int64_t minute = 60000, hour = 3600000;

static char folder[] = "/tmp/brim-t-waste-XXXXXX";
static const int64_t start = INT64_C(500000) * 3600000;

static const char hostile[] =
    "'); DROP TABLE waste; -- and more than a row has room for, so that it is cut in both places";

/* Four idle ones and two that work, of a kind; one that is drained, of another. */
static void look(struct waste_book *w, int64_t ms)
{
    struct board b = { .now_ms = ms, .kinds = { "h100", hostile }, .n_kinds = 2 };

    b.used[0][BOARD_IDLE] = 4;
    b.used[0][BOARD_WORKS] = 2;
    b.used[1][BOARD_DRAINED] = 1;
    is_int(waste_book_add(w, &b, NULL), 0, "a look is added");
}

static void is_hours(const struct waste_sums *s, size_t kind, enum board_use use, double want,
                     const char *what)
{
    ok(kind < s->n && fabs(s->kinds[kind].hours[use] - want) < 1e-6, "%s: %g hours", what, want);
}

static size_t kind_named(const struct waste_sums *s, const char *name)
{
    size_t i = 0;

    while (i < s->n && strncmp(s->kinds[i].kind, name, strlen(s->kinds[i].kind)) != 0)
        i++;
    return i;
}

static void test_looks(void)
{
    CLEANUP(waste_book_closep) struct waste_book *w = NULL;
    const struct waste_sums *all;
    struct waste_sums late;
    struct err e = { "" };

    is_int(waste_book_open(&w, folder, &e), 0, "the book is opened%s", e.text);
    all = waste_book_all(w);
    ok(all->n == 0 && all->since_ms == 0, "a new book has no hours");
    look(w, start);
    ok(all->n == 0, "the first look tells nothing of the time before");
    look(w, start + minute);
    look(w, start + 3 * minute);
    is_hours(all, 0, BOARD_IDLE, 4 * 3 / 60.0, "idle GPUs of three minutes");
    is_hours(all, 0, BOARD_WORKS, 2 * 3 / 60.0, "GPUs at work for three minutes");
    is_hours(all, 1, BOARD_DRAINED, 3 / 60.0, "a GPU that is drained for three minutes");
    is_int((int)all->n, 2, "a kind whose name is too long is one");
    look(w, start + 2 * hour);
    is_hours(all, 0, BOARD_IDLE, 4 * 3 / 60.0, "a gap of two hours counts for nothing");
    look(w, start + hour);
    is_hours(all, 0, BOARD_IDLE, 4 * 3 / 60.0, "a clock that goes back counts for nothing");
    look(w, start + hour + minute);
    is_hours(all, 0, BOARD_IDLE, 4 * 4 / 60.0, "it goes on after that");
    is_int(waste_book_since(w, start + hour + 30 * minute, &late, NULL), 0, "a part is read");
    is_hours(&late, kind_named(&late, "h100"), BOARD_IDLE, 4 / 60.0, "the last hour alone");
    ok(all->since_ms == start && late.since_ms == start + hour, "the first hour of each is told");
}

static void test_restart(void)
{
    CLEANUP(waste_book_closep) struct waste_book *w = NULL;
    const struct waste_sums *all;

    is_int(waste_book_open(&w, folder, NULL), 0, "the book is opened again");
    all = waste_book_all(w);
    is_hours(all, kind_named(all, "h100"), BOARD_IDLE, 4 * 4 / 60.0, "idle GPUs of before");
    is_hours(all, kind_named(all, hostile), BOARD_DRAINED, 4 / 60.0,
             "a kind whose name would be SQL is text");
    look(w, start + hour + 2 * minute);
    is_hours(all, kind_named(all, "h100"), BOARD_IDLE, 4 * 4 / 60.0,
             "what was while no control ran counts for nothing");
    look(w, start + hour + 3 * minute);
    is_hours(all, kind_named(all, "h100"), BOARD_IDLE, 4 * 5 / 60.0,
             "hours go on behind those of before");
    is_hours(all, kind_named(all, hostile), BOARD_DRAINED, 5 / 60.0,
             "hours of a kind with a long name go on");
    is_int((int)all->n, 2, "no kind is there twice");
}

static void test_no_book(void)
{
    struct waste_book *w = NULL;
    struct err e = { "" };

    ok(waste_book_open(&w, "/nonexistent", &e) < 0 && *e.text, "a book that is not there is an "
                                                               "error");
}

int main(void)
{
    static const char *const names[] = { "control.db", "control.db-wal", "control.db-shm", "lock" };
    CLEANUP(control_book_closep) struct control_book *book = NULL;
    char path[100];

    if (!mkdtemp(folder))
        return 1;
    is_int(control_book_open(&book, folder, true, NULL), 0, "a control begins its book");
    test_looks();
    test_restart();
    test_no_book();
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    return done();
}
