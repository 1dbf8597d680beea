/* Which processes there are, and how much each of them did lately. */
#include "probe/process/table.h"

#include <errno.h>

#include "folder.h"
#include "tap.h"

static DIR *folder_of(const char *root)
{
    DIR *d = opendir(root);

    folder_need(d ? 0 : -1, root);
    return d;
}

static void test_pids(void)
{
    static const char *const names[] = { "7",   "31",          "2147483647", "2147483648", "0",
                                         "12a", "99999999999", "self",       "-3",         "007",
                                         ":1",  "1",           "45",         "9",          "/" };
    static const pid_t want[] = { 1, 7, 9, 31, 45, 2147483647 };
    struct process_pids p = { .n = 0 };
    char root[PATH_MAX];
    bool same;
    DIR *d;

    folder_make(root);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (names[i][0] != '/')
            folder_folder(root, names[i]);
    d = folder_of(root);
    ok(!process_pids_has(&p, 7), "no process is there before the first look");
    is_int(process_pids_read(&p, d, 100), 0, "a folder of processes is read");
    same = p.n == ARRAY_SIZE(want);
    for (size_t i = 0; same && i < p.n; i++)
        same = p.all[i] == want[i];
    ok(same, "names that are numbers of processes are these, in their order: %zu", p.n);
    ok(process_pids_has(&p, 1) && process_pids_has(&p, 2147483647) && process_pids_has(&p, 9),
       "a process that was listed is found");
    ok(!process_pids_has(&p, 2) && !process_pids_has(&p, 12) && !process_pids_has(&p, 0),
       "a process that was not listed is not found");
    is_int(process_pids_read(&p, d, 6), 0, "a folder is read again");
    is_int((int)p.n, 6, "as many processes as there is room for are all of them");
    is_int(process_pids_read(&p, d, 5), 0, "a folder is read once more");
    is_int((int)p.n, 5, "no more processes are listed than were asked for");
    process_pids_done(&p);
    is_int((int)p.n, 0, "a list that was given back is empty");
    closedir(d);
    folder_remove(root);
}

/* More than the first room: nothing is lost when it grows. */
static void test_many(void)
{
    struct process_table t = { .n = 0 };
    char root[PATH_MAX], name[16];
    bool ordered = true;
    DIR *d;

    folder_make(root);
    for (int i = 1; i <= 700; i++) {
        snprintf(name, sizeof(name), "%d", i);
        folder_folder(root, name);
    }
    d = folder_of(root);
    is_int(process_table_update(&t, d), 0, "700 processes are taken up");
    for (size_t i = 0; i < t.n; i++)
        ordered = ordered && t.all[i].pid == (pid_t)i + 1 && t.all[i].slot == PROCESS_NO_SLOT;
    ok(t.n == 700 && ordered, "each of 700 processes is there once, in order");
    process_table_done(&t);
    closedir(d);
    folder_remove(root);
}

static void remove_folder(const char *root, const char *name)
{
    char path[PATH_MAX];

    folder_path(root, name, path);
    folder_need(remove(path), path);
}

/* What is known of a process stays while it is there, and its slot is free once it is not. */
static void test_update(void)
{
    static const char *const names[] = { "10", "20", "30", "40" };
    struct process_table t = { .n = 0 };
    char root[PATH_MAX];
    DIR *d;

    folder_make(root);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        folder_folder(root, names[i]);
    d = folder_of(root);
    is_int(process_table_update(&t, d), 0, "four processes are taken up");
    for (size_t i = 0; i < t.n; i++) {
        t.all[i].known = true;
        t.all[i].score = (double)t.all[i].pid;
    }
    is_int(process_table_rank(&t, false), 0, "four processes get slots");
    remove_folder(root, "10");
    remove_folder(root, "40");
    folder_folder(root, "15");
    folder_folder(root, "35");
    t.all[2].gone = true;
    is_int(process_table_update(&t, d), 0, "two that ended and two that came are taken up");
    if (is_int((int)t.n, 4, "four processes are there")) {
        ok(t.all[0].pid == 15 && !t.all[0].known && t.all[0].slot == PROCESS_NO_SLOT,
           "nothing is known of one that came");
        ok(t.all[1].pid == 20 && t.all[1].score == 20 && t.all[1].slot == 1,
           "one that stayed keeps its slot and what is known of it");
        ok(t.all[2].pid == 30 && !t.all[2].known && t.all[2].score == 0 && !t.all[2].gone,
           "one that was gone and is listed is another one");
        ok(t.all[3].pid == 35 && !t.all[3].known, "one that came last is there");
    }
    ok(!t.taken[0] && t.taken[1] && !t.taken[2] && !t.taken[3],
       "the slots of those that ended are free");
    process_table_done(&t);
    closedir(d);
    folder_remove(root);
}

