#include "daemon/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* What samplers need: taskstats, /proc/PID/io of others, the kernel's log, files that are root's.
 * NVML, as root, opens /dev/nvidia* like anyone. */
static const int kept[] = { CAP_NET_ADMIN, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_DAC_READ_SEARCH };

static bool is_kept(int capability)
{
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        if (kept[i] == capability)
            return true;
    return false;
}

/* What may come back with execve(). Needs CAP_SETPCAP, so before the sets themselves. */
static void drop_bounding(void)
{
    for (int c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
        if (!is_kept(c))
            prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
}

static int drop_sets(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &head, sets) < 0)
        return -errno;
    for (unsigned word = 0; word < ARRAY_SIZE(sets); word++) {
        unsigned mask = 0;

        for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
            if ((unsigned)kept[i] / 32 == word)
                mask |= 1U << (kept[i] % 32);
        sets[word].effective &= mask;
        sets[word].permitted &= mask;
        sets[word].inheritable = 0;
    }
    return syscall(SYS_capset, &head, sets) < 0 ? -errno : 0;
}

int privileges_drop(struct err *e)
{
    int rc;

    drop_bounding();
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 && errno != EINVAL)
        return err_set(e, -errno, "cannot give up privileges: %s", strerror(errno));
    rc = drop_sets();
    if (rc == -ENOSYS)
        return 0;
    return rc < 0 ? err_set(e, rc, "cannot give up privileges: %s", strerror(-rc)) : 0;
}
