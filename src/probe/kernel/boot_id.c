#include "probe/kernel/boot_id.h"

#include <fcntl.h>
#include <string.h>

#include "base/compiler.h"

void boot_id_read(char ret[BOOT_ID])
{
    CLEANUP(closep) int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, ret, BOOT_ID - 1);

    ret[n > 0 ? n : 0] = 0;
    ret[strcspn(ret, "\n")] = 0;
}
