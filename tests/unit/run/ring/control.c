/* The file by which a job is asked, from its writer's side and from a reader's; and what rings tell
 * of its answers. */
#include "run/ring/control.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "brim/control.h"
#include "brim/step.h"
#include "folder.h"
#include "oom.h"
#include "run/archive/run_snapshot.h"
#include "tap.h"

enum { REQUESTS = 20000 };

/* A reader as brim/control.h asks for: 1 with a copy that is whole, 0 when there is nothing new or
 * it is being written. */
static int read_control(const struct brim_control *m, uint64_t *seen, struct brim_control *to)
{
    uint64_t seq = __atomic_load_n(&m->seq, __ATOMIC_ACQUIRE);

    if (seq == *seen || seq % 2)
        return 0;
    to->number = __atomic_load_n(&m->number, __ATOMIC_RELAXED);
    to->at_step = __atomic_load_n(&m->at_step, __ATOMIC_RELAXED);
    for (size_t i = 0; i < BRIM_CONTROL_TEXT; i++)
        to->text[i] = __atomic_load_n(&m->text[i], __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&m->seq, __ATOMIC_RELAXED) != seq)
        return 0;
    *seen = seq;
    return 1;
}

struct reader {
    const struct brim_control *map;
    atomic_bool over;
    unsigned whole, wrong;
};

/* Each request's number, step and letters are the same number. */
static void *read_all(void *arg)
{
    struct reader *r = arg;
    struct brim_control c;
    uint64_t seen = 0;
    char want[64];

    while (!atomic_load(&r->over)) {
        if (!read_control(r->map, &seen, &c))
            continue;
        snprintf(want, sizeof(want), "loader.workers=%llu", (unsigned long long)c.number);
        r->whole++;
        r->wrong += c.at_step != 3 * c.number || strcmp(c.text, want) != 0;
    }
    return NULL;
}

