#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/compiler.h"
#include "tap.h"

enum { MANY = 1 << 20 /* bytes, which no pipe holds */ };

/* What the kernel's chance is here: 7s, or there is none of it. */
static bool no_chance;

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    if (no_chance) {
        errno = EAGAIN;
        return -1;
    }
    memset(to, 7, size);
    return (ssize_t)size;
}

static void reads_what_was_written(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    struct err e = { "" };

    is_int(file_write("t_file.tmp", "one\ntwo\n", 8, &e), 0, "file_write writes a file");
    is_int(file_read("t_file.tmp", &text, &e), 0, "file_read reads what was written");
    is_str(str_text(&text), "one\ntwo\n", "a text is read as it was written");
    is_int(file_write("t_file.tmp", "", 0, &e), 0, "file_write replaces a file by an empty one");
    is_int(file_read("t_file.tmp", &text, &e), 0, "file_read reads an empty file");
    is_int((long long)text.len, 0, "an empty file is read as nothing");
    unlink("t_file.tmp");
}

static void says_what_is_wrong(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    struct err e = { "" };

    is_int(file_read("t_file.none", &text, &e), -ENOENT,
           "file_read returns -ENOENT where there is no file");
    is_str(e.text, "cannot read t_file.none: No such file or directory",
           "the error names the file that is not there");
    is_int(file_read("", &text, &e), ERR_USAGE, "file_read refuses a name that is empty");
    is_str(e.text, "a file's name is empty", "the error says that the name is empty");
    is_int(file_write("none/t_file.tmp", "x", 1, &e), -ENOENT,
           "file_write returns -ENOENT where there is no folder");
    is_str(e.text, "cannot write none/t_file.tmp: No such file or directory",
           "the error names the file that cannot be written");
    is_int(file_write("/dev/full", "x", 1, &e), -ENOSPC,
           "file_write returns -ENOSPC where nothing fits");
    is_str(e.text, "cannot write /dev/full: No space left on device",
           "the error says that there is no space");
    text.max = 4;
    is_int(file_write("t_file.tmp", "12345", 5, &e), 0, "file_write writes five bytes");
    is_int(file_read("t_file.tmp", &text, &e), -EFBIG,
           "file_read refuses five bytes into a text of four");
    unlink("t_file.tmp");
}

/* In a folder of somebody else's anything may lie under the name of a file. */
static void refuses_what_is_no_file(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    struct err e = { "" };

    is_int(file_write("t_file.tmp", "one\n", 4, &e), 0, "a regular file is written");
    is_int(file_read_regular("t_file.tmp", &text, &e), 0, "file_read_regular reads a regular file");
    is_str(str_text(&text), "one\n", "a regular file is read whole");
    ok(symlink("t_file.tmp", "t_file.link") == 0 && mkfifo("t_file.pipe", 0600) == 0,
       "a link and a pipe are made");
    is_int(file_read_regular("t_file.link", &text, &e), -ELOOP, "file_read_regular refuses a link");
    is_str(e.text, "cannot read t_file.link: it is a link", "the error names the link");
    is_int((long long)text.len, 0, "nothing is read of a link");
    is_int(file_read_regular("t_file.pipe", &text, &e), -EINVAL,
           "file_read_regular refuses a pipe that nobody writes to");
    is_str(e.text, "cannot read t_file.pipe: it is not a regular file", "the error names the pipe");
    is_int(file_read_regular(".", &text, &e), -EINVAL, "file_read_regular refuses a folder");
    is_int(file_read_regular("t_file.none", &text, &e), -ENOENT,
           "file_read_regular returns -ENOENT where there is no file");
    unlink("t_file.link");
    unlink("t_file.pipe");
    unlink("t_file.tmp");
}

/* Also where /dev/stdin could not be opened: a socket. */
static void reads_standard_input(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    struct err e = { "" };
    int ends[2];

    ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && write(ends[1], "one\n", 4) == 4 &&
           dup2(ends[0], 0) == 0,
       "a socket is standard input");
    close(ends[0]);
    close(ends[1]);
    is_int(file_read_input("-", &text, &e), 0, "file_read_input takes '-' for standard input");
    is_str(str_text(&text), "one\n", "file_read_input reads a socket whole");
    close(0);
    is_int(file_read_input("-", &text, &e), -EBADF,
           "file_read_input fails where standard input is closed");
    is_str(e.text, "cannot read standard input: Bad file descriptor",
           "the error says that standard input is no descriptor");
    is_int(file_read_input("t_file.none", &text, &e), -ENOENT,
           "file_read_input takes other names for files");
    is_str(file_input_name("-"), "standard input", "file_input_name of '-' is 'standard input'");
    is_str(file_input_name("x"), "x", "file_input_name of a file is its name");
}

