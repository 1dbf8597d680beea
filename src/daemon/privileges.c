#include "daemon/privileges.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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
        sets[word].permitted &= mask;
        sets[word].effective = sets[word].permitted; /* setuid() has taken them away */
        sets[word].inheritable = 0;
    }
    return syscall(SYS_capset, &head, sets) < 0 ? -errno : 0;
}

static int find_account(const char *name, struct passwd *ret, struct err *e)
{
    const struct passwd *p = getpwnam(name);

    if (!p)
        return err_set(e, -ENOENT,
                       "there is no account '%s': 'useradd --system %s' makes it, or use another",
                       name, name);
    *ret = (struct passwd){ .pw_uid = p->pw_uid, .pw_gid = p->pw_gid };
    return 0;
}

int privileges_give_folder(const char *file, const char *account, struct err *e)
{
    const char *slash = strrchr(file, '/');
    struct passwd who = { .pw_uid = (uid_t)-1, .pw_gid = (gid_t)-1 };
    char path[PATH_MAX];
    int rc = find_account(account, &who, e);

    if (rc < 0 || !slash || slash == file)
        return rc;
    if (snprintf(path, sizeof(path), "%.*s", (int)(slash - file), file) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "%s: %s", file, strerror(ENAMETOOLONG));
    if ((slash = strrchr(path, '/')) > path) {
        char above[PATH_MAX];

        /* root's, for others to pass through: /var/lib/brim */
        snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
        (void)mkdir(above, 0755);
    }
    if (mkdir(path, 0750) < 0)
        /* what is there is not ours to give away; without the ones above the store says why */
        return errno == EEXIST || errno == ENOENT
                   ? 0
                   : err_set(e, -errno, "%s: %s", path, strerror(errno));
    if (lchown(path, who.pw_uid, who.pw_gid) < 0)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

/* Capabilities stay permitted over it, and are taken up again by drop_sets(). */
static int become(const char *account, struct err *e)
{
    struct passwd who = { .pw_uid = (uid_t)-1, .pw_gid = (gid_t)-1 };
    int rc = find_account(account, &who, e);

    if (rc < 0)
        return rc;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
        setresgid(who.pw_gid, who.pw_gid, who.pw_gid) < 0 ||
        setresuid(who.pw_uid, who.pw_uid, who.pw_uid) < 0)
        return err_set(e, -errno, "cannot become '%s': %s", account, strerror(errno));
    return 0;
}

int privileges_drop(const char *account, struct err *e)
{
    int rc;

    drop_bounding();
    rc = account ? become(account, e) : 0;
    if (rc < 0)
        return rc;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 && errno != EINVAL)
        return err_set(e, -errno, "cannot give up privileges: %s", strerror(errno));
    rc = drop_sets();
    if (rc == -ENOSYS)
        return 0;
    return rc < 0 ? err_set(e, rc, "cannot give up privileges: %s", strerror(-rc)) : 0;
}
