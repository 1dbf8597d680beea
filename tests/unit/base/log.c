#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

/* What the tests wrote on stderr since the last look; it goes to a pipe. */
static const char *said(int fd, char *buf, size_t size)
{
    ssize_t n = read(fd, buf, size - 1);

    buf[n > 0 ? n : 0] = '\0';
    return buf;
}

static void test_prefixes(int fd)
{
    char buf[4096];

    log_error("cannot open %s", "/dev/x");
    is_str(said(fd, buf, sizeof(buf)), "brim: error: cannot open /dev/x\n",
           "log_error begins with 'brim: error:'");
    log_warning("%d GPUs are missing", 2);
    is_str(said(fd, buf, sizeof(buf)), "brim: warning: 2 GPUs are missing\n",
           "log_warning begins with 'brim: warning:'");
    log_info("ready");
    is_str(said(fd, buf, sizeof(buf)), "brim: info: ready\n", "log_info begins with 'brim: info:'");

    log_set_journal(true);
    log_error("a");
    log_warning("b");
    log_info("c");
    is_str(said(fd, buf, sizeof(buf)), "<3>a\n<4>b\n<6>c\n",
           "lines for the journal begin with their priority");
    log_set_journal(false);
}

static void test_levels(int fd)
{
    char buf[4096];

    log_debug("unseen");
    is_str(said(fd, buf, sizeof(buf)), "", "debug is not written at start");
    log_set_level("debug");
    log_debug("seen");
    is_str(said(fd, buf, sizeof(buf)), "brim: debug: seen\n", "debug is written at level debug");
    log_set_level("error");
    log_warning("unseen");
    log_info("unseen");
    log_error("seen");
    is_str(said(fd, buf, sizeof(buf)), "brim: error: seen\n",
           "only errors are written at level error");
    log_set_level("warning");
    log_info("unseen");
    log_warning("seen");
    is_str(said(fd, buf, sizeof(buf)), "brim: warning: seen\n",
           "warnings are written at level warning");
    log_set_level("info");
    for (size_t i = 0; log_level_names[i]; i++) {
        log_set_level(log_level_names[i]);
        log_error("seen");
        is_str(said(fd, buf, sizeof(buf)), "brim: error: seen\n", "errors are written at level %s",
               log_level_names[i]);
    }
    log_set_level("info");
}

static void test_text(int fd)
{
    char buf[4096], long_text[2000];

    log_info("%s", "a\nb\x1b[2Jc\td\x7f");
    is_str(said(fd, buf, sizeof(buf)), "brim: info: a?b?[2Jc?d?\n",
           "control characters are masked");
    log_info("%s", "\xc3\xa9");
    is_str(said(fd, buf, sizeof(buf)), "brim: info: \xc3\xa9\n", "UTF-8 is not masked");

    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    log_info("%s", long_text);
    said(fd, buf, sizeof(buf));
    ok(strlen(buf) > 1000 && strlen(buf) < 1100, "a line of 2,000 characters is cut");
    is_str(buf + strlen(buf) - 5, "x...\n", "a line that is cut ends in dots");

    errno = ENOENT;
    log_info("cannot: %m");
    is_int(errno, ENOENT, "log_info keeps errno");
    is_str(said(fd, buf, sizeof(buf)), "brim: info: cannot: No such file or directory\n",
           "%%m in log_info is the caller's errno");
}

int main(void)
{
    int fds[2], old_stderr = dup(STDERR_FILENO);

    if (old_stderr < 0 || pipe2(fds, O_NONBLOCK) < 0 || dup2(fds[1], STDERR_FILENO) < 0)
        return 1;
    test_prefixes(fds[0]);
    test_levels(fds[0]);
    test_text(fds[0]);
    /* whatever a sanitizer has to say at the end is for people */
    dup2(old_stderr, STDERR_FILENO);
    close(old_stderr);
    close(fds[0]);
    close(fds[1]);
    return done();
}
