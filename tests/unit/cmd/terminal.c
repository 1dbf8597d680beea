/* The terminal as a page, on a pseudo-terminal: how it is taken over and given back, keys, signals,
 * sizes and pages. */
#include "cmd/common/terminal.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "folder.h"
#include "tap.h"

enum { TEXT = 4096, MEMORY = 8 };

/* Longer than any test takes: what is waited for comes. */
#define LONG (600 * NS_PER_S)

#define MARK "\a"
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static int master, slave, out;

/* What was shown on the terminal until now: up to a mark behind it, as terminals may be late. */
static const char *shown(void)
{
    static char text[TEXT];
    size_t len = 0;

    folder_need((int)write(slave, MARK, 1), "the terminal");
    while (len == 0 || text[len - 1] != *MARK) {
        ssize_t n = read(master, text + len, sizeof(text) - 1 - len);

        folder_need(n > 0 ? 0 : -1, "the terminal");
        len += (size_t)n;
    }
    text[len - 1] = '\0';
    return text;
}

/* Standard output is the terminal, or the real one for the test's lines. */
static void on_terminal(bool on)
{
    fflush(stdout);
    folder_need(dup2(on ? slave : out, STDOUT_FILENO), "standard output");
}

static void resize(unsigned columns, unsigned rows)
{
    const struct winsize size = { .ws_col = (unsigned short)columns,
                                  .ws_row = (unsigned short)rows };

    folder_need(ioctl(master, TIOCSWINSZ, &size), "the terminal's size");
}

static void key(const char *text)
{
    folder_need((int)write(master, text, strlen(text)), "a key");
}

static void test_is_one(void)
{
    bool both, other;

    on_terminal(true);
    both = terminal_is_one();
    on_terminal(false);
    ok(both, "a terminal is one");
    other = terminal_is_one();
    ok(!other || isatty(out), "standard output elsewhere is none");
}

static void test_take_over(struct terminal *t)
{
    struct termios was, now;
    struct err e = { "" };
    int rc;

    folder_need(tcgetattr(slave, &was), "the terminal");
    resize(120, 40);
    on_terminal(true);
    rc = terminal_open(t, &e);
    on_terminal(false);
    is_int(rc, 0, "a terminal is taken over: %s", e.text);
    is_str(shown(), ENTER, "the page has a screen of its own");
    is_int(t->columns, 120, "the terminal's width is known");
    is_int(t->rows, 40, "the terminal's height is known");
    folder_need(tcgetattr(slave, &now), "the terminal");
    ok(was.c_lflag & ICANON && was.c_lflag & ECHO, "a terminal has lines and shows keys");
    ok(!(now.c_lflag & ICANON) && !(now.c_lflag & ECHO), "keys come one by one, and are not shown");
    ok(now.c_cc[VMIN] == 1 && now.c_cc[VTIME] == 0, "a key is waited for");
    ok(now.c_cc[VSUSP] == _POSIX_VDISABLE, "no key stops the program");
}

static void test_events(struct terminal *t)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    char c = 0;

    is_int(terminal_wait(t, 0, &c), TERMINAL_TIMEOUT, "nothing has come");
    is_int(terminal_wait(t, -5, &c), TERMINAL_TIMEOUT, "a time that is over is no time");
    is_int(terminal_wait(t, NS_PER_MS, &c), TERMINAL_TIMEOUT, "nothing comes in a millisecond");
    key("ab");
    is_int(terminal_wait(t, LONG, &c), TERMINAL_KEY, "a key comes");
    is_int(c, 'a', "the first key is read");
    is_int(terminal_wait(t, LONG, &c), TERMINAL_KEY, "a second key comes");
    is_int(c, 'b', "the second key is read");
    is_str(shown(), "", "keys are not shown");
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        folder_need(raise(ends[i]) ? -1 : 0, "a signal");
        is_int(terminal_wait(t, LONG, &c), TERMINAL_ENDED, "signal %d ends it", ends[i]);
    }
}

