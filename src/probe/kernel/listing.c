#include "probe/kernel/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

static bool is_short_of(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO || error == EINTR;
}

int listing_open(int root, const char *path, int flags, DIR **ret)
{
    int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);

    *ret = NULL;
    if (fd < 0)
        return is_short_of(errno) ? -errno : 0;
    *ret = fdopendir(fd);
    if (!*ret)
        close(fd);
    return *ret ? 0 : -ENOMEM;
}

int listing_next(DIR *dir, const struct dirent **ret)
{
    do {
        errno = 0;
        *ret = readdir(dir);
    } while (*ret && (*ret)->d_name[0] == '.');
    if (*ret)
        return 1;
    return errno == ENOENT ? 0 : -errno;
}
