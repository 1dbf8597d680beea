#include "run/ring/ring_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/parse.h"
#include "probe/process/files.h"
#include "probe/process/text.h"

static const char prefix[] = "brim-run-";

/* When a process was started; 0 when there is none of the number. */
static uint64_t start_of(int pid)
{
    struct process_stat stat;

    return process_stat_here(pid, &stat) == 0 ? stat.start_ticks : 0;
}

void ring_folder_remove(const char *path)
{
    const struct dirent *entry;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        closep(&fd);
        return;
    }
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(fd, entry->d_name, 0);
    closedir(dir);
    (void)rmdir(path);
}

/* "brim-run-PID-START" of a process of that user that is no more. */
static bool is_left_over(const char *base, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    uint64_t pid, start;
    const char *at = name + sizeof(prefix) - 1;
    int n;

    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return false;
    n = parse_digits(at, 10, 10, &pid);
    if (n == 0 || at[n] != '-' || parse_u64(at + n + 1, &start) < 0 || pid > INT32_MAX)
        return false;
    if (snprintf(path, sizeof(path), "%s/%s", base, name) >= (int)sizeof(path) ||
        lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return false;
    return start_of((int)pid) != start;
}

static void remove_left_overs(const char *base)
{
    const struct dirent *entry;
    DIR *dir = opendir(base);

    while (dir && (entry = readdir(dir)) != NULL) {
        char path[PATH_MAX];

        if (is_left_over(base, entry->d_name) &&
            snprintf(path, sizeof(path), "%s/%s", base, entry->d_name) < (int)sizeof(path))
            ring_folder_remove(path);
    }
    if (dir)
        closedir(dir);
}

int ring_folder_make(const char *const *bases, struct str *out, struct err *e)
{
    int rc = -ENOENT;

    for (; *bases; bases++) {
        remove_left_overs(*bases);
        str_reset(out);
        str_addf(out, "%s/%s%d-%llu", *bases, prefix, (int)getpid(),
                 (unsigned long long)start_of((int)getpid()));
        if (str_error(out))
            return err_nomem(e);
        if (mkdir(str_text(out), 0700) == 0)
            return 0;
        rc = err_set(e, -errno, "%s: %s", str_text(out), strerror(errno));
    }
    return rc;
}
