/* What is looked at before a job is queued: its folder, its command and where its output goes. */
#include "cmd/queue/submit_check.h"

#include <errno.h>
#include <stdio.h>

#include "folder.h"
#include "tap.h"

static void add_program(const char *root, const char *path)
{
    char full[PATH_MAX];

    folder_text(root, path, "#!/bin/sh\n");
    folder_path(root, path, full);
    folder_need(chmod(full, 0755), full);
}

static void test_folder(const char *root)
{
    char file[PATH_MAX], want[PATH_MAX + 64];
    struct err e = { "" };

    is_int(submit_check_folder(root, &e), 0, "a folder can be entered");
    is_str(e.text, "", "nothing is said of a folder that can be entered");
    is_int(submit_check_folder("/nonexistent", &e), -ENOENT, "no folder cannot be entered");
    is_str(e.text, "cannot enter the folder /nonexistent: No such file or directory",
           "the error names the missing folder");
    folder_text(root, "file", "x");
    folder_path(root, "file", file);
    is_int(submit_check_folder(file, &e), -ENOTDIR, "a file cannot be entered");
    snprintf(want, sizeof(want), "cannot enter the folder %s: it is none", file);
    is_str(e.text, want, "the error says that a file is no folder");
}

static void test_command(const char *root)
{
    static const struct {
        const char *command, *path;
        int want;
        const char *said;
    } cases[] = {
        { "/bin/sh", "", 0, "" },
        { "/bin", "", -EISDIR, "cannot run /bin: Is a directory" },
        { "/nonexistent", NULL, -ENOENT, "cannot run /nonexistent: No such file or directory" },
        { "bin/prog", NULL, 0, "" },
        { "./prog2", NULL, 0, "" },
        { "bin/none", NULL, -ENOENT, "cannot run bin/none: No such file or directory" },
        { "sh", NULL, 0, "" },
        { "sh", "/bin", 0, "" },
        { "sh", "/nonexistent:/bin", 0, "" },
        { "sh", "/bin:/nonexistent", 0, "" },
        { "sh", "/nonexistent", -ENOENT, "there is no command 'sh' in PATH" },
        { "prog", "bin", 0, "" },
        { "prog", "/nonexistent:bin", 0, "" },
        { "prog2", "", 0, "" },
        { "prog2", "/nonexistent:", 0, "" },
        { "prog2", "/nonexistent::/bin", 0, "" },
        { "folder", "", -ENOENT, "there is no command 'folder' in PATH" },
        { "text", "", -ENOENT, "there is no command 'text' in PATH" },
        { "./text", NULL, -EACCES, "cannot run ./text: Permission denied" },
    };

    add_program(root, "bin/prog");
    add_program(root, "prog2");
    folder_text(root, "text", "x");
    folder_folder(root, "folder");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };

        is_int(submit_check_command(cases[i].command, root, cases[i].path, &e), cases[i].want,
               "command '%s' is looked for in '%s'", cases[i].command,
               cases[i].path ? cases[i].path : "(not set)");
        is_str(e.text, cases[i].said, "command '%s' has its sentence", cases[i].command);
    }
}

static void test_output(const char *root)
{
    static const struct {
        const char *file;
        int want;
        const char *said;
    } cases[] = {
        { NULL, 0, "" },
        { "out-%j.txt", 0, "" },
        { "nowhere/%j.txt", 0, "" },
        { "new.txt", 0, "" },
        { "text", 0, "" },
        { "/tmp/brim-of-no-run.txt", 0, "" },
        { "folder", -EISDIR, "--output: cannot write folder: Is a directory" },
        { "nowhere/x", -ENOENT, "--output: cannot write nowhere/x: No such file or directory" },
        { "text/x", -ENOTDIR, "--output: cannot write text/x: Not a directory" },
        { "/nonexistent/x", -ENOENT,
          "--output: cannot write /nonexistent/x: No such file or directory" },
    };
    char longest[PATH_MAX + 1];
    struct err e = { "" };

    folder_text(root, "text", "x");
    folder_folder(root, "folder");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err why = { "" };

        is_int(submit_check_output("--output", cases[i].file, root, &why), cases[i].want,
               "output to '%s' is looked at", cases[i].file ? cases[i].file : "(none)");
        is_str(why.text, cases[i].said, "output to '%s' has its sentence",
               cases[i].file ? cases[i].file : "(none)");
    }
    memset(longest, 'x', sizeof(longest) - 1);
    longest[PATH_MAX] = 0;
    is_int(submit_check_output("--output", longest, root, &e), -ENAMETOOLONG,
           "output to a name that is too long is refused");
    is_int(submit_check_command(longest, root, "", &e), -ENOENT,
           "a command whose name is too long is not there");
    longest[0] = '/';
    is_int(submit_check_command(longest, root, "", &e), -ENAMETOOLONG,
           "a path that is too long is no command");
}

int main(void)
{
    void (*const tests[])(const char *) = { test_folder, test_command, test_output };
    char root[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    return done();
}
