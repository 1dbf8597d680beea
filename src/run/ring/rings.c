#include "run/ring/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "run/ring/ring_copy.h"

/* The most of a file that is read; ours are 2 MiB. Marks read at a time, so that a job that marks
 * faster than they can be read does not hold us up. */
enum { RING_BYTES_MAX = 64 << 20, MARKS_MAX = 1 << 20, SPARE = 8 /* descriptors */ };

struct ring {
    dev_t device;
    ino_t inode;
    bool good, cut; /* it is a ring; it was cut off, and is not read any more */
    struct ring_copy copy;
    struct step_ring ring;
    struct step_track track;
    struct rank_steps lane;
    size_t at; /* among the lanes */
    bool closed;
    int64_t asked_ns; /* in which stage was it then? INT64_MAX: that is answered */
    int answer;
    bool far;          /* of another host: there is no file */
    uint64_t far_lost; /* marks */
};

struct rings {
    DIR *dir;
    struct ring *all[RINGS_MAX];
    size_t n;
    const struct rank_steps *lanes[RINGS_MAX];
    struct ring *of[RINGS_MAX]; /* of a lane */
    pid_t pids[RINGS_MAX];
    size_t n_lanes, n_pids;
    bool told;
    rings_fn *tell; /* NULL: nobody follows */
    void *arg;
};

int rings_open(struct rings **ret, const char *folder, struct err *e)
{
    CLEANUP(rings_closep) struct rings *s = calloc(1, sizeof(*s));

    if (!s)
        return err_nomem(e);
    s->dir = opendir(folder);
    if (!s->dir)
        return err_set(e, -errno, "%s: %s", folder, strerror(errno));
    *ret = steal(&s);
    return 0;
}

static void ring_free(struct ring *r)
{
    ring_copy_done(&r->copy);
    rank_steps_done(&r->lane);
    free(r);
}

void rings_close(struct rings *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        ring_free(s->all[i]);
    if (s->dir)
        closedir(s->dir);
    free(s);
}

/* Look at the file, whose descriptor goes with the ring; r->good stays false when it is none. */
static int open_ring(struct ring *r, int fd, size_t size, const char *name, struct err *e)
{
    int rc = ring_copy_open(&r->copy, fd, size);

    if (rc < 0)
        return err_set(e, rc, "%s: no ring: %zu bytes", name, size);
    rc = step_ring_attach(&r->ring, r->copy.bytes, size, e);
    if (rc < 0)
        return err_context(e, rc, "%s: ", name);
    r->good = true;
    r->lane.pid = r->ring.pid;
    snprintf(r->lane.host, sizeof(r->lane.host), "%s", r->ring.host);
    snprintf(r->lane.framework, sizeof(r->lane.framework), "%s", r->ring.framework);
    return 0;
}

static bool is_known(const struct rings *s, const struct stat *st)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->all[i]->inode == st->st_ino && s->all[i]->device == st->st_dev)
            return true;
    return false;
}

/* A ring's descriptor, -1 with errno. So many are left that each ring's steps can be stored in a
 * file of their own. It may be a pipe by now, which would be waited for. */
static int open_file(const struct rings *s, const char *name)
{
    int fd = openat(dirfd(s->dir), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct rlimit limit;

    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
        (rlim_t)fd + s->n + SPARE < limit.rlim_cur)
        return fd;
    close(fd);
    errno = EMFILE;
    return -1;
}

static void add_lane(struct rings *s, struct ring *r)
{
    r->at = s->n_lanes;
    s->of[s->n_lanes] = r;
    s->lanes[s->n_lanes++] = &r->lane;
}

