#include "base/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

struct values {
    bool json;
    const char *from;
    uint64_t count;
};

static const struct opt table[] = {
    { OPT_FLAG, 'j', "json", offsetof(struct values, json), NULL, "print JSON" },
    { OPT_STRING, 0, "from", offsetof(struct values, from), "DIR", "read a recording" },
    { OPT_UINT, 'n', "count", offsetof(struct values, count), "N", "stop after N" },
    { .kind = OPT_END },
};

/* The tests run in a folder of their own. */
static bool enter_folder(char *folder)
{
    return mkdtemp(folder) && chdir(folder) == 0;
}

static void write_file(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "we");
    size_t written = 0;

    if (f) {
        written = fwrite(text, 1, len, f);
        fclose(f);
    }
    if (!f || written != len)
        ok(false, "%s can be written", path);
}

static void write_conf(const char *text)
{
    write_file("brim.conf", text, strlen(text));
}

static void test_load(struct arena *a)
{
    struct values v = { .count = 5 };
    struct err e = { "" };

    write_conf("other = 1\n"
               "[gpus]\n"
               "from = \"/var/a b\" # a note\n"
               "json = on\n"
               "[map]\n"
               "count = 7\n"
               "unknown = 1\n"
               "[gpus]\n"
               "json = off\n");
    is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), 0, "a section is loaded");
    is_str(v.from, "/var/a b", "with its values");
    ok(!v.json, "the last one holds");
    is_int((long long)v.count, 5, "what another section says is not looked at");
    is_int(conf_load(a, "brim.conf", "none", table, &v, &e), 0, "a section may be missing");
    unlink("brim.conf");
    is_str(v.from, "/var/a b", "values live in the arena, not in the file");

    is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), 0, "a file may be missing");
    is_int(conf_load(a, "none/brim.conf", "gpus", table, &v, &e), 0, "and its folder");
    write_conf("");
    is_int(conf_load(a, "brim.conf/x", "gpus", table, &v, &e), 0, "which may be none");
    is_int(conf_load(a, "/dev/null", "gpus", table, &v, &e), 0, "nothing is fine");
    is_str(e.text, "", "and none of this is talked about");
}

static void test_journal(void)
{
    struct stat st;
    char text[64];
    int fds[2];

    unsetenv("JOURNAL_STREAM");
    ok(!conf_journal(2), "without JOURNAL_STREAM there is no journal");
    if (!ok(pipe(fds) == 0 && fstat(fds[1], &st) == 0, "a pipe can be made"))
        return;
    snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    setenv("JOURNAL_STREAM", text, 1);
    ok(conf_journal(fds[1]), "what JOURNAL_STREAM names is the journal");
    ok(!conf_journal(-1), "a descriptor that is closed is no journal");
    snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino + 1);
    setenv("JOURNAL_STREAM", text, 1);
    ok(!conf_journal(fds[1]), "another inode is no journal");
    snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)st.st_dev + 1,
             (unsigned long long)st.st_ino);
    setenv("JOURNAL_STREAM", text, 1);
    ok(!conf_journal(fds[1]), "another device is no journal");
    setenv("JOURNAL_STREAM", "8:", 1);
    ok(!conf_journal(fds[1]), "a JOURNAL_STREAM that is cut is no journal");
    unsetenv("JOURNAL_STREAM");
    close(fds[0]);
    close(fds[1]);
}

static void load_fails(struct arena *a, const char *text, const char *want)
{
    struct values v = { 0 };
    struct err e = { "" };

    write_conf(text);
    is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), ERR_USAGE, "an error");
    is_str(e.text, want, "has its place");
}

