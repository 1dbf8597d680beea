#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tap.h"

static void reads_what_was_written(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    struct err e = { "" };

    is_int(file_write("t_file.tmp", "one\ntwo\n", 8, &e), 0, "a file is written");
    is_int(file_read("t_file.tmp", &text, &e), 0, "and read");
    is_str(str_text(&text), "one\ntwo\n", "whole");
    is_int(file_write("t_file.tmp", "", 0, &e), 0, "an empty one replaces it");
    is_int(file_read("t_file.tmp", &text, &e), 0, "and is read");
    is_int((long long)text.len, 0, "as nothing");
    unlink("t_file.tmp");
}

static void says_what_is_wrong(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    struct err e = { "" };

    is_int(file_read("t_file.none", &text, &e), -ENOENT, "no file");
    is_str(e.text, "cannot read t_file.none: No such file or directory", "is told");
    is_int(file_write("none/t_file.tmp", "x", 1, &e), -ENOENT, "no directory");
    is_str(e.text, "cannot write none/t_file.tmp: No such file or directory", "is told");
    text.max = 4;
    is_int(file_write("t_file.tmp", "12345", 5, &e), 0, "five bytes are written");
    is_int(file_read("t_file.tmp", &text, &e), -EFBIG, "and are too many for four");
    unlink("t_file.tmp");
}

/* A target that cannot be renamed onto stands for a disk that fails at the last step. */
static void leaves_nothing_behind(void)
{
    struct err e = { "" };
    struct stat st;

    mkdir("t_file.dir", 0755);
    ok(file_write("t_file.dir", "x", 1, &e) < 0, "a directory is not overwritten");
    ok(stat("t_file.dir.new", &st) < 0, "and no half-written file is left");
    rmdir("t_file.dir");
}

/* A device or a pipe stays what it is, and so does a link. */
static void replaces_files_alone(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    struct err e = { "" };
    struct stat st;
    char got[8] = "";
    int fd;

    is_int(mkfifo("t_file.pipe", 0600), 0, "a pipe");
    fd = open("t_file.pipe", O_RDWR | O_CLOEXEC);
    is_int(file_write("t_file.pipe", "x", 1, &e), 0, "is written to");
    ok(stat("t_file.pipe", &st) == 0 && S_ISFIFO(st.st_mode), "and is one still");
    ok(fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && read(fd, got, sizeof(got)) == 1 && got[0] == 'x',
       "with what was written");
    close(fd);
    unlink("t_file.pipe");
    is_int(file_write("t_file.tmp", "old", 3, &e), 0, "a file");
    is_int(symlink("t_file.tmp", "t_file.link"), 0, "and a link to it");
    is_int(file_write("t_file.link", "new", 3, &e), 0, "which is written to");
    ok(lstat("t_file.link", &st) == 0 && S_ISLNK(st.st_mode), "and is one still");
    is_int(file_read("t_file.tmp", &text, &e), 0, "the file");
    is_str(str_text(&text), "new", "has it");
    unlink("t_file.link");
    is_int(symlink("t_file.tmp", "t_file.own.new"), 0, "a link where a draft would be");
    ok(file_write("t_file.own", "bad", 3, &e) < 0, "is refused");
    is_int(file_read("t_file.tmp", &text, &e), 0, "its file");
    is_str(str_text(&text), "new", "is untouched");
    unlink("t_file.own.new");
    unlink("t_file.tmp");
}

int main(void)
{
    reads_what_was_written();
    says_what_is_wrong();
    leaves_nothing_behind();
    replaces_files_alone();
    return done();
}
