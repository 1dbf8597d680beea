/* The files of the machine that brim demo shows, at some moments of what its disk does.
 *
 *     t_cmd_demo_machine FILE */
#include "cmd/demo/machine.h"

#include <errno.h>

#include "base/file.h"
#include "folder.h"
#include "golden.h"

enum { ROOM = 1 << 20 };

static const int64_t second = 1000000000;

static void add_file(const struct demo_machine *m, const char *name, struct str *out)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);
    char path[PATH_MAX];

    folder_path(m->folder, name, path);
    is_int(file_read(path, &text, NULL), 0, "the demo's machine has a file %s", name);
    str_addf(out, "-- %s\n%s", name, str_text(&text));
}

static void add_machine(struct str *out)
{
    static const char *const files[] = {
        "gpus.ini",     "proc/stat",    "proc/diskstats",
        "proc/meminfo", "proc/loadavg", "proc/sys/kernel/hostname"
    };
    /* before, in and behind stalls, and some rounds later */
    static const int64_t moments[] = { 1, 29, 30, 31, 69, 70, 71, 100, 130, 1400, 3600 };
    struct demo_machine m;
    struct err e = { "" };
    char folder[DEMO_PATH];

    is_int(demo_machine_make(&m, 30 * second, &e), 0, "a machine is made: %s", e.text);
    snprintf(folder, sizeof(folder), "%s", m.folder);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        add_file(&m, files[i], out);
    for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
        str_addf(out, "== after %lld s\n", (long long)moments[i]);
        is_int(demo_machine_write(&m, moments[i] * second), 0, "the machine goes on to second %d",
               (int)moments[i]);
        add_file(&m, "proc/stat", out);
        add_file(&m, "proc/diskstats", out);
    }
    is_int(demo_machine_call(&m, "demo of a page"), 0, "the machine is called otherwise");
    add_file(&m, "proc/sys/kernel/hostname", out);
    folder_text(folder, "agent.db", "x");
    folder_text(folder, "agent.db-wal", "x");
    folder_text(folder, "agent.db-shm", "x");
    folder_text(folder, "agent.db-lock", "x");
    demo_machine_remove(&m);
    ok(access(folder, F_OK) < 0 && errno == ENOENT, "nothing is left of the machine");
    demo_machine_remove(&m);
    ok(!*m.folder && m.proc == -1, "a machine may be removed twice");
}

static void test_folders(void)
{
    struct demo_machine m;
    struct err e = { "" };
    char root[PATH_MAX], path[PATH_MAX], want[PATH_MAX + 64];

    folder_make(root);
    setenv("TMPDIR", root, 1);
    is_int(demo_machine_make(&m, second, &e), 0, "a machine is made in $TMPDIR: %s", e.text);
    ok(!strncmp(m.folder, root, strlen(root)), "the machine is in $TMPDIR: %s", m.folder);
    demo_machine_remove(&m);
    snprintf(path, sizeof(path), "%s/none", root);
    setenv("TMPDIR", path, 1);
    is_int(demo_machine_make(&m, second, &e), -ENOENT, "no machine is made where $TMPDIR is not");
    snprintf(want, sizeof(want), "cannot make a folder in %s: No such file or directory", path);
    is_str(e.text, want, "the error names $TMPDIR");
    ok(!*m.folder && m.proc == -1, "there is no machine behind the error");
    memset(path + 1, 'x', DEMO_PATH);
    path[DEMO_PATH] = '\0';
    setenv("TMPDIR", path, 1);
    is_int(demo_machine_make(&m, second, &e), -ENAMETOOLONG,
           "no machine is made where $TMPDIR is too long");
    setenv("TMPDIR", "relative", 1);
    is_int(demo_machine_make(&m, second, &e), 0, "a relative $TMPDIR is none: %s", e.text);
    ok(!strncmp(m.folder, "/tmp/brim-demo-", 15), "the machine is in /tmp: %s", m.folder);
    demo_machine_remove(&m);
    folder_remove(root);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 2)
        return 1;
    add_machine(&out);
    test_folders();
    golden(argv[1], str_text(&out));
    return done();
}