static void test_sizes(struct terminal *t)
{
    static const struct {
        unsigned columns, rows, wide, high;
    } cases[] = {
        { 60, 20, 60, 20 },         { 1, 1, 1, 1 },
        { 0, 20, 80, 24 },          { 60, 0, 80, 24 },
        { 1000, 1000, 1000, 1000 }, { 2000, 3000, 1000, 1000 },
    };
    char c;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        enum terminal_event event;

        resize(cases[i].columns, cases[i].rows);
        folder_need(raise(SIGWINCH) ? -1 : 0, "a signal");
        on_terminal(true);
        event = terminal_wait(t, LONG, &c);
        on_terminal(false);
        is_int(event, TERMINAL_RESIZED, "size %zu is told", i);
        is_int(t->columns, cases[i].wide, "size %zu has its width", i);
        is_int(t->rows, cases[i].high, "size %zu has its height", i);
    }
}

/* A page on so many rows. */
static const char *page(struct terminal *t, unsigned rows, const char *text)
{
    int rc;

    t->rows = rows;
    on_terminal(true);
    rc = terminal_show(t, text);
    on_terminal(false);
    is_int(rc, 0, "a page is shown");
    return shown();
}

static void test_pages(struct terminal *t)
{
    is_str(page(t, 5, "a\nbc\n"), "\033[Ha\033[K\r\nbc\033[K\033[J", "each line is cleared");
    is_str(page(t, 5, "a"), "\033[Ha\033[K\033[J", "a last line needs no end");
    is_str(page(t, 5, "a\n\nb"), "\033[Ha\033[K\r\n\033[K\r\nb\033[K\033[J", "lines may be empty");
    is_str(page(t, 2, "a\nb\nc\n"), "\033[Ha\033[K\r\nb\033[K\033[J",
           "lines for which there is no room are left out");
    is_str(page(t, 5, ""), "\033[H\033[J", "a page may be empty");
}

static void test_give_back(struct terminal *t)
{
    struct termios now;
    int signals = t->signals;

    on_terminal(true);
    terminal_close(t);
    on_terminal(false);
    is_str(shown(), LEAVE, "the screen is left");
    folder_need(tcgetattr(slave, &now), "the terminal");
    ok(now.c_lflag & ICANON && now.c_lflag & ECHO, "the terminal is as it was");
    is_int(t->signals, -1, "a terminal is given back once");
    ok(fcntl(signals, F_GETFD) < 0, "signals are not read any more");
    on_terminal(true);
    terminal_close(t);
    on_terminal(false);
    is_str(shown(), "", "a terminal that was given back stays as it is");
}

/* Without a terminal, and with one that goes. */
static void test_none(void)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct terminal t = { .signals = MEMORY };
    struct err e = { "" };
    char c;
    int rc;

    on_terminal(true);
    rc = terminal_open(&t, &e);
    on_terminal(false);
    is_int(rc, 0, "a terminal is taken over again");
    folder_need(dup2(null, STDIN_FILENO), "standard input");
    is_int(terminal_wait(&t, LONG, &c), TERMINAL_ENDED, "nobody is there any more");
    on_terminal(true);
    terminal_close(&t);
    on_terminal(false);
    t.signals = MEMORY;
    is_int(terminal_open(&t, &e), -ENOTTY, "what is no terminal is not taken over");
    ok(strstr(e.text, "terminal: "), "the error is about the terminal: %s", e.text);
    is_int(t.signals, -1, "what was not taken over is not given back");
    close(null);
}

int main(void)
{
    struct terminal t = { .signals = -1 };
    struct termios plain;
    const char *name;

    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || !(name = ptsname(master)) ||
        (slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
        printf("1..0 # SKIP no pseudo-terminals here\n");
        return 0;
    }
    folder_need(tcgetattr(slave, &plain), "the terminal");
    plain.c_oflag &= ~(tcflag_t)OPOST; /* what is written is what is shown */
    folder_need(tcsetattr(slave, TCSANOW, &plain), "the terminal");
    out = dup(STDOUT_FILENO);
    folder_need(out, "standard output");
    folder_need(dup2(slave, STDIN_FILENO), "standard input");
    test_is_one();
    test_take_over(&t);
    test_events(&t);
    test_sizes(&t);
    test_pages(&t);
    test_give_back(&t);
    test_none();
    return done();
}
