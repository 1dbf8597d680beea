#include "run/ring/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "brim/control.h"

_Static_assert(offsetof(struct brim_control, seq) == 24, "the layout of brim/control.h");
_Static_assert(offsetof(struct brim_control, number) == 32, "the layout of brim/control.h");
_Static_assert(offsetof(struct brim_control, text) == 48, "the layout of brim/control.h");
_Static_assert(sizeof(struct brim_control) <= BRIM_CONTROL_SIZE, "it fits the file");

/* What was written last is known here: the job, whose file it is as well, may have changed it. */
struct control {
    int fd;
    uint64_t seq, number;
    control_fn *relay; /* NULL: nobody */
    void *arg;
};

/* All of it, in a file that has it already: 0, or a negative errno. */
static int write_at(int fd, const void *data, size_t len, off_t at)
{
    const char *bytes = data;

    while (len) {
        ssize_t n = pwrite(fd, bytes, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        bytes += n;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* A file of that size and no more. */
static int make_file(const char *path, int *ret)
{
    static const union {
        struct brim_control head;
        char bytes[BRIM_CONTROL_SIZE];
    } empty;
    struct brim_control head = { .major = BRIM_CONTROL_MAJOR,
                                 .minor = BRIM_CONTROL_MINOR,
                                 .size = BRIM_CONTROL_SIZE,
                                 .pid = (int32_t)getpid() };
    int rc;

    *ret = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*ret < 0)
        return -errno;
    memcpy(head.magic, BRIM_CONTROL_MAGIC, sizeof(head.magic));
    rc = write_at(*ret, &empty, sizeof(empty), 0);
    return rc < 0 ? rc : write_at(*ret, &head, sizeof(head), 0);
}

int control_make(struct control **ret, const char *folder, struct err *e)
{
    CLEANUP(control_closep) struct control *c = calloc(1, sizeof(*c));
    char path[PATH_MAX];
    int rc;

    if (!c)
        return err_nomem(e);
    c->fd = -1;
    if (snprintf(path, sizeof(path), "%s/" BRIM_CONTROL_NAME, folder) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "%s: %s", folder, strerror(ENAMETOOLONG));
    rc = make_file(path, &c->fd);
    if (rc < 0)
        return err_set(e, rc, "%s: %s", path, strerror(-rc));
    *ret = steal(&c);
    return 0;
}

void control_close(struct control *c)
{
    if (!c)
        return;
    closep(&c->fd);
    free(c);
}

static int put_seq(const struct control *c, uint64_t seq)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return write_at(c->fd, &seq, sizeof(seq), offsetof(struct brim_control, seq));
}

static int check(const struct control *c, const char *text)
{
    struct stat st;

    if (strlen(text) >= BRIM_CONTROL_TEXT)
        return -EINVAL;
    if (fstat(c->fd, &st) < 0 || st.st_size < BRIM_CONTROL_SIZE)
        return -ENODATA;
    return 0;
}

int control_hand_on(struct control *c, const struct control_request *r)
{
    struct {
        uint64_t number, at_step;
        char text[BRIM_CONTROL_TEXT];
    } request = { .number = r->number, .at_step = r->at_step };
    int rc = check(c, r->text);

    if (rc < 0)
        return rc;
    memcpy(request.text, r->text, strlen(r->text));
    rc = put_seq(c, c->seq + 1);
    if (rc == 0)
        rc = write_at(c->fd, &request, sizeof(request), offsetof(struct brim_control, number));
    if (rc == 0)
        rc = put_seq(c, c->seq + 2);
    if (rc < 0)
        return rc;
    c->seq += 2;
    c->number = r->number;
    return 0;
}

int control_try(struct control *c, const struct control_request *r, uint64_t *number)
{
    struct control_request numbered = *r;
    int rc = check(c, r->text);

    numbered.number = c->number + 1;
    if (rc == 0 && c->relay)
        c->relay(c->arg, &numbered);
    if (rc == 0)
        rc = control_hand_on(c, &numbered);
    if (rc == 0)
        *number = numbered.number;
    return rc;
}

int control_ask(struct control *c, const char *text, uint64_t at_step, uint64_t *number)
{
    return control_try(c, &(const struct control_request){ .text = text, .at_step = at_step },
                       number);
}

void control_keep(const struct control *c)
{
    if (c->relay)
        c->relay(c->arg, NULL);
}

void control_relay(struct control *c, control_fn *fn, void *arg)
{
    c->relay = fn;
    c->arg = arg;
}
