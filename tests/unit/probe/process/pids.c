/* The numbers of all processes: which names in /proc are some, and what is known when it cannot be
 * read to its end. */
#include "probe/process/pids.h"

#include "folder.h"
#include "tap.h"

/* Names that are still read before the disk fails; -1: it does not. */
static int left = -1;

struct dirent *__real_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir)
{
    if (left == 0) {
        errno = EIO;
        return NULL;
    }
    left -= left > 0;
    return __real_readdir64(dir);
}

static const char *const names[] = {
    "1",           "9", "10",  "105",  "4194304", "2147483647", "2147483648",
    "99999999999", "0", "01",  "9x",   "x9",      "self",       "1 2",
    ":",           ";", "-10", "irq7", "1000",    ".1000",
};
static const pid_t numbers[] = { 1, 9, 10, 105, 1000, 4194304, 2147483647 };

static void test_all(struct process_pids *p, DIR *proc)
{
    int sorted = 0;

    is_int(process_pids_read(p, proc, 100), 0, "the numbers of all processes are read");
    is_int((int)p->n, ARRAY_SIZE(numbers), "names that are no numbers are passed over");
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        ok(process_pids_has(p, numbers[i]), "the process %d is there", (int)numbers[i]);
        sorted += i < p->n && p->all[i] == numbers[i];
    }
    is_int(sorted, ARRAY_SIZE(numbers), "processes are sorted by their numbers");
    ok(!process_pids_has(p, 2) && !process_pids_has(p, 0), "a process that is none is not there");
}

static void test_some(struct process_pids *p, DIR *proc)
{
    is_int(process_pids_read(p, proc, 3), 0, "some processes are read");
    is_int((int)p->n, 3, "no more processes are read than wanted");
    is_int(process_pids_read(p, proc, 0), 0, "no process is read");
    ok(p->n == 0 && !process_pids_has(p, 1), "no process is there when none is wanted");
}

static void test_failing(struct process_pids *p, DIR *proc)
{
    for (int i = 0; i < 3; i++) {
        left = i;
        is_int(process_pids_read(p, proc, 100), -EIO, "a folder that fails after %d names says so",
               i);
    }
    left = -1;
    is_int(process_pids_read(p, proc, 100), 0, "a folder that failed is read again");
    is_int((int)p->n, ARRAY_SIZE(numbers), "a folder that failed has all its processes later");
}

int main(void)
{
    struct process_pids p = { .n = 0 };
    char root[PATH_MAX];
    DIR *proc;

    folder_make(root);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        folder_text(root, names[i], "");
    proc = opendir(root);
    folder_need(proc ? 0 : -1, root);
    test_all(&p, proc);
    test_some(&p, proc);
    test_failing(&p, proc);
    process_pids_done(&p);
    closedir(proc);
    folder_remove(root);
    return done();
}
