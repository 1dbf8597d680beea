/* brim and its restorer talk by a socket that keeps messages apart:
 *
 *     now TARGET          the value; "" when there is none
 *     set TARGET VALUE    "" or why not
 *     end                 "" or what could not be put back; then the restorer is gone
 *
 * A socket that is closed is an end, too: brim was killed. The note has a line with the boot that
 * it is of, and what machine_setting_read() told of what was changed; after another boot it means
 * nothing. */
#include "run/setting/setting_restorer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "probe/kernel/boot_id.h"
#include "run/archive/archive.h"

enum { MESSAGE = 512, PATH_MOST = 4096, ANSWER_MS = 5000, END_MS = 30000, FILES_MOST = 1024 };
/* A restorer whose brim was killed is about to end. */
enum { LOCK_TRIES = 10, LOCK_MS = 100 };

struct setting_restorer {
    int socket; /* -1: it does not answer */
};

/* ---- the note ---- */

/* What is held while there may be a restorer, and what it has changed. */
struct note {
    char path[PATH_MOST];
    char boot[BOOT_ID];
    int lock;
    struct str was; /* lines */
};

static void note_done(struct note *n)
{
    closep(&n->lock);
    n->lock = -1;
    str_done(&n->was);
}

static bool take_lock(int fd)
{
    int tries = 0;

    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (++tries == LOCK_TRIES)
            return false;
        (void)poll(NULL, 0, LOCK_MS);
    }
    return true;
}

/* Take the lock and read the note. -ENOENT, without a sentence: there is
 * no note, and none was to be made. */
static int note_open(struct note *n, const char *folder, bool make, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(LEVER_TEXT_MAX);
    char lock[PATH_MOST];
    const char *line;
    int rc;

    *n = (struct note){ .lock = -1, .was = STR_INIT(LEVER_TEXT_MAX) };
    if (snprintf(n->path, sizeof(n->path), "%s/undo", folder) >= (int)sizeof(n->path) ||
        snprintf(lock, sizeof(lock), "%s/lock", folder) >= (int)sizeof(lock))
        return err_set(e, -ENAMETOOLONG, "%s: %s", folder, strerror(ENAMETOOLONG));
    if (!make && access(n->path, F_OK) < 0)
        return -ENOENT;
    rc = make ? runs_make(folder, e) : 0;
    if (rc < 0)
        return rc;
    n->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (n->lock < 0)
        return err_set(e, -errno, "%s: %s", lock, strerror(errno));
    if (!take_lock(n->lock))
        return err_set(e, -EBUSY,
                       "another brim optimize changes settings of this machine, and puts them back "
                       "when it ends");
    boot_id_read(n->boot);
    if (access(n->path, F_OK) < 0)
        return 0;
    rc = file_read(n->path, &text, e);
    if (rc < 0)
        return rc;
    line = str_text(&text);
    if (!strncmp(line, "boot ", 5) && !strncmp(line + 5, n->boot, strlen(n->boot)) && n->boot[0])
        str_add(&n->was, line);
    return str_error(&n->was) ? err_nomem(e) : 0;
}

/* Write what was changed; when there is nothing left the note goes. */
static int note_write(const struct note *n, const char *lines, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(LEVER_TEXT_MAX);

    if (!*lines)
        return unlink(n->path) < 0 && errno != ENOENT
                   ? err_set(e, -errno, "%s: %s", n->path, strerror(errno))
                   : 0;
    str_addf(&text, "boot %s\n%s", n->boot, lines);
    return str_error(&text) ? err_nomem(e) : file_write(n->path, str_text(&text), text.len, e);
}

/* ---- changing, and putting back ---- */

/* Put back what the lines say; those that fail stay in the note. How many, or the first failure. */
static int put_back(struct machine_settings *l, struct note *n, struct str *told, struct err *e)
{
    CLEANUP(str_done) struct str left = STR_INIT(LEVER_TEXT_MAX);
    const char *at = str_text(&n->was);
    struct machine_setting_line line;
    int done = 0, rc = 0;

    while (machine_setting_next(&at, &line)) {
        struct err why = { "" };
        int one = machine_setting_put(l, &line, &why);

        if (one == 0) {
            done++;
            if (told)
                str_addf(told, "%s of %s is %s again\n", line.target, line.thing, line.value);
            continue;
        }
        str_addf(&left, "%s %s %s\n", line.target, line.thing, line.value);
        if (rc == 0)
            rc = err_set(e, one, "%s of %s could not be put back to %s: %s", line.target,
                         line.thing, line.value, why.text);
    }
    if (str_error(&left))
        return err_nomem(e);
    str_reset(&n->was);
    str_add(&n->was, str_text(&left));
    if (rc == 0 || done)
        rc = note_write(n, str_text(&left), rc == 0 ? e : NULL) < 0 && rc == 0 ? -EIO : rc;
    return rc < 0 ? rc : done;
}

