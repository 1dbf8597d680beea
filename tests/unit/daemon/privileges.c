/* What an agent gives up: the folder that it makes for its account, and the capabilities that are
 * left. */
#include "daemon/privileges.h"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "folder.h"
#include "tap.h"

static const int kept[] = { CAP_NET_ADMIN, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_DAC_READ_SEARCH };

static uint64_t kept_mask(void)
{
    uint64_t mask = 0;

    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        mask |= UINT64_C(1) << kept[i];
    return mask;
}

struct sets {
    uint64_t permitted, effective, inheritable, bounding;
};

static struct sets read_sets(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    struct sets s = { 0 };

    folder_need((int)syscall(SYS_capget, &head, data), "capget");
    for (unsigned i = 0; i < ARRAY_SIZE(data); i++) {
        s.permitted |= (uint64_t)data[i].permitted << (32 * i);
        s.effective |= (uint64_t)data[i].effective << (32 * i);
        s.inheritable |= (uint64_t)data[i].inheritable << (32 * i);
    }
    for (int c = 0; c < 64 && prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
        s.bounding |= (uint64_t)prctl(PR_CAPBSET_READ, c, 0, 0, 0) << c;
    return s;
}

/* In a child, since nothing of it comes back. Bits of what is wrong. */
static int drop(void)
{
    const struct sets before = read_sets();
    const bool may_bound = before.effective >> CAP_SETPCAP & 1;
    struct err e = { "" };
    int rc = privileges_drop(NULL, &e), wrong = 0;
    const struct sets now = read_sets();

    wrong |= rc != 0 ? 1 : 0;
    wrong |= prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ? 2 : 0;
    wrong |= now.permitted != (before.permitted & kept_mask()) ? 4 : 0;
    wrong |= now.effective != now.permitted ? 8 : 0;
    wrong |= now.inheritable ? 16 : 0;
    wrong |= now.bounding != (may_bound ? before.bounding & kept_mask() : before.bounding) ? 32 : 0;
    return wrong;
}

static void test_drop(void)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(drop());
    waitpid(pid, &status, 0);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
    ok(!(status & 1), "privileges are given up");
    ok(!(status & 2), "no program that is started gains privileges");
    ok(!(status & 4), "what sampling needs stays permitted, and nothing else");
    ok(!(status & 8), "what is permitted is in effect");
    ok(!(status & 16), "nothing is inherited");
    ok(!(status & 32), "nothing else comes back with a program");
    is_int(status, 0, "a child that gives up its privileges ends well");
}

static unsigned mode_of(const char *root, const char *path)
{
    char whole[PATH_MAX];
    struct stat st;

    snprintf(whole, sizeof(whole), "%s/%s", root, path);
    return stat(whole, &st) == 0 ? st.st_mode & 07777 : 0;
}

static int give(const char *root, const char *path, const char *account, struct err *e)
{
    char whole[2 * PATH_MAX];

    snprintf(whole, sizeof(whole), "%s/%s", root, path);
    return privileges_give_folder(whole, account, e);
}

static void test_folder(const char *root, const char *account)
{
    char longest[PATH_MAX + 8];
    struct err e = { "" };

    is_int(give(root, "a/b/store.db", account, &e), 0, "a folder is made: %s", e.text);
    ok(mode_of(root, "a/b") == 0750, "the folder is for its account and group");
    ok(mode_of(root, "a") == 0755, "others pass through the folder above");
    ok(!mode_of(root, "a/b/store.db"), "the file is not made");
    is_int(chmod(root, 0711), 0, "the folder has rights of its own");
    is_int(give(root, "store.db", account, &e), 0, "a folder that is there is taken");
    ok(mode_of(root, "") == 0711, "a folder that is there stays as it was");
    is_int(give(root, "x/y/z/store.db", account, &e), 0, "a folder far below is left to the store");
    ok(!mode_of(root, "x"), "a folder far below is not made");
    folder_text(root, "file", "x");
    is_int(give(root, "file/b/store.db", account, &e), -ENOTDIR, "a file is no folder");
    ok(strstr(e.text, "/file/b: Not a directory"), "the error names the folder: %s", e.text);
    is_int(privileges_give_folder("store.db", account, &e), 0, "the working folder is there");
    is_int(privileges_give_folder("/store.db", account, &e), 0, "the root folder is there");
    memset(longest, 'x', sizeof(longest) - 1);
    memcpy(longest, "/x", 2);
    longest[PATH_MAX + 1] = '/';
    longest[PATH_MAX + 7] = 0;
    is_int(privileges_give_folder(longest, account, &e), -ENAMETOOLONG,
           "a folder whose name is too long is refused");
}

/* As one who may not give folders away: status 0 when he is told so. */
static int give_as_nobody(const char *folder)
{
    struct err e = { "" };
    int rc;

    if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresuid(65534, 65534, 65534) < 0))
        return 2;
    rc = give(folder, "own/store.db", "root", &e);
    return rc == -EPERM && strstr(e.text, "/own: Operation not permitted") ? 0 : 1;
}

static void test_not_given(const char *root)
{
    char folder[2 * PATH_MAX];
    int status = -1;
    pid_t child;

    snprintf(folder, sizeof(folder), "%s/nobody", root);
    if (mkdir(folder, 0755) < 0 || (geteuid() == 0 && lchown(folder, 65534, 65534) < 0))
        return;
    child = fork();
    if (child == 0)
        _exit(give_as_nobody(folder));
    ok(child > 0 && waitpid(child, &status, 0) == child, "a child without rights ends");
    is_int(status, 0, "a folder that cannot be given to its account is an error");
}

int main(void)
{
    const struct passwd *me = getpwuid(geteuid());
    char root[PATH_MAX], account[256];
    struct err e = { "" };

    umask(022);
    snprintf(account, sizeof(account), "%s", me ? me->pw_name : "");
    folder_make(root);
    is_int(give(root, "a/store.db", "no-such-account", &e), -ENOENT,
           "an unknown account is refused");
    is_str(e.text,
           "there is no account 'no-such-account': 'useradd --system no-such-account' makes it, or "
           "use another",
           "the error of an unknown account says what makes it");
    if (me)
        test_folder(root, account);
    test_not_given(root);
    folder_remove(root);
    test_drop();
    is_int(privileges_drop("no-such-account", NULL), -ENOENT, "nobody becomes an unknown account");
    return done();
}
