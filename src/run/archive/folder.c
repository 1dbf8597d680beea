#include "run/archive/folder.h"

#include <errno.h>

int folder_next(DIR *dir, const char **ret)
{
    const struct dirent *entry;

    errno = 0;
    entry = readdir(dir);
    if (!entry)
        return -errno;
    *ret = entry->d_name;
    return 1;
}