static bool has_target(const char *lines, const char *target)
{
    struct machine_setting_line line;

    while (machine_setting_next(&lines, &line))
        if (!strcmp(line.target, target))
            return true;
    return false;
}

static int put_all(struct machine_settings *l, const char *lines, const char *value, struct err *e)
{
    struct machine_setting_line line;
    int rc = 0;

    while (rc == 0 && machine_setting_next(&lines, &line)) {
        if (value)
            snprintf(line.value, sizeof(line.value), "%s", value);
        rc = machine_setting_put(l, &line, e);
    }
    return rc;
}

/* The note is there before anything is changed. */
static int change(struct machine_settings *l, struct note *n, const char *target, const char *value,
                  struct err *e)
{
    CLEANUP(str_done) struct str now = STR_INIT(LEVER_TEXT_MAX);
    int rc = machine_setting_read(l, target, &now, e);

    if (rc == 0 && !has_target(str_text(&n->was), target))
        rc = machine_setting_check(l, target, e);
    if (rc < 0)
        return rc;
    if (!has_target(str_text(&n->was), target)) {
        str_add(&n->was, str_text(&now));
        rc = str_error(&n->was) ? err_nomem(e) : note_write(n, str_text(&n->was), e);
    }
    if (rc == 0)
        rc = put_all(l, str_text(&now), value, e);
    if (rc < 0)
        (void)put_all(l, str_text(&now), NULL, NULL); /* those before the one that failed */
    return rc;
}

/* ---- the process ---- */

static void answer_now(struct machine_settings *l, const char *target, char answer[MESSAGE])
{
    CLEANUP(str_done) struct str now = STR_INIT(LEVER_TEXT_MAX);
    char value[LEVER_WORD];
    const char *same = machine_setting_read(l, target, &now, NULL) == 0
                           ? machine_setting_same(str_text(&now), value)
                           : NULL;

    snprintf(answer, MESSAGE, "%s", same ? same : "");
}

static void answer_set(struct machine_settings *l, struct note *n, const char *words,
                       char answer[MESSAGE])
{
    char target[LEVER_WORD];
    size_t len = strcspn(words, " ");
    struct err e = { "" };

    snprintf(target, sizeof(target), "%.*s", (int)MIN(len, sizeof(target) - 1), words);
    if (change(l, n, target, words + len + (words[len] == ' '), &e) < 0)
        snprintf(answer, MESSAGE, "%s", e.text);
}

static void serve(int socket, struct note *n, struct machine_settings *l)
{
    struct err e = { "" };
    bool over = false;

    while (!over) {
        char text[MESSAGE], answer[MESSAGE] = "";
        ssize_t got = recv(socket, text, sizeof(text) - 1, 0);

        if (got < 0 && errno == EINTR)
            continue;
        over = got <= 0;
        text[MAX(got, 0)] = 0;
        if (!strncmp(text, "now ", 4)) {
            answer_now(l, text + 4, answer);
        } else if (!strncmp(text, "set ", 4)) {
            answer_set(l, n, text + 4, answer);
        } else {
            over = true;
            if (put_back(l, n, NULL, &e) < 0)
                snprintf(answer, sizeof(answer), "%s", e.text);
        }
        (void)send(socket, answer, strlen(answer) + 1, MSG_NOSIGNAL);
    }
}

/* Of what brim has open nothing may stay so: a pipe to another program would not end. */
static void leave(int socket, int lock)
{
    static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2 };
    int null;

    setsid();
    for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
        signal(ignored[i], SIG_IGN);
    for (int fd = 0; fd < FILES_MOST; fd++)
        if (fd != socket && fd != lock)
            close(fd);
    null = open("/dev/null", O_RDWR); /* 0 */
    (void)dup2(null, 1);
    (void)dup2(null, 2);
    (void)prctl(PR_SET_NAME, "brim-restorer", 0, 0, 0);
    if (chdir("/") < 0)
        _exit(1);
}

