#include "run/profile/profiles.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/opt.h"
#include "run/archive/archive.h"

enum { LIST_MAX = 1 << 20, FILE_MAX = 1 << 20, PATH_LEN = 4096, NAME_LETTERS = 64 };

static const char ending[] = ".ini";

static bool ends_so(const char *name, size_t len)
{
    return len > sizeof(ending) - 1 && !strcmp(name + len - (sizeof(ending) - 1), ending);
}

int profiles_list(const char *folder, struct str *out, struct err *e)
{
    CLEANUP(str_done) struct str all = STR_INIT(LIST_MAX);
    int rc = runs_list(folder, &all, e); /* the names in a folder */

    str_reset(out);
    for (const char *name = str_text(&all); rc == 0 && name < str_text(&all) + all.len;
         name += strlen(name) + 1) {
        size_t len = strlen(name);

        if (ends_so(name, len)) {
            str_add_n(out, name, len - (sizeof(ending) - 1));
            str_add_char(out, 0);
        }
    }
    return rc == 0 && str_error(out) ? err_nomem(e) : rc;
}

/* ---- which one ---- */

struct names {
    const char *list;
    size_t len;
};

#define EACH_NAME(all, name) \
    for (const char *name = (all)->list; (name) < (all)->list + (all)->len; \
         (name) += strlen(name) + 1)

/* Whether a file's name is that of a profile: "resnet-5f1c..." of "resnet". */
static bool is_of(const char *name, const char *which)
{
    size_t len = strlen(which);
    const char *key = strrchr(name, '-');

    return key && (size_t)(key - name) == len && !strncmp(name, which, len);
}

static const char *name_at(const void *ctx, size_t i)
{
    EACH_NAME((const struct names *)ctx, name)
    if (i-- == 0)
        return name;
    return "";
}

