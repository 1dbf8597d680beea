#include "base/conf.h"

#include <errno.h>
#include <fcntl.h>
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
    is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), 0,
           "conf_load reads a section of a file");
    is_str(v.from, "/var/a b", "conf_load stores a quoted value without its quotes");
    ok(!v.json, "the last value of a key in a file holds");
    is_int((long long)v.count, 5, "a key in another section changes nothing");
    is_int(conf_load(a, "brim.conf", "none", table, &v, &e), 0, "a section may be missing");
    unlink("brim.conf");
    is_str(v.from, "/var/a b", "values live in the arena, not in the file");

    is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), 0,
           "conf_load succeeds without a file");
    is_int(conf_load(a, "none/brim.conf", "gpus", table, &v, &e), 0,
           "conf_load succeeds where the file's folder is missing");
    write_conf("");
    is_int(conf_load(a, "brim.conf/x", "gpus", table, &v, &e), 0,
           "conf_load succeeds where the file's folder is a file");
    is_int(conf_load(a, "/dev/null", "gpus", table, &v, &e), 0, "conf_load reads an empty file");
    is_str(e.text, "", "conf_load writes no error about files that are missing or empty");
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
    is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), ERR_USAGE,
           "conf_load returns wrong usage: %s", want);
    is_str(e.text, want, "the error names the file, line and key");
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

    is_int(conf_load(a, "/", "gpus", table, &v, &e), ERR_USAGE, "conf_load refuses a folder");
    is_str(e.text, "cannot read /: Is a directory", "the error names the folder");
    if (symlink("loop", "loop") == 0) {
        is_int(conf_load(a, "loop", "gpus", table, &v, &e), -ELOOP,
               "conf_load refuses a link in a circle");
        is_str(e.text, "cannot read loop: Too many levels of symbolic links",
               "the error names the file that cannot be opened");
        unlink("loop");
    }
    if (large) {
        memset(large, '\n', (1 << 20) + 1);
        write_file("brim.conf", large, 1 << 20);
        is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), 0,
               "conf_load reads a file of 1 MiB");
        write_file("brim.conf", large, (1 << 20) + 1);
        is_int(conf_load(a, "brim.conf", "gpus", table, &v, &e), ERR_USAGE,
               "conf_load refuses a file of 1 MiB and a byte");
        is_str(e.text, "cannot read brim.conf: it is larger than 1 MiB",
               "the error names the file that is too large");
    }
    unlink("brim.conf");
}

