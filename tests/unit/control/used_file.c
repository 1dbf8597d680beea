/* The file of what jobs used: it grows at its end, and not for ever. */
#include "control/used_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "folder.h"
#include "tap.h"

static int add(const char *folder, const char *text, struct err *e)
{
    CLEANUP(str_done) struct str lines = STR_INIT(4096);

    str_add(&lines, text);
    return used_file_add(folder, &lines, e);
}

static void read_back(const char *path, struct str *ret)
{
    struct err e = { "" };

    ok(file_read(path, ret, &e) == 0, "the file is read %s", e.text);
}

int main(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(2 * USED_FILE_MOST);
    char folder[PATH_MAX], path[PATH_MAX + 16];
    struct err e = { "" };
    int rc = 0;

    folder_make(folder);
    snprintf(path, sizeof(path), "%s/used.tsv", folder);
    is_int(add(folder, "", &e), 0, "no lines are nothing to add");
    ok(access(path, F_OK) < 0, "no lines make no file");
    is_int(add(folder, "a\tb\t8\t1\n", &e), 0, "lines are added");
    is_int(add(folder, "a\tb\t8\t2\n", &e), 0, "more lines are added");
    read_back(path, &text);
    is_str(str_text(&text), "a\tb\t8\t1\na\tb\t8\t2\n", "the newest line is the last");
    is_int(truncate(path, 5), 0, "a disk was full in the middle of a line");
    is_int(add(folder, "c\td\t1\t1\n", &e), 0, "a line is added to that");
    read_back(path, &text);
    is_str(str_text(&text), "a\tb\t8\nc\td\t1\t1\n", "a line behind half a line begins anew");
    for (int i = 0; i < USED_FILE_MOST / 20 + 10 && rc == 0; i++)
        rc = add(folder, "user\ta-job\t8888\t1111\n", &e);
    is_int(rc, 0, "many lines are added");
    read_back(path, &text);
    ok(text.len < USED_FILE_MOST * 2 / 3, "the older half is forgotten");
    ok(strncmp(str_text(&text), "user\ta-job\t8888\t1111\n", 21) == 0,
       "the rest begins with a line");
    ok(str_text(&text)[text.len - 1] == '\n', "the rest ends with a line");
    unlink(path);
    is_int(symlink("/dev/null", path), 0, "a link lies there");
    is_int(add(folder, "a\tb\t8\t1\n", &e), -ELOOP, "a link is not followed");
    ok(strstr(e.text, "used.tsv: "), "the file is named: %s", e.text);
    unlink(path);
    is_int(add("/nonexistent/folder", "a\tb\t8\t1\n", &e), -ENOENT,
           "a folder that is not there fails");
    folder_remove(folder);
    return done();
}