static void test_renew(void)
{
    struct process p = {
        .pid = 7, .slot = 3, .score = 5, .use = 9, .quiet = 2, .read_ns = 4, .start_ticks = 100
    };

    process_renew(&p, 200);
    ok(p.pid == 7 && p.slot == 3 && p.start_ticks == 200 && p.known,
       "another process of the pid keeps the slot");
    ok(p.score == 0 && p.use == 0 && p.quiet == 0 && p.read_ns == 0,
       "another process of the pid has done nothing yet");
}

/* How fast use grows, over ten seconds. */
static void test_use(void)
{
    const int64_t s = 1000000000;
    struct process p = { .pid = 1 };

    process_use(&p, 5, s);
    ok(p.score == 0 && p.use == 5, "what was used before the first look says nothing");
    process_use(&p, 7, 2 * s);
    ok(p.score > 0.1999 && p.score < 0.2001, "a second counts a tenth: %g", p.score);
    process_use(&p, 7.5, 2 * s);
    ok(p.score > 0.1999 && p.score < 0.2001, "no time changes nothing: %g", p.score);
    process_use(&p, 6, 3 * s);
    ok(p.score > 0.1799 && p.score < 0.1801, "use that goes back is none: %g", p.score);
    process_use(&p, 46, 23 * s);
    ok(p.score > 1.999 && p.score < 2.001, "after ten seconds the rest is forgotten: %g", p.score);
    ok(p.use == 46 && p.used_ns == 23 * s, "the last use and its moment are kept");
}

/* Of those that did next to nothing the first by pid get slots. */
static void test_ties(void)
{
    static struct process all[PROCESS_SLOTS + 2];
    struct process_table t = { .all = all, .n = ARRAY_SIZE(all) };
    struct process *last = &all[PROCESS_SLOTS + 1];

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        all[i] = (struct process){ .pid = (int)i + 1, .slot = PROCESS_NO_SLOT, .known = true };
    last->score = 0.9e-6;
    is_int(process_table_rank(&t, true), 0, "slots are given to those that did nothing");
    ok(all[0].slot >= 0 && all[PROCESS_SLOTS - 1].slot >= 0 && all[PROCESS_SLOTS].slot < 0 &&
           last->slot < 0,
       "less than a microsecond a second is nothing");
    last->score = 1.1e-6;
    is_int(process_table_rank(&t, true), 0, "slots are given once more");
    ok(last->slot == PROCESS_SLOTS - 1 && all[PROCESS_SLOTS - 1].slot < 0,
       "more than a microsecond a second is something");
    last->score = 0;
    is_int(process_table_rank(&t, true), 0, "slots are given a third time");
    ok(last->slot == PROCESS_SLOTS - 1, "one that has a slot keeps it against its like");
    all[5].gone = true;
    all[5].slot = PROCESS_NO_SLOT;
    t.taken[5] = false;
    is_int(process_table_rank(&t, false), 0, "a free slot is given");
    is_int(all[PROCESS_SLOTS - 1].slot, 5, "a free slot goes to the first that has none");
}

int main(void)
{
    test_pids();
    test_many();
    test_update();
    test_renew();
    test_use();
    test_ties();
    return done();
}
