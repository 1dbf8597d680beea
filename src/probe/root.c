#include "probe/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"

/* Whether a folder in there has a name in it. */
static bool has_names(int root, const char *folder)
{
    int fd = openat(root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const char *name = ".";
    bool found;

    if (!dir) {
        closep(&fd);
        return false;
    }
    while ((found = folder_next(dir, &name) > 0) && *name == '.')
        ;
    closedir(dir);
    return found;
}

int probe_root_open(const char *path, struct err *e)
{
    const char *where = path ? path : "/";
    CLEANUP(closep) int root = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (root < 0)
        return err_set(e, -errno, "cannot open %s: %s", where, strerror(errno));
    if (path && !has_names(root, "proc") && !has_names(root, "sys"))
        return err_set(e, -ENOENT,
                       "--root %s has no kernel files: proc and sys in it are missing or "
                       "empty",
                       path);
    return steal_fd(&root);
}
