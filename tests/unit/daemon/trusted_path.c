/* Which links a folder may be reached over. */
#include "daemon/trusted_path.h"

#include "folder.h"
#include "tap.h"

static int open_in(const char *root, const char *name, struct err *e)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    return trusted_path_open(path, e);
}

static void opens(const char *root, const char *name, const char *file)
{
    CLEANUP(closep) int fd = open_in(root, name, NULL);

    ok(fd >= 0 && faccessat(fd, file, F_OK, 0) == 0, "trusted_path_open opens the folder at '%s'",
       name);
}

static void refuses(const char *root, const char *name, int code)
{
    struct err e = { "" };

    is_int(open_in(root, name, &e), code, "trusted_path_open refuses '%s'", name);
    ok(strstr(e.text, name) != NULL, "the sentence names the path '%s': %s", name, e.text);
}

static void test_own(const char *root)
{
    char absolute[PATH_MAX + 16];

    folder_text(root, "a/b/here", "");
    snprintf(absolute, sizeof(absolute), "%s/a", root);
    folder_link(root, "short", "a/b");
    folder_link(root, "long", absolute);
    folder_link(root, "up", "a/b/..");
    folder_link(root, "loop", "loop");
    folder_link(root, "gone", "nowhere");
    opens(root, "a/b", "here");
    opens(root, "a//b/", "here");
    opens(root, "a/./b/../b", "here");
    opens(root, "short", "here");
    opens(root, "long/b", "here");
    opens(root, "up/b", "here");
    refuses(root, "loop", -ELOOP);
    refuses(root, "gone", -ENOENT);
    refuses(root, "a/b/here", -ENOTDIR);
    refuses(root, "a/b/here/x", -ENOTDIR);
    refuses(root, "none", -ENOENT);
}

/* What another user has put there leads nowhere, also behind one of root's. */
static void test_others(const char *root)
{
    char theirs[PATH_MAX + 16];

    folder_link(root, "theirs", "a/b");
    folder_link(root, "ours", "theirs");
    snprintf(theirs, sizeof(theirs), "%s/theirs", root);
    if (lchown(theirs, 65534, 65534) < 0) {
        ok(true, "a link cannot be given away here # SKIP not root");
        return;
    }
    refuses(root, "theirs", -ELOOP);
    refuses(root, "ours", -ELOOP);
}

static void test_relative(const char *root)
{
    CLEANUP(closep) int fd = -1;

    folder_need(chdir(root), root);
    fd = trusted_path_open("a/b", NULL);
    ok(fd >= 0, "trusted_path_open opens a folder by a path without a slash before it");
    folder_need(chdir("/"), "/");
}

int main(void)
{
    char root[PATH_MAX];

    folder_make(root);
    test_own(root);
    test_others(root);
    test_relative(root);
    folder_remove(root);
    return done();
}