static void test_errors(struct arena *a)
{
    CLEANUP(freep) char *large = calloc(1, (1 << 20) + 1);
    struct values v = { 0 };
    struct err e = { "" };

    load_fails(a, "\n[gpus]\njsn = yes\n", "brim.conf:3: unknown key 'jsn' (did you mean 'json'?)");
    load_fails(a, "[gpus]\nx = 1\n",
               "brim.conf:2: unknown key 'x' (keys are the long options of --help)");
    load_fails(a, "[gpus]\ncount = x\n",
               "brim.conf:2: count: 'x' is not a whole number, such as 8");
    load_fails(a, "[other\n", "brim.conf:1: the section header has no ']'");

    is_int(conf_load(a, "/", "gpus", table, &v, &e), -EISDIR, "a folder is no file");
    is_str(e.text, "cannot read /: Is a directory", "is told");
    if (symlink("loop", "loop") == 0) {
        is_int(conf_load(a, "loop", "gpus", table, &v, &e), -ELOOP, "a file that cannot be opened");
        is_str(e.text, "cannot read loop: Too many levels of symbolic links", "is told");
        unlink("loop");
    }
    if (large) {
        memset(large, '\n', (1 << 20) + 1);
        write_file("brim.conf", large, 1 << 20);
        is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), 0, "a file of 1 MiB");
        write_file("brim.conf", large, (1 << 20) + 1);
        is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), -EFBIG, "one more is too much");
        is_str(e.text, "cannot read brim.conf: it is larger than 1 MiB", "is told");
    }
    unlink("brim.conf");
}

static void test_path(struct arena *a, const char *folder)
{
    const char *own = arena_printf(a, "%s/brim/brim.conf", folder);
    const char *home = arena_printf(a, "%s/.config/brim/brim.conf", folder);

    setenv("BRIM_CONF", "/x/y.conf", 1);
    is_str(conf_path(a), "/x/y.conf", "$BRIM_CONF, whether it exists or not");
    setenv("BRIM_CONF", "", 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("HOME", folder, 1);
    is_str(conf_path(a), "/etc/brim/brim.conf", "the site's when there is no other");

    if (mkdir("brim", 0700) < 0 || mkdir(".config", 0700) < 0 || mkdir(".config/brim", 0700) < 0)
        ok(false, "folders can be made");
    write_file(".config/brim/brim.conf", "", 0);
    is_str(conf_path(a), "/etc/brim/brim.conf", "$XDG_CONFIG_HOME stands for ~/.config");
    write_file("brim/brim.conf", "", 0);
    unsetenv("BRIM_CONF");
    is_str(conf_path(a), own, "the one there");
    setenv("XDG_CONFIG_HOME", "relative", 1);
    is_str(conf_path(a), home, "a relative one is ignored");
    unsetenv("XDG_CONFIG_HOME");
    is_str(conf_path(a), home, "the one in ~/.config");
    setenv("HOME", "", 1);
    is_str(conf_path(a), "/etc/brim/brim.conf", "an empty $HOME is none");
    unsetenv("HOME");
    is_str(conf_path(a), "/etc/brim/brim.conf", "and so is none");

    unlink(own);
    unlink(home);
    rmdir("brim");
    rmdir(".config/brim");
    rmdir(".config");
}

static void test_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        unsetenv(names[i]);
    ok(!conf_utf8(), "nothing is set");
    setenv("LANG", "de_DE.UTF-8", 1);
    ok(conf_utf8(), "LANG");
    setenv("LC_CTYPE", "C", 1);
    ok(!conf_utf8(), "LC_CTYPE comes before it");
    setenv("LC_ALL", "C.utf8", 1);
    ok(conf_utf8(), "LC_ALL before both");
    setenv("LC_ALL", "", 1);
    ok(!conf_utf8(), "empty is not set");
}

int main(void)
{
    char folder[] = "/tmp/brim-conf-XXXXXX";
    struct arena a = ARENA_INIT;

    if (!enter_folder(folder))
        return 1;
    test_load(&a);
    test_journal();
    test_errors(&a);
    test_path(&a, folder);
    is_int(rmdir(folder), 0, "nothing is left behind");
    arena_done(&a);
    test_utf8();
    return done();
}