/* A target that cannot be renamed onto stands for a disk that fails at the last step. */
static void leaves_nothing_behind(void)
{
    struct err e = { "" };
    glob_t found;

    mkdir("t_file.dir", 0755);
    ok(file_write("t_file.dir", "x", 1, &e) < 0, "a directory is not overwritten");
    ok(glob("t_file.dir*", 0, NULL, &found) == 0 && found.gl_pathc == 1,
       "no half-written file is left where a write fails");
    globfree(&found);
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

    is_int(mkfifo("t_file.pipe", 0600), 0, "a pipe can be made");
    fd = open("t_file.pipe", O_RDWR | O_CLOEXEC);
    is_int(file_write("t_file.pipe", "x", 1, &e), 0, "file_write writes to a pipe");
    ok(stat("t_file.pipe", &st) == 0 && S_ISFIFO(st.st_mode),
       "a pipe is still one after file_write");
    ok(fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && read(fd, got, sizeof(got)) == 1 && got[0] == 'x',
       "what file_write wrote comes out of the pipe");
    close(fd);
    unlink("t_file.pipe");
    is_int(file_write("t_file.tmp", "old", 3, &e), 0, "file_write makes the target of a link");
    is_int(symlink("t_file.tmp", "t_file.link"), 0, "a link to a file can be made");
    is_int(file_write("t_file.link", "new", 3, &e), 0, "file_write writes through a link");
    ok(lstat("t_file.link", &st) == 0 && S_ISLNK(st.st_mode),
       "a link is still one after file_write");
    is_int(file_read("t_file.tmp", &text, &e), 0, "file_read reads the target of the link");
    is_str(str_text(&text), "new", "the link's target has what was written through it");
    unlink("t_file.link");
    unlink("t_file.tmp");
}

/* How many bytes come out of a pipe until its end, read by a child once the pipe is full. */
static pid_t read_full_pipe(const char *path)
{
    pid_t pid = fork();
    long sum = 0;
    char part[4096];
    ssize_t n;
    int fd, full = 0;

    if (pid != 0)
        return pid;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && ioctl(fd, FIONREAD, &full) == 0 && full < fcntl(fd, F_GETPIPE_SZ))
        (void)poll(NULL, 0, 1);
    while ((n = read(fd, part, sizeof(part))) > 0)
        sum += n;
    _exit(sum == MANY ? 0 : 1);
}

/* It has no end while nobody comes, and a reader that is slow gets all of it. */
static void pipes_without_readers(void)
{
    static const char many[MANY];
    struct err e = { "" };
    int status = -1;
    pid_t pid;

    alarm(60);
    is_int(mkfifo("t_file.pipe", 0600), 0, "a pipe without a reader can be made");
    is_int(file_write("t_file.pipe", "x", 1, &e), -ENXIO,
           "file_write does not wait for somebody who reads a pipe");
    is_str(e.text, "cannot write t_file.pipe: nobody reads that pipe",
           "the error says that nobody reads the pipe");
    pid = read_full_pipe("t_file.pipe");
    while (file_write("t_file.pipe", many, MANY, &e) == -ENXIO)
        (void)poll(NULL, 0, 1); /* it is not there yet */
    ok(waitpid(pid, &status, 0) == pid && status == 0,
       "file_write waits for a reader that is there and slow");
    alarm(0);
    unlink("t_file.pipe");
}

/* In another container there may be a process of our number that writes the same file. */
static void drafts_are_of_one(void)
{
    char draft[2][64], small[8], others[64];
    struct stat st;
    int fd[2];

    snprintf(others, sizeof(others), "t_file.own.%d.new", (int)getpid());
    is_int(file_write(others, "half", 4, NULL), 0, "another process may have a draft");
    is_int(file_write("t_file.own", "own", 3, NULL), 0, "file_write writes beside another's draft");
    ok(stat(others, &st) == 0 && st.st_size == 4, "file_write leaves another's draft as it is");
    unlink(others);
    unlink("t_file.own");
    for (int i = 0; i < 2; i++)
        fd[i] = file_draft(AT_FDCWD, "t_file.own", 0600, draft[i], sizeof(draft[i]));
    ok(fd[0] >= 0 && fd[1] >= 0, "file_draft makes two drafts of a name at a time");
    ok(strcmp(draft[0], draft[1]) != 0, "two drafts are called '%s' and '%s'", draft[0], draft[1]);
    for (int i = 0; i < 2; i++) {
        ok(stat(draft[i], &st) == 0 && (st.st_mode & 0777) == 0600,
           "draft %d has the mode that was asked for", i);
        is_int(write(fd[i], "x", 1), 1, "draft %d can be written", i);
        close(fd[i]);
        unlink(draft[i]);
    }
    is_int(file_draft(AT_FDCWD, "t_file.own", 0600, small, sizeof(small)), -ENAMETOOLONG,
           "a draft's name that does not fit is refused");
    is_int(file_draft(AT_FDCWD, "t_file.none/own", 0600, draft[0], sizeof(draft[0])), -ENOENT,
           "a folder that is not there has no drafts");
}