static int64_t age_of(const char *folder, const char *name)
{
    char path[PATH_LEN];
    struct stat st;

    if (snprintf(path, sizeof(path), "%s/%s%s", folder, name, ending) >= (int)sizeof(path) ||
        stat(path, &st) < 0)
        return 0;
    return (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
}

static const char *choose(const char *folder, const struct names *all, const char *which,
                          const char *key)
{
    const char *found = NULL;
    int64_t youngest = -1;

    EACH_NAME(all, name)
    if (!strcmp(name, which))
        return name;
    EACH_NAME(all, name)
    if (is_of(name, which)) {
        int64_t when = age_of(folder, name);

        if (key && *key && !strcmp(strrchr(name, '-') + 1, key))
            return name;
        if (when > youngest) {
            youngest = when;
            found = name;
        }
    }
    return found;
}

/* The nearest name without its key, or with it when that is nearer. */
static int not_found(const char *folder, const struct names *all, const char *which, struct err *e)
{
    CLEANUP(str_done) struct str bare = STR_INIT(LIST_MAX);
    struct names names;
    const char *near;
    size_t n = 0;

    if (!all->len)
        return err_set(e, -ENOENT, "no profile is kept yet: brim optimize -- COMMAND keeps one");
    EACH_NAME(all, name)
    {
        const char *key = strrchr(name, '-');

        str_add_n(&bare, name, key ? (size_t)(key - name) : strlen(name));
        str_add_char(&bare, 0);
        str_add_n(&bare, name, strlen(name) + 1);
        n += 2;
    }
    if (str_error(&bare))
        return err_nomem(e);
    names = (struct names){ str_text(&bare), bare.len };
    near = opt_nearest(which, n, name_at, &names);
    if (near)
        return err_set(e, -ENOENT, "there is no profile '%.100s' (did you mean %s?)", which, near);
    return err_set(e, -ENOENT, "there is no profile '%.100s' in %s ('brim profile list')", which,
                   folder);
}

int profiles_find(const char *folder, const char *which, const char *key, struct str *path,
                  struct err *e)
{
    CLEANUP(str_done) struct str list = STR_INIT(LIST_MAX);
    struct names all;
    const char *found;
    int rc;

    str_reset(path);
    if (!*which)
        return err_usage(e, "a profile's name is empty: 'brim profile list' has the names");
    if (strchr(which, '/') || (ends_so(which, strlen(which)) && access(which, F_OK) == 0)) {
        str_add(path, which);
        return str_error(path) ? err_nomem(e) : 0;
    }
    rc = profiles_list(folder, &list, e);
    if (rc < 0)
        return rc;
    all = (struct names){ str_text(&list), list.len };
    found = choose(folder, &all, which, key);
    if (!found)
        return not_found(folder, &all, which, e);
    str_addf(path, "%s/%s%s", folder, found, ending);
    return str_error(path) ? err_nomem(e) : 0;
}

int profiles_of(const char *folder, const char *key, struct str *path, struct err *e)
{
    CLEANUP(str_done) struct str list = STR_INIT(LIST_MAX);
    struct names all;
    const char *found = NULL;
    int64_t youngest = -1;
    int rc = *key ? profiles_list(folder, &list, e) : 0;

    str_reset(path);
    if (rc < 0)
        return rc;
    all = (struct names){ str_text(&list), list.len };
    EACH_NAME(&all, name)
    {
        const char *dash = strrchr(name, '-');
        int64_t when = dash && !strcmp(dash + 1, key) ? age_of(folder, name) : -1;

        if (when > youngest) {
            youngest = when;
            found = name;
        }
    }
    if (found)
        str_addf(path, "%s/%s%s", folder, found, ending);
    return str_error(path) ? err_nomem(e) : 0;
}

/* ---- files ---- */

/* Not a pipe or the like, where to read or to write may mean to wait for ever. */
static int check_kind(const char *path, struct stat *ret, struct err *e)
{
    if (stat(path, ret) < 0)
        ret->st_mode = 0; /* why is told when it is read or written */
    else if (!S_ISREG(ret->st_mode) && !S_ISDIR(ret->st_mode))
        return err_set(e, -EINVAL, "%s is no file", path);
    return 0;
}

static int belongs_to_another(const char *path, uid_t uid, struct err *e)
{
    const struct passwd *user = getpwuid(uid);
    char number[32];

    snprintf(number, sizeof(number), "user %u", (unsigned)uid);
    return err_set(e, -EPERM, "%s is not used, since it belongs to %s: a copy of it is yours", path,
                   user ? user->pw_name : number);
}

/* A profile decides how a job is started: nobody else writes it, and it has an end. */
static int check_file(const char *path, struct err *e)
{
    struct stat st;
    int rc = check_kind(path, &st, e);

    if (rc < 0)
        return rc;
    if (S_ISREG(st.st_mode) && st.st_mode & S_IWOTH)
        return err_set(e, -EPERM,
                       "%s is not used, since any user may write to it: chmod o-w makes it yours",
                       path);
    if (S_ISREG(st.st_mode) && st.st_uid != geteuid() && st.st_uid != 0)
        return belongs_to_another(path, st.st_uid, e);
    return 0;
}

int profiles_load(struct profile *ret, const char *path, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    int rc = check_file(path, e);

    if (rc == 0)
        rc = file_read(path, &text, e);
    return rc < 0 ? rc : profile_read(ret, path, str_text(&text), text.len, e);
}

static void add_file_name(struct str *out, const char *text)
{
    size_t n = 0;

    for (; *text && n < NAME_LETTERS; text++, n++) {
        bool kept = isalnum((unsigned char)*text) || *text == '_' || *text == '-' ||
                    (*text == '.' && n > 0);

        str_add_char(out, (char)(kept ? *text : '_'));
    }
    if (n == 0)
        str_add(out, "profile");
}

/* own: in a file beside that of somebody else, which may not be written. */
static int save_as(const char *folder, const struct profile *p, bool own, struct str *path,
                   struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    struct stat there;
    int rc;

    str_reset(path);
    str_addf(path, "%s/", folder);
    add_file_name(path, p->name);
    if (own)
        str_addf(path, "-u%u", (unsigned)geteuid());
    if (*p->key) {
        str_add_char(path, '-');
        add_file_name(path, p->key);
    }
    str_add(path, ending);
    profile_write(p, &text);
    if (str_error(&text) || str_error(path))
        return err_nomem(e);
    rc = check_kind(str_text(path), &there, e);
    return rc < 0 ? rc : file_write(str_text(path), str_text(&text), text.len, e);
}

int profiles_save(const char *folder, const struct profile *p, struct str *path, struct err *e)
{
    int rc = runs_make(folder, e);

    if (rc < 0)
        return rc;
    rc = save_as(folder, p, false, path, e);
    if (rc == -EACCES || rc == -EPERM)
        rc = save_as(folder, p, true, path, e);
    if (rc == -EACCES || rc == -EPERM)
        return err_set(e, rc,
                       "%s may not be written by this user: --save-profile FILE keeps the "
                       "profile elsewhere",
                       folder);
    return rc;
}
