#include "cmd/common/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include "base/clock.h"

/* The alternate screen, no cursor, lines that are too long cut and not wrapped; and back. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l";
static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

enum { PAGE_MAX = 1 << 20, SIZE_COLUMNS = 80, SIZE_ROWS = 24, SIZE_MAX_CELLS = 1000 };

bool terminal_is_one(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int write_all(const char *text, size_t n)
{
    while (n > 0) {
        ssize_t written = write(STDOUT_FILENO, text, n);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        text += written;
        n -= (size_t)written;
    }
    return 0;
}

static void read_size(struct terminal *t)
{
    struct winsize size;

    t->columns = SIZE_COLUMNS;
    t->rows = SIZE_ROWS;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row)
        return;
    t->columns = MIN(size.ws_col, SIZE_MAX_CELLS);
    t->rows = MIN(size.ws_row, SIZE_MAX_CELLS);
}

static sigset_t watched(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        sigaddset(&set, numbers[i]);
    return set;
}

int terminal_open(struct terminal *t, struct err *e)
{
    sigset_t set = watched();
    struct termios raw;

    t->signals = -1;
    if (tcgetattr(STDIN_FILENO, &t->was) < 0)
        return err_set(e, -errno, "terminal: %s", strerror(errno));
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return err_set(e, -errno, "signals: %s", strerror(errno));
    t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (t->signals < 0)
        return err_set(e, -errno, "signals: %s", strerror(errno));
    raw = t->was;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* ^Z would leave the shell with our screen */
    read_size(t);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) < 0 || write_all(enter, sizeof(enter) - 1) < 0) {
        int rc = err_set(e, -errno, "terminal: %s", strerror(errno));

        terminal_close(t);
        return rc;
    }
    return 0;
}

void terminal_close(struct terminal *t)
{
    if (t->signals < 0)
        return;
    (void)write_all(leave, sizeof(leave) - 1); /* nobody is there who could read of a failure */
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &t->was);
    close(t->signals);
    t->signals = -1;
}

static enum terminal_event read_signals(struct terminal *t)
{
    struct signalfd_siginfo info;

    while (read(t->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (info.ssi_signo != SIGWINCH)
            return TERMINAL_ENDED;
    read_size(t);
    return TERMINAL_RESIZED;
}

enum terminal_event terminal_wait(struct terminal *t, int64_t timeout_ns, char *key)
{
    struct pollfd fds[] = { { .fd = t->signals, .events = POLLIN },
                            { .fd = STDIN_FILENO, .events = POLLIN } };
    int64_t ns = timeout_ns > 0 ? timeout_ns : 0;
    struct timespec left = { ns / NS_PER_S, ns % NS_PER_S };
    int n = ppoll(fds, ARRAY_SIZE(fds), &left, NULL);

    if (n < 0 && errno != EINTR)
        return TERMINAL_ENDED;
    if (n <= 0)
        return TERMINAL_TIMEOUT;
    if (fds[0].revents)
        return read_signals(t);
    return read(STDIN_FILENO, key, 1) == 1 ? TERMINAL_KEY : TERMINAL_ENDED;
}

int terminal_show(const struct terminal *t, const char *page)
{
    CLEANUP(str_done) struct str out = STR_INIT(PAGE_MAX);
    unsigned lines = 0;

    str_add(&out, "\033[H");
    while (*page && lines++ < t->rows) {
        size_t len = strcspn(page, "\n");

        str_add(&out, lines > 1 ? "\r\n" : "");
        str_add_n(&out, page, len);
        str_add(&out, "\033[K"); /* what the last page had behind it */
        page += len + (page[len] == '\n');
    }
    str_add(&out, "\033[J");
    if (str_error(&out))
        return str_error(&out);
    return write_all(str_text(&out), out.len);
}