/* Each draft of a writer that lives moves the next by one, and only so many are tried. */
static void drafts_pass_others(void)
{
    enum { TRIED = 16 };
    char draft[64], before[64] = "";
    int fd, held[TRIED];

    for (int i = 0; i < TRIED; i++) {
        char want[64];

        held[i] = file_draft(AT_FDCWD, "t_file.own", 0600, draft, sizeof(draft));
        snprintf(want, sizeof(want), "t_file.own.%08x.new", 0x07070707U + (unsigned)i);
        is_str(draft, want, "draft %d is called %s", i, want);
    }
    is_int(file_draft(AT_FDCWD, "t_file.own", 0600, draft, sizeof(draft)), -EEXIST,
           "a draft is refused where all its sixteen names are taken");
    for (int i = 0; i < TRIED; i++) {
        snprintf(before, sizeof(before), "t_file.own.%08x.new", 0x07070707U + (unsigned)i);
        is_int(unlink(before), 0, "draft %d of a writer that lives is left alone", i);
        close(held[i]);
    }
    no_chance = true;
    fd = file_draft(AT_FDCWD, "t_file.own", 0600, draft, sizeof(draft));
    no_chance = false;
    snprintf(before, sizeof(before), "t_file.own.%08x.new", (unsigned)getpid());
    ok(fd >= 0, "a draft is made before the kernel has any chance to give");
    is_str(draft, before, "a draft without chance is called by the process: %s", before);
    close(fd);
    unlink(draft);
}

/* Who may not read what is there may not read what replaces it. */
static void keeps_modes(void)
{
    struct stat st;

    is_int(file_write("t_file.tmp", "old", 3, NULL), 0, "file_write makes a file to be protected");
    is_int(chmod("t_file.tmp", 0600), 0, "a file can be made its owner's alone");
    is_int(file_write("t_file.tmp", "new", 3, NULL), 0,
           "file_write replaces a file that is its owner's alone");
    ok(stat("t_file.tmp", &st) == 0 && (st.st_mode & 0777) == 0600,
       "the new file is still its owner's alone");
    unlink("t_file.tmp");
}

static bool all_of(const struct str *text, char c)
{
    for (size_t i = 0; i < text->len; i++)
        if (str_text(text)[i] != c)
            return false;
    return true;
}

/* Processes that write the same file: whoever is last has it, whole. */
static void writes_whole_files(void)
{
    enum { SIZE = 1 << 18, ROUNDS = 40 };
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    CLEANUP(freep) char *data = malloc(SIZE);
    int torn = 0, left = 2, status;
    pid_t pids[2];

    for (int i = 0; i < 2; i++) {
        memset(data, 'a' + i, SIZE);
        pids[i] = fork();
        for (int k = 0; pids[i] == 0 && k < ROUNDS; k++)
            if (file_write("t_file.tmp", data, SIZE, NULL) < 0)
                _exit(1);
        if (pids[i] == 0)
            _exit(0);
    }
    while (left > 0) {
        if (file_read("t_file.tmp", &text, NULL) == 0)
            torn += text.len != SIZE || !all_of(&text, str_text(&text)[0]);
        if (waitpid(-1, &status, WNOHANG) > 0) {
            is_int(status, 0, "a process that writes in competition succeeds");
            left--;
        }
    }
    is_int(torn, 0, "file_read never sees parts of two writers' files");
    unlink("t_file.tmp");
}

/* The lowest descriptor is one like others. */
static void closes_the_first_too(void)
{
    close(STDIN_FILENO);
    {
        CLEANUP(closep) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        is_int(fd, 0, "a process without standard input gets descriptor 0");
    }
    is_int(fcntl(STDIN_FILENO, F_GETFD), -1, "descriptor 0 is closed with its owner");
}

int main(void)
{
    reads_what_was_written();
    says_what_is_wrong();
    refuses_what_is_no_file();
    reads_standard_input();
    leaves_nothing_behind();
    replaces_files_alone();
    pipes_without_readers();
    drafts_are_of_one();
    drafts_pass_others();
    keeps_modes();
    writes_whole_files();
    closes_the_first_too();
    return done();
}