static const struct brim_control *map_control(const char *root, struct stat *st)
{
    char path[PATH_MAX];
    void *map;
    int fd;

    snprintf(path, sizeof(path), "%s/control", root);
    fd = open(path, O_RDONLY);
    folder_need(fd, path);
    folder_need(fstat(fd, st), path);
    map = mmap(NULL, BRIM_CONTROL_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

static void test_file(const char *root)
{
    CLEANUP(control_closep) struct control *c = NULL;
    const struct brim_control *m;
    char text[BRIM_CONTROL_TEXT + 1];
    struct brim_control got;
    struct err e = { "" };
    struct stat st;
    uint64_t number = 0, seen = 0;

    is_int(control_make(&c, root, &e), 0, "control_make makes the file");
    m = map_control(root, &st);
    is_int(st.st_size, 4096, "the file has 4,096 bytes");
    is_int(st.st_mode & 0777, 0600, "the file is for its owner alone");
    ok(!memcmp(m->magic, "BRIMCTRL", 8) && m->size == 4096 && m->pid == getpid(),
       "the file has magic, size and owner in its header");
    is_int(read_control(m, &seen, &got), 0, "a new file has no request");
    is_int(control_ask(c, "loader.workers=13", 0, &number), 0, "one is asked");
    is_int((long long)number, 1, "the first request has the number 1");
    ok(read_control(m, &seen, &got) && got.number == 1 && got.at_step == 0,
       "the first request is read");
    is_str(got.text, "loader.workers=13", "the request has the text that was asked");
    is_int(read_control(m, &seen, &got), 0, "a request is read once");
    memset(text, 'x', sizeof(text));
    text[BRIM_CONTROL_TEXT] = 0;
    is_int(control_ask(c, text, 0, &number), -EINVAL, "a text that is too long");
    is_int(read_control(m, &seen, &got), 0, "a text that is too long is not written");
    text[BRIM_CONTROL_TEXT - 1] = 0;
    is_int(control_ask(c, text, 0, &number), 0, "the longest is");
    ok(read_control(m, &seen, &got) && strlen(got.text) == BRIM_CONTROL_TEXT - 1, "with its end");
    is_int(control_ask(c, "a=b", 7, &number), 0, "a shorter text is asked behind the longest one");
    ok(read_control(m, &seen, &got) && !strcmp(got.text, "a=b") && got.at_step == 7,
       "a shorter text leaves nothing of the longer one");
    m = map_control(root, &st);
    is_int(st.st_size, 4096, "the file never grows");
    c = (control_close(c), NULL);
    is_int(control_make(&c, root, &e), -EEXIST, "one that is there stays");
    ok(strstr(e.text, "/control: "), "the sentence names it: %s", e.text);
    is_int(control_make(&c, "/nowhere", &e), -ENOENT,
           "control_make makes no file where there is no folder");
}

/* What the job may do to its file, which is ours as well. */
static void test_cut(const char *root)
{
    CLEANUP(control_closep) struct control *c = NULL;
    const uint64_t high = 1 << 20;
    uint64_t number = 0, seen = 0;
    const struct brim_control *m;
    struct brim_control got;
    char path[PATH_MAX];
    struct stat st;
    int fd;

    folder_need(control_make(&c, root, NULL), root);
    folder_need(control_ask(c, "a=1", 0, &number), root);
    snprintf(path, sizeof(path), "%s/control", root);
    folder_need(truncate(path, 100), path);
    is_int(control_ask(c, "a=2", 0, &number), -ENODATA, "a file that was cut off takes no request");
    folder_need(stat(path, &st), path);
    is_int(st.st_size, 100, "a file that was cut off stays as it is");
    folder_need(truncate(path, BRIM_CONTROL_SIZE), path);
    fd = open(path, O_WRONLY);
    folder_need(fd, path);
    is_int(pwrite(fd, &high, sizeof(high), 32), sizeof(high), "the job writes a number of its own");
    close(fd);
    m = map_control(root, &st);
    is_int(control_ask(c, "a=3", 0, &number), 0, "a file of its size takes requests again");
    is_int((long long)number, 2, "our requests are counted by us alone");
    ok(read_control(m, &seen, &got) && got.number == 2 && !strcmp(got.text, "a=3"),
       "the request is whole after the file was cut off");
}

static void test_torn(const char *root)
{
    CLEANUP(control_closep) struct control *c = NULL;
    struct reader r = { .whole = 0 };
    pthread_t thread;
    struct stat st;
    uint64_t number;
    char text[64];

    folder_need(control_make(&c, root, NULL), root);
    r.map = map_control(root, &st);
    folder_need(pthread_create(&thread, NULL, read_all, &r), "thread");
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        snprintf(text, sizeof(text), "loader.workers=%llu", (unsigned long long)i);
        if (control_ask(c, text, 3 * i, &number) < 0 || number != i)
            break;
    }
    atomic_store(&r.over, true);
    pthread_join(thread, NULL);
    is_int((long long)number, REQUESTS, "all are asked");
    ok(r.wrong == 0, "%u of %u requests were torn", r.wrong, r.whole);
}

/* ---- what rings tell ---- */

struct heard {
    char text[1024];
};

static void hear(void *arg, const struct ring_event *e)
{
    struct heard *h = arg;
    size_t len = strlen(h->text);
    char *to = h->text + len;
    size_t room = sizeof(h->text) - len;

    if (e->kind == RING_STEP)
        snprintf(to, room, "%zu:step %llu, ", e->ring, (unsigned long long)e->step->number);
    else if (e->kind == RING_SWITCH)
        snprintf(to, room, "%zu:%llu %d %s, ", e->ring, (unsigned long long)e->request,
                 (int)e->outcome, e->why ? e->why : "-");
    else
        snprintf(to, room, "%zu:%s, ", e->ring,
                 e->kind == RING_LOST   ? "lost"
                 : e->kind == RING_NOTE ? "note"
                                        : "closed");
}

static void answer(struct brim_step *s, uint64_t number, enum brim_switch outcome)
{
    brim_step_mark(s, BRIM_RING_SWITCH | (uint32_t)outcome << 16, number);
}

static void step(struct brim_step *s)
{
    brim_step_begin(s);
    brim_step_samples(s, 4);
    brim_step_end(s);
}

static void test_stream(const char *root)
{
    CLEANUP(rings_closep) struct rings *rings = NULL;
    struct brim_step *s = brim_step_open_at(root, "test 1", 0, 0, 1);
    struct heard h = { "" };
    struct run now, whole = { .id = "a" };
    struct run_snapshot w = { .run = &whole };
    uint64_t marks;

    folder_need(rings_open(&rings, root, NULL), root);
    rings_follow(rings, hear, &h);
    step(s);
    step(s);
    answer(s, 1, BRIM_SWITCH_DONE);
    step(s);
    brim_step_note(s, "switch.2=no room");
    answer(s, 2, BRIM_SWITCH_REFUSED);
    is_int(rings_read(rings, NULL), 0, "a ring is read");
    is_str(h.text, "0:step 0, 0:step 1, 0:1 0 -, 0:step 2, 0:note, 0:2 1 no room, ",
           "steps and answers come in their order");
    h.text[0] = 0;
    is_int(rings_read(rings, NULL), 0, "a ring without news is read");
    is_str(h.text, "", "nothing is told twice");
    marks = rings_marks(rings);
    step(s);
    is_int(rings_read(rings, NULL), 0, "the last ones");
    ok(rings_marks(rings) == marks + 3, "marks are counted");
    brim_step_close(s);
    is_int(rings_read(rings, NULL), 0, "a ring that was closed is read");
    is_str(h.text, "0:step 3, 0:closed, ", "the end of the ring is read");
    w.rings = rings;
    is_int(run_snapshot(&now, &w, 0, 2), 0, "the run as it is now");
    ok(now.n_ranks == 1 && now.ranks[0].n_steps == 2 && now.ranks[0].steps[1].number == 3 &&
           now.ranks[0].total.samples == 8,
       "the snapshot has the last steps");
    run_done(&now);
    is_int(run_snapshot(&now, &w, INT64_MAX, 9), 0, "run_snapshot takes a run without steps");
    is_int((long long)now.n_ranks, 0, "there is no rank");
    run_done(&now);
}

static void test_oom(const char *root)
{
    bool failed;

    do {
        struct control *c = NULL;
        char path[PATH_MAX];
        int rc;

        oom_next();
        rc = control_make(&c, root, NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && !c : rc == 0,
           "control_make with allocation %d failing returns %d", oom_at, rc);
        control_close(c);
        snprintf(path, sizeof(path), "%s/control", root);
        unlink(path);
    } while (failed);
}

int main(void)
{
    void (*const tests[])(const char *) = { test_file, test_cut, test_torn, test_stream, test_oom };
    char root[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    return done();
}