static void test_path(struct arena *a, const char *folder)
{
    const char *own = arena_printf(a, "%s/brim/brim.conf", folder);
    const char *home = arena_printf(a, "%s/.config/brim/brim.conf", folder);

    setenv("BRIM_CONF", "/x/y.conf", 1);
    is_str(conf_path(a), "/x/y.conf", "conf_path is $BRIM_CONF, whether the file exists or not");
    setenv("BRIM_CONF", "", 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("HOME", folder, 1);
    is_str(conf_path(a), "/etc/brim/brim.conf",
           "conf_path is the site's file when there is no other");

    if (mkdir("brim", 0700) < 0 || mkdir(".config", 0700) < 0 || mkdir(".config/brim", 0700) < 0)
        ok(false, "folders can be made");
    write_file(".config/brim/brim.conf", "", 0);
    is_str(conf_path(a), "/etc/brim/brim.conf",
           "conf_path does not look in ~/.config where $XDG_CONFIG_HOME is set");
    write_file("brim/brim.conf", "", 0);
    unsetenv("BRIM_CONF");
    is_str(conf_path(a), own, "conf_path finds the file in $XDG_CONFIG_HOME");
    setenv("XDG_CONFIG_HOME", "relative", 1);
    is_str(conf_path(a), home, "conf_path ignores a relative $XDG_CONFIG_HOME");
    unsetenv("XDG_CONFIG_HOME");
    is_str(conf_path(a), home, "conf_path finds the file in ~/.config");
    setenv("HOME", "", 1);
    is_str(conf_path(a), "/etc/brim/brim.conf", "conf_path takes an empty $HOME for none");
    unsetenv("HOME");
    is_str(conf_path(a), "/etc/brim/brim.conf", "conf_path is the site's file without $HOME");

    unlink(own);
    unlink(home);
    rmdir("brim");
    rmdir(".config/brim");
    rmdir(".config");
}

static void test_state(struct arena *a)
{
    bool root = geteuid() == 0;

    setenv("STATE_DIRECTORY", "/s/brim", 1);
    setenv("XDG_STATE_HOME", "/x", 1);
    setenv("HOME", "/h", 1);
    is_str(conf_state(a, "f"), "/s/brim/f", "conf_state is where systemd says");
    setenv("STATE_DIRECTORY", "s", 1);
    is_str(conf_state(a, "f"), root ? "/var/lib/brim/f" : "/x/brim/f",
           "conf_state ignores a relative $STATE_DIRECTORY");
    unsetenv("STATE_DIRECTORY");
    is_str(conf_state(a, "f"), root ? "/var/lib/brim/f" : "/x/brim/f",
           "conf_state is a folder of the system for root, and $XDG_STATE_HOME for others");
    if (root && seteuid(65534) < 0)
        return;
    is_str(conf_state(a, "f"), "/x/brim/f", "conf_state is $XDG_STATE_HOME for a user");
    setenv("XDG_STATE_HOME", "x", 1);
    is_str(conf_state(a, "f"), "/h/.local/state/brim/f",
           "conf_state ignores a relative $XDG_STATE_HOME");
    unsetenv("XDG_STATE_HOME");
    is_str(conf_state(a, "f"), "/h/.local/state/brim/f", "conf_state is in ~/.local/state");
    setenv("HOME", "", 1);
    is_str(conf_state(a, "f"), "/.local/state/brim/f", "conf_state takes an empty $HOME for none");
    unsetenv("HOME");
    is_str(conf_state(a, "f"), "/.local/state/brim/f", "conf_state needs no $HOME");
    if (root)
        is_int(seteuid(0), 0, "the test is root again");
}

static void test_colour(void)
{
    int fds[2], terminal = posix_openpt(O_RDWR | O_NOCTTY);

    unsetenv("NO_COLOR");
    unsetenv("TERM");
    if (!ok(terminal >= 0 && pipe(fds) == 0, "a terminal and a pipe are made"))
        return;
    ok(!conf_colour(fds[1]), "a pipe has no colours");
    ok(conf_colour(terminal), "a terminal has colours");
    setenv("TERM", "xterm", 1);
    ok(conf_colour(terminal), "a terminal with a name has colours");
    ok(!conf_colour(fds[1]), "a pipe has no colours, whatever $TERM is");
    setenv("TERM", "dumb", 1);
    ok(!conf_colour(terminal), "a dumb terminal has no colours");
    unsetenv("TERM");
    setenv("NO_COLOR", "", 1);
    ok(conf_colour(terminal), "an empty NO_COLOR counts as not set");
    setenv("NO_COLOR", "1", 1);
    ok(!conf_colour(terminal), "NO_COLOR takes the colours away");
    close(terminal);
    close(fds[0]);
    close(fds[1]);
}

static void test_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        unsetenv(names[i]);
    ok(!conf_utf8(), "output is not UTF-8 where no locale is set");
    setenv("LANG", "de_DE.UTF-8", 1);
    ok(conf_utf8(), "LANG can make output UTF-8");
    setenv("LC_CTYPE", "C", 1);
    ok(!conf_utf8(), "LC_CTYPE comes before LANG");
    setenv("LC_ALL", "C.utf8", 1);
    ok(conf_utf8(), "LC_ALL comes before LC_CTYPE and LANG");
    setenv("LC_ALL", "", 1);
    ok(!conf_utf8(), "an empty LC_ALL counts as not set");
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
    test_state(&a);
    test_colour();
    is_int(rmdir(folder), 0, "conf_load and conf_path leave no file behind");
    arena_done(&a);
    test_utf8();
    return done();
}
