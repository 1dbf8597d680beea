/* Folders of the kernel's: which failures say that nothing is there, and which that it cannot be
 * told. */
#include "probe/kernel/listing.h"

#include <stdint.h>

#include "folder.h"
#include "tap.h"

/* What the next call fails with; 0: it does not. */
static int open_error, read_error;

int __real_openat64(int dir, const char *path, int flags, ...);
int __wrap_openat64(int dir, const char *path, int flags, ...);
int __wrap_openat64(int dir, const char *path, int flags, ...)
{
    errno = open_error;
    return open_error ? -1 : __real_openat64(dir, path, flags);
}

struct dirent *__real_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir)
{
    if (!read_error)
        return __real_readdir64(dir);
    errno = read_error;
    return NULL;
}

static void test_opens(int root)
{
    static const struct {
        int error, rc;
    } opens[] = {
        { EMFILE, -EMFILE }, { ENFILE, -ENFILE }, { ENOMEM, -ENOMEM }, { EIO, -EIO },
        { EINTR, -EINTR },   { ENOENT, 0 },       { EACCES, 0 },       { ENOTDIR, 0 },
        { ELOOP, 0 },        { ENODEV, 0 },
    };
    DIR *dir;

    for (size_t i = 0; i < ARRAY_SIZE(opens); i++) {
        dir = (DIR *)(uintptr_t)&opens; /* to be replaced */
        open_error = opens[i].error;
        is_int(listing_open(root, ".", 0, &dir), opens[i].rc,
               "listing_open of a folder that fails with '%s' returns %d", strerror(open_error),
               opens[i].rc);
        ok(!dir, "listing_open gives no folder after '%s'", strerror(opens[i].error));
    }
    open_error = 0;
}

static void test_places(int root)
{
    static const struct {
        const char *path;
        int flags;
        bool there;
    } places[] = {
        { "some", 0, true },           { "some", O_NOFOLLOW, true }, { "link", 0, true },
        { "link", O_NOFOLLOW, false }, { "file", 0, false },         { "none", 0, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        DIR *dir = NULL;

        is_int(listing_open(root, places[i].path, places[i].flags, &dir), 0,
               "listing_open of '%s' with flags %d succeeds", places[i].path, places[i].flags);
        ok(!!dir == places[i].there, "'%s' with flags %d is a folder, or none", places[i].path,
           places[i].flags);
        if (dir)
            closedir(dir);
    }
}

static void test_names(int root)
{
    static const struct {
        int error, rc;
    } ends[] = { { ENOENT, 0 }, { EIO, -EIO }, { ENOMEM, -ENOMEM } };
    const struct dirent *entry;
    DIR *dir = NULL;

    folder_need(listing_open(root, "some", 0, &dir), "some");
    is_int(listing_next(dir, &entry), 1, "listing_next finds a name");
    is_str(entry ? entry->d_name : "", "name", "listing_next passes over names with a dot");
    errno = EINVAL;
    is_int(listing_next(dir, &entry), 0, "listing_next tells the end, whatever failed before");
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        read_error = ends[i].error;
        is_int(listing_next(dir, &entry), ends[i].rc, "listing_next that meets '%s' returns %d",
               strerror(read_error), ends[i].rc);
    }
    read_error = 0;
    closedir(dir);
}

int main(void)
{
    char root[PATH_MAX];
    int fd;

    folder_make(root);
    folder_text(root, "some/name", "");
    folder_text(root, "some/.a", "");
    folder_text(root, "some/.b", "");
    folder_text(root, "file", "");
    folder_link(root, "link", "some");
    fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    folder_need(fd, root);
    test_opens(fd);
    test_places(fd);
    test_names(fd);
    close(fd);
    folder_remove(root);
    return done();
}