static int take_file(struct rings *s, const char *name, struct err *e)
{
    CLEANUP(closep) int fd = -1;
    struct ring *r;
    struct stat st;
    size_t size;
    int rc;

    if (s->n == RINGS_MAX || fstatat(dirfd(s->dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(st.st_mode) || is_known(s, &st))
        return 0;
    fd = open_file(s, name);
    if (fd < 0) {
        if (!s->told && (errno == EMFILE || errno == ENFILE)) {
            s->told = true;
            err_set(e, -errno, "%s: %s: steps of this process are missing", name, strerror(errno));
        }
        return 0;
    }
    r = calloc(1, sizeof(*r));
    if (!r)
        return -ENOMEM;
    r->device = st.st_dev;
    r->inode = st.st_ino;
    size = (size_t)MIN(st.st_size, (off_t)RING_BYTES_MAX);
    rank_steps_init(&r->lane);
    step_track_init(&r->track);
    r->asked_ns = INT64_MAX;
    r->answer = -1;
    s->all[s->n++] = r;
    rc = open_ring(r, steal_fd(&fd), size, name, s->told ? NULL : e);
    if (rc < 0) {
        ring_copy_done(&r->copy); /* its number is kept, so that it is not looked at again */
        s->told = true;
        return rc == -ENOMEM ? rc : 0;
    }
    s->pids[s->n_pids++] = r->lane.pid;
    add_lane(s, r);
    return 0;
}

static int find_files(struct rings *s, struct err *e)
{
    const char *name;
    int rc = 0, more = 1;

    rewinddir(s->dir);
    while (rc == 0 && (more = folder_next(s->dir, &name)) > 0) {
        size_t len = strlen(name);

        if (!strncmp(name, "rank-", 5) && len > 10 && !strcmp(name + len - 5, ".ring"))
            rc = take_file(s, name, e);
    }
    if (more < 0 && !s->told) {
        s->told = true;
        err_set(e, more, "the folder of rings: %s: steps of a process may be missing",
                strerror(-more));
    }
    return rc;
}

/* "loader.workers=0" has a name; a sentence has not. */
static int take_note(struct rank_steps *l, const char *text)
{
    const char *equals = strchr(text, '=');
    char name[64];
    size_t len = equals ? (size_t)(equals - text) : 0;

    if (!equals || len == 0 || len >= sizeof(name) || memchr(text, ' ', len)) {
        snprintf(name, sizeof(name), "note.%zu", l->n_notes);
        for (size_t i = 0; i < l->n_notes; i++)
            if (!strcmp(l->notes[i].value, text))
                return 0;
        return rank_steps_note(l, name, text);
    }
    memcpy(name, text, len);
    name[len] = 0;
    return rank_steps_note(l, name, equals + 1);
}

static void tell(const struct rings *s, const struct ring_event *e)
{
    if (s->tell)
        s->tell(s->arg, e);
}

static int tell_note(const struct rings *s, const struct ring *r, int rc)
{
    tell(s, &(const struct ring_event){ .kind = RING_NOTE, .ring = r->at });
    return rc;
}

static void tell_switch(const struct rings *s, const struct ring *r, uint64_t request,
                        enum brim_switch outcome)
{
    struct ring_event e = { .kind = RING_SWITCH, .ring = r->at, .request = request };
    char name[40];

    e.outcome = outcome;
    snprintf(name, sizeof(name), "switch.%llu", (unsigned long long)request);
    for (size_t i = 0; i < r->lane.n_notes; i++)
        if (!strcmp(r->lane.notes[i].name, name))
            e.why = r->lane.notes[i].value;
    tell(s, &e);
}

static int take_step(const struct rings *s, struct ring *r, const struct step *step)
{
    const struct ring_event e = { .kind = RING_STEP, .ring = r->at, .step = step };
    int rc = rank_steps_step(&r->lane, step);

    tell(s, &e);
    return rc;
}

/* The first mark behind the time that was asked for answers: the stage is the one before it. */
static void answer(struct ring *r, const struct step_mark *m)
{
    bool splits = m->kind >= BRIM_RING_STEP_BEGIN && m->kind <= BRIM_RING_STAGE_END;

    if (!splits || m->t_ns <= r->asked_ns || r->asked_ns == INT64_MAX)
        return;
    r->answer = step_track_stage(&r->track);
    r->asked_ns = INT64_MAX;
}

static int take_mark(const struct rings *s, struct ring *r, const struct step_mark *m)
{
    struct step step;
    char value[32];

    answer(r, m);

    if (m->kind == BRIM_RING_SWITCH) {
        tell_switch(s, r, m->count, (enum brim_switch)m->outcome);
        return 0;
    }
    if (m->kind == BRIM_RING_NOTE)
        return tell_note(s, r, take_note(&r->lane, m->text));
    if (m->kind == BRIM_RING_VALUE) {
        snprintf(value, sizeof(value), "%.10g", m->number);
        return tell_note(s, r, rank_steps_note(&r->lane, m->text, value));
    }
    return step_track_mark(&r->track, m, &step) == 0 ? 0 : take_step(s, r, &step);
}

static int read_ring(struct rings *s, struct ring *r, struct err *e)
{
    struct step_mark mark;
    bool closed;
    int rc = 0;

    if (!r->good || r->cut)
        return 0;
    if (ring_copy_update(&r->copy, r->ring.next) < 0) {
        r->cut = true;
        if (!s->told)
            err_set(e, -EINVAL, "the ring of process %d was cut off: its further steps are missing",
                    r->lane.pid);
        s->told = true;
        return 0;
    }
    r->lane.rank = step_ring_rank(&r->ring);
    r->lane.local_rank = step_ring_local_rank(&r->ring);
    r->lane.world = step_ring_world(&r->ring);
    closed = step_ring_closed(&r->ring); /* before its last marks are read */
    for (int i = 0; i < MARKS_MAX && rc == 0; i++) {
        int got = step_ring_next(&r->ring, &mark);

        if (got == 0)
            break;
        if (got == 1) {
            rc = take_mark(s, r, &mark);
            continue;
        }
        step_track_lost(&r->track);
        tell(s, &(const struct ring_event){ .kind = RING_LOST, .ring = r->at });
    }
    if (rc == 0 && closed && !r->closed)
        tell(s, &(const struct ring_event){ .kind = RING_CLOSED, .ring = r->at });
    r->closed = r->closed || closed;
    return rc;
}

int rings_read(struct rings *s, struct err *e)
{
    int rc = find_files(s, e);

    for (size_t i = 0; i < s->n && rc == 0; i++)
        rc = read_ring(s, s->all[i], e);
    return rc;
}

size_t rings_count(const struct rings *s)
{
    return s->n_lanes;
}

const struct rank_steps *rings_lane(const struct rings *s, size_t i)
{
    return s->lanes[i];
}

void rings_ask(struct rings *s, size_t i, int64_t at_ns)
{
    s->of[i]->asked_ns = at_ns;
}

int rings_answer(const struct rings *s, size_t i)
{
    const struct ring *r = s->of[i];

    return r->asked_ns == INT64_MAX ? r->answer : step_track_stage(&r->track);
}

size_t rings_of_pid(const struct rings *s, pid_t pid)
{
    size_t i = 0;

    while (i < s->n_lanes && (s->of[i]->far || s->lanes[i]->pid != pid))
        i++;
    return i;
}

const pid_t *rings_pids(const struct rings *s, size_t *n)
{
    *n = s->n_pids;
    return s->pids;
}

uint64_t rings_lost(const struct rings *s)
{
    uint64_t lost = 0;

    for (size_t i = 0; i < s->n; i++)
        lost += s->all[i]->good ? s->all[i]->ring.lost : s->all[i]->far_lost;
    return lost;
}

uint64_t rings_marks(const struct rings *s)
{
    uint64_t marks = 0;

    for (size_t i = 0; i < s->n; i++)
        marks += s->all[i]->good ? step_ring_head(&s->all[i]->ring) : s->all[i]->lane.count;
    return marks;
}

void rings_follow(struct rings *s, rings_fn *fn, void *arg)
{
    s->tell = fn;
    s->arg = arg;
}

/* ---- rings of other hosts ---- */

int rings_far_add(struct rings *s, const struct rank_steps *about, size_t *ring)
{
    struct ring *r;

    if (s->n == RINGS_MAX)
        return -ENOSPC;
    r = calloc(1, sizeof(*r));
    if (!r)
        return -ENOMEM;
    r->copy.fd = -1;
    r->asked_ns = INT64_MAX;
    r->far = true;
    rank_steps_init(&r->lane);
    r->lane.pid = about->pid;
    snprintf(r->lane.host, sizeof(r->lane.host), "%s", about->host);
    snprintf(r->lane.framework, sizeof(r->lane.framework), "%s", about->framework);
    s->all[s->n++] = r;
    add_lane(s, r);
    *ring = r->at;
    rings_far_rank(s, r->at, about);
    return 0;
}

void rings_far_rank(struct rings *s, size_t ring, const struct rank_steps *about)
{
    struct rank_steps *l = &s->of[ring]->lane;

    l->rank = about->rank;
    l->local_rank = about->local_rank;
    l->world = about->world;
}

int rings_far_step(struct rings *s, size_t ring, const struct step *step)
{
    return take_step(s, s->of[ring], step);
}

int rings_far_note(struct rings *s, size_t ring, const char *name, const char *value)
{
    return tell_note(s, s->of[ring], rank_steps_note(&s->of[ring]->lane, name, value));
}

void rings_far_switch(struct rings *s, size_t ring, uint64_t request, enum brim_switch outcome)
{
    tell_switch(s, s->of[ring], request, outcome);
}

void rings_far_lost(struct rings *s, size_t ring, uint64_t marks)
{
    s->of[ring]->far_lost += marks;
    tell(s, &(const struct ring_event){ .kind = RING_LOST, .ring = ring });
}

static void end_far(struct rings *s, size_t ring, enum ring_event_kind how)
{
    struct ring *r = s->of[ring];

    if (!r->closed)
        tell(s, &(const struct ring_event){ .kind = how, .ring = ring });
    r->closed = true;
}

void rings_far_closed(struct rings *s, size_t ring)
{
    end_far(s, ring, RING_CLOSED);
}

void rings_far_gone(struct rings *s, size_t ring)
{
    end_far(s, ring, RING_GONE);
}
