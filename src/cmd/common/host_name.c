#include "cmd/common/host_name.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"

static void read_name(const char *root, char *to, size_t size)
{
    char path[4096];
    ssize_t n = -1;

    if (snprintf(path, sizeof(path), "%s/proc/sys/kernel/hostname", root) < (int)sizeof(path)) {
        CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

        n = fd < 0 ? -1 : read(fd, to, size - 1);
    }
    to[n < 0 ? 0 : n] = 0;
    to[strcspn(to, "\n")] = 0;
}

void host_name(const char *root, char *to, size_t size)
{
    to[0] = 0;
    if (root)
        read_name(root, to, size);
    else if (gethostname(to, size - 1) < 0)
        to[0] = 0;
    to[size - 1] = 0;
}
