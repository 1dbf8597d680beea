/* A directory of the test's own, with files, folders and links in it, that is gone afterwards. */
#ifndef BRIM_TESTS_FOLDER_H
#define BRIM_TESTS_FOLDER_H
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void folder_need(int rc, const char *what)
{
    if (rc >= 0)
        return;
    printf("Bail out! %s: %m\n", what);
    exit(1);
}

/* Make one; its path is written to root. */
static inline void folder_make(char root[PATH_MAX])
{
    const char *tmp = getenv("TMPDIR");

    snprintf(root, PATH_MAX, "%s/brim-test-XXXXXX", tmp ? tmp : "/tmp");
    folder_need(mkdtemp(root) ? 0 : -1, root);
}

static inline int folder_remove_one(const char *path, const struct stat *st, int kind,
                                    struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline void folder_remove(const char *root)
{
    folder_need(nftw(root, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS), root);
}

/* root/path into buf, with every folder above it made. */
static inline void folder_path(const char *root, const char *path, char buf[PATH_MAX])
{
    size_t len = strlen(root);

    folder_need(snprintf(buf, PATH_MAX, "%s/%s", root, path) < PATH_MAX ? 0 : -1, path);
    for (char *at = buf + len + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        (void)mkdir(buf, 0755); /* it may be there */
        *at = '/';
    }
}

static inline void folder_file(const char *root, const char *path, const void *data, size_t len)
{
    char full[PATH_MAX];
    FILE *f;

    folder_path(root, path, full);
    f = fopen(full, "we");
    folder_need(f && fwrite(data, 1, len, f) == len && fclose(f) == 0 ? 0 : -1, full);
}

static inline void folder_text(const char *root, const char *path, const char *text)
{
    folder_file(root, path, text, strlen(text));
}

static inline void folder_folder(const char *root, const char *path)
{
    char full[PATH_MAX];

    folder_path(root, path, full);
    folder_need(mkdir(full, 0755), full);
}

static inline void folder_link(const char *root, const char *path, const char *target)
{
    char full[PATH_MAX];

    folder_path(root, path, full);
    folder_need(symlink(target, full), full);
}

/* Whether a copy of a machine can be read: valgrind before 3.20 does not know openat2. */
static inline bool folder_can_copy(void)
{
    struct open_how how = { .flags = O_PATH };

    return syscall(SYS_openat2, -1, "", &how, sizeof(how)) == 0 || errno != ENOSYS;
}

#endif