/* A grandchild, so that it belongs to nobody who waits for children. */
static void become_restorer(int socket, struct note *n, const struct machine_setting_about *about)
{
    struct machine_settings l;
    pid_t pid = fork();

    if (pid != 0)
        _exit(pid < 0);
    leave(socket, n->lock);
    machine_settings_init(&l, about);
    serve(socket, n, &l);
    machine_settings_done(&l);
    note_done(n);
    _exit(0);
}

/* ---- brim's side ---- */

/* An answer into text: its length, or -EIO when there is none in time. */
static int hear(struct setting_restorer *w, int wait_ms, char text[MESSAGE])
{
    struct pollfd p = { .fd = w->socket, .events = POLLIN };
    ssize_t got = -1;

    while (w->socket >= 0 && poll(&p, 1, wait_ms) < 0 && errno == EINTR)
        ;
    if (w->socket >= 0 && p.revents)
        got = recv(w->socket, text, MESSAGE - 1, MSG_DONTWAIT);
    text[MAX(got, 0)] = 0;
    if (got > 0)
        return (int)got;
    closep(&w->socket); /* what it says later would be taken for another answer */
    w->socket = -1;
    return -EIO;
}

static int ask(struct setting_restorer *w, int wait_ms, char text[MESSAGE])
{
    if (w->socket < 0 || send(w->socket, text, strlen(text), MSG_NOSIGNAL) < 0)
        return -EIO;
    return hear(w, wait_ms, text);
}

static int fork_restorer(struct setting_restorer *w, struct note *n,
                         const struct machine_setting_about *about, struct err *e)
{
    int ends[2], status = 0;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set(e, -errno, "cannot start a process: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        free(w); /* it is of the other side */
        become_restorer(ends[1], n, about);
    }
    close(ends[1]);
    w->socket = ends[0];
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid < 0 || status ? err_set(e, -EAGAIN, "cannot start a process") : 0;
}

int setting_restorer_start(struct setting_restorer **ret, const char *folder,
                           const struct machine_setting_about *about, struct err *e)
{
    CLEANUP(freep) struct setting_restorer *w = calloc(1, sizeof(*w));
    CLEANUP(note_done) struct note n = { .lock = -1 };
    struct machine_settings l;
    int rc;

    if (!w)
        return err_nomem(e);
    rc = note_open(&n, folder, true, e);
    if (rc < 0)
        return rc;
    w->socket = -1;
    if (n.was.len) {
        machine_settings_init(&l, about);
        rc = put_back(&l, &n, NULL, e);
        machine_settings_done(&l);
    }
    if (rc >= 0)
        rc = fork_restorer(w, &n, about, e);
    if (rc < 0) {
        closep(&w->socket);
        return rc;
    }
    *ret = steal(&w);
    return 0;
}

bool setting_restorer_now(struct setting_restorer *w, const char *target, char value[LEVER_WORD])
{
    char text[MESSAGE];

    snprintf(text, sizeof(text), "now %s", target);
    if (ask(w, ANSWER_MS, text) < 0 || !text[0])
        return false;
    snprintf(value, LEVER_WORD, "%.*s", LEVER_WORD - 1, text);
    return true;
}

int setting_restorer_set(struct setting_restorer *w, const char *target, const char *value,
                         struct err *e)
{
    char text[MESSAGE];

    snprintf(text, sizeof(text), "set %s %s", target, value);
    if (ask(w, ANSWER_MS, text) < 0)
        return err_set(e, -EIO,
                       "the process that changes settings of this machine does not "
                       "answer: brim optimize --undo puts them back");
    return text[0] ? err_set(e, -EPERM, "%s", text) : 0;
}

int setting_restorer_end(struct setting_restorer *w, struct err *e)
{
    char text[MESSAGE] = "end";
    int rc;

    if (!w)
        return 0;
    rc = ask(w, END_MS, text);
    closep(&w->socket);
    free(w);
    if (rc < 0)
        return err_set(e, rc,
                       "the process that changed settings of this machine does not answer: "
                       "brim optimize --undo puts them back");
    return text[0] ? err_set(e, -EIO, "%s; brim optimize --undo tries again", text) : 0;
}

int setting_restorer_undo(const char *folder, const struct machine_setting_about *about,
                          struct str *told, struct err *e)
{
    CLEANUP(note_done) struct note n = { .lock = -1 };
    struct machine_settings l;
    int rc = note_open(&n, folder, false, e);

    if (rc == -ENOENT)
        return 0;
    if (rc < 0)
        return rc;
    machine_settings_init(&l, about);
    rc = put_back(&l, &n, told, e);
    machine_settings_done(&l);
    return rc;
}
