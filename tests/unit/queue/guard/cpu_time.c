/* CPU time of jobs out of a folder like /proc. */
#include "queue/guard/cpu_time.h"

#include "folder.h"
#include "tap.h"

/* own: by itself; waited: of children that it waited for. */
static void add(const char *root, int pid, int parent, const char *name, int own, int waited)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "%d/stat", pid);
    snprintf(
        text, sizeof(text),
        "%d (%s) S %d 1 1 0 -1 4194304 0 0 0 0 %d 0 %d 0 20 0 1 0 100 0 10 0 0 0 0 0 0 0 0 0 0 "
        "0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        pid, name, parent, own, waited);
    folder_text(root, path, text);
}

int main(void)
{
    struct cpu_time of[] = { { .guard = 20 }, { .guard = 30 }, { .guard = 99 }, { .guard = -1 } };
    char root[PATH_MAX];
    int proc;

    folder_make(root);
    add(root, 1, 0, "init", 1000, 2000);
    add(root, 10, 1, "engine", 50, 0);
    add(root, 20, 10, "guard", 3, 400); /* 400: of a job that has ended, and of orphans */
    add(root, 21, 20, "sh) 7 (x", 5, 60);
    add(root, 22, 21, "python", 7, 0);
    add(root, 23, 22, "worker", 8000, 0);
    add(root, 30, 1, "guard", 3, 0); /* of another engine, which is gone */
    add(root, 31, 30, "sleep", 1, 0);
    add(root, 40, 1, "other", 90000, 0);
    folder_text(root, "12x/stat", "no process");
    folder_text(root, "50/stat", "garbage");
    folder_folder(root, "51"); /* it has just ended */
    proc = open(root, O_RDONLY | O_DIRECTORY);
    is_int(cpu_time_read(proc, of, ARRAY_SIZE(of)), 0, "a look at all processes");
    ok(of[0].there && of[1].there, "two guards live");
    is_int((long long)of[0].ticks, 400 + 5 + 60 + 7 + 8000,
           "the first guard has the time of all below it and of those it waited for");
    is_int((long long)of[1].ticks, 1,
           "the second guard has the CPU time of all processes below it");
    ok(!of[2].there && !of[2].ticks && !of[3].there, "one that is gone");
    is_int(cpu_time_read(-1, of, 1) < 0, 1, "cpu_time_read refuses a folder that is missing");
    ok(!of[0].there, "a folder that is missing leaves no guard there");
    close(proc);
    folder_remove(root);
    return done();
}
