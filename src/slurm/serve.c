#include "slurm/serve.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "slurm/backend.h"
#include "slurm/wire.h"
#include "slurm/worker.h"

enum { QUESTION_MOST = 1 << 20, HOW_MOST = 512 };

struct serving {
    int fd;
    const struct slurm_config *config;
    const struct slurm_backend *by; /* NULL: not open yet */
    void *state;
    struct str how, last; /* last: the site that was sent */
};

int slurm_serve_get(int fd, void *to, size_t n)
{
    char *at = to;
    ssize_t got;

    while (n > 0) {
        got = recv(fd, at, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EPIPE;
        at += got;
        n -= (size_t)got;
    }
    return 0;
}

static int put(int fd, const char *at, size_t n)
{
    ssize_t done;

    while (n > 0) {
        done = send(fd, at, n, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

static int answer(const struct serving *s, int code, const char *body, size_t n)
{
    struct slurm_message m = { (uint32_t)n, code };
    int rc = put(s->fd, (const char *)&m, sizeof(m));

    return rc < 0 ? rc : put(s->fd, body, n);
}

/* The library if there is one that is known, else commands, with why. */
static int reach(struct serving *s, struct err *e)
{
    struct err why = { "" };
    int rc;

    if (s->by)
        return 0;
    if (!s->config->commands) {
        rc = slurm_by_library.open(&s->state, s->config, &s->how, &why);
        if (rc == 0)
            s->by = &slurm_by_library;
        if (rc == 0 || rc == -ENOMEM)
            return rc;
    }
    str_reset(&s->how);
    rc = slurm_by_commands.open(&s->state, s->config, &s->how, e);
    if (rc < 0)
        return why.text[0] ? err_context(e, rc, "%s, and ", why.text) : rc;
    if (why.text[0])
        str_addf(&s->how, ", since %s", why.text);
    s->by = &slurm_by_commands;
    return str_error(&s->how) ? err_nomem(e) : 0;
}

/* Whether it differs from what was sent last, but for the time. */
static bool is_news(const struct serving *s, const struct str *now)
{
    return !s->last.len || s->last.len != now->len ||
           memcmp(s->last.data + SLURM_WIRE_TIME, now->data + SLURM_WIRE_TIME,
                  now->len - SLURM_WIRE_TIME) != 0;
}

static int read_site(struct serving *s, struct err *e)
{
    CLEANUP(str_done) struct str now = STR_INIT(SLURM_WIRE_MOST);
    struct site site = { .time_ms = 0 };
    int rc = s->by->read(s->state, &site, e);

    if (rc <= 0)
        return rc;
    slurm_wire_add_site(&now, &site);
    site_done(&site);
    if (str_error(&now))
        return err_set(e, str_error(&now), "what Slurm says does not fit into memory");
    if (!is_news(s, &now))
        return 0;
    str_done(&s->last);
    s->last = now;
    now = (struct str)STR_INIT(0);
    return 1;
}

static int do_deed(struct serving *s, const struct str *body, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct site_deed deed;
    int rc = slurm_wire_deed(&deed, &a, str_text(body), body->len);

    rc = rc < 0 ? err_set(e, rc, "that is no deed") : s->by->act(s->state, &deed, e);
    arena_done(&a);
    return rc;
}

static int serve_one(struct serving *s, int what, const struct str *body)
{
    struct err e = { "" };
    int rc = reach(s, &e);

    if (rc == 0 && what == SLURM_ASK_READ)
        rc = read_site(s, &e);
    else if (rc == 0 && what == SLURM_ASK_DEED)
        rc = do_deed(s, body, &e);
    if (rc < 0)
        return answer(s, rc, e.text, strlen(e.text));
    if (what == SLURM_ASK_HOW)
        return answer(s, 0, str_text(&s->how), s->how.len);
    return rc == 1 ? answer(s, 1, s->last.data, s->last.len) : answer(s, 0, "", 0);
}

static int hear(int fd, struct slurm_message *m, struct str *body)
{
    char part[4096];
    int rc = slurm_serve_get(fd, m, sizeof(*m));
    size_t left = rc == 0 ? m->length : 0, n;

    str_reset(body);
    for (; rc == 0 && left > 0; left -= n) {
        n = MIN(left, sizeof(part));
        rc = slurm_serve_get(fd, part, n);
        str_add_n(body, part, n);
    }
    return rc < 0 ? rc : str_error(body);
}

void slurm_serve(int fd, const struct slurm_config *config)
{
    struct serving s = {
        .fd = fd, .config = config, .how = STR_INIT(HOW_MOST), .last = STR_INIT(SLURM_WIRE_MOST)
    };
    CLEANUP(str_done) struct str body = STR_INIT(QUESTION_MOST);
    struct slurm_message m;

    while (hear(fd, &m, &body) == 0 && serve_one(&s, m.code, &body) == 0)
        ;
    if (s.by)
        s.by->close(s.state);
    str_done(&s.how);
    str_done(&s.last);
}
