/* The ring, from both sides: what a writer marks, a reader finds; lost, torn and hostile
 * records. */
#include "model/job/step_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

enum { THREADS = 4, EACH = 20000 };

static char folder[] = "/tmp/brim-ring-XXXXXX";

struct file {
    char path[128];
    void *map;
    size_t len;
};

/* The file of a process; in a container its name has the number of the process's name space. */
static void find_ring(struct file *f, int rank, int pid)
{
    glob_t found;

    snprintf(f->path, sizeof(f->path), "%s/rank-%d-%d[.-]*ring", folder, rank, pid);
    if (glob(f->path, 0, NULL, &found) == 0 && found.gl_pathc == 1)
        snprintf(f->path, sizeof(f->path), "%s", found.gl_pathv[0]);
    globfree(&found);
}

static void map_ring(struct file *f, int rank, int pid)
{
    struct stat st = { 0 };
    int fd;

    find_ring(f, rank, pid);
    fd = open(f->path, O_RDWR | O_CLOEXEC);
    f->map = NULL;
    f->len = 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return;
    f->len = (size_t)st.st_size;
    f->map = mmap(NULL, f->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

static void unmap_ring(struct file *f)
{
    munmap(f->map, f->len);
    unlink(f->path);
}

static void test_marks(void)
{
    struct brim_step *s = brim_step_open_at(folder, "unit 1.0", 3, 1, 8);
    struct step_ring r;
    struct step_mark m;
    struct err e = { "" };
    struct file f;
    int64_t t = brim_step_now();

    map_ring(&f, 3, getpid());
    ok(s && f.map, "brim_step_open_at makes a ring of rank 3");
    is_int(step_ring_attach(&r, f.map, f.len, &e), 0, "step_ring_attach takes a ring: %s", e.text);
    is_str(r.framework, "unit 1.0", "the ring has the name of its framework");
    ok(step_ring_rank(&r) == 3 && step_ring_local_rank(&r) == 1 && step_ring_world(&r) == 8,
       "the ring has its rank, local rank and world");
    is_int(r.pid, getpid(), "the ring has its process");
    is_int(step_ring_next(&r, &m), 0, "a new ring has no mark");
    brim_step_begin(s);
    brim_stage_begin(s, BRIM_STAGE_WAIT);
    brim_stage_end(s, BRIM_STAGE_WAIT);
    brim_step_samples(s, 32);
    brim_step_loss(s, 0.5);
    brim_step_collective(s, BRIM_COLLECTIVE_ALL_REDUCE, 1000, t, t + 2000000000);
    brim_stage_device(s, BRIM_STAGE_COPY, t, t + 500000000);
    brim_step_note(s, "a sentence\n\xff");
    brim_step_value(s, "lr", 0.25);
    brim_step_value(s, "lr", 0.125);
    brim_step_mark(s, BRIM_RING_FEEDS | 7 << 16, 0);
    brim_step_mark(s, BRIM_RING_SWITCH | BRIM_SWITCH_REFUSED << 16, 77);
    brim_step_mark(s, BRIM_RING_SWITCH | 3 << 16, 78);
    brim_step_end(s);
    ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_STEP_BEGIN && m.t_ns >= t,
       "the first mark is the begin of a step");
    ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_STAGE_BEGIN && m.stage == BRIM_STAGE_WAIT,
       "the second mark is the begin of the wait");
    ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_STAGE_END,
       "the third mark is the end of a stage");
    ok(step_ring_next(&r, &m) == 1 && m.count == 32, "the mark of samples has their number");
    ok(m.thread == BRIM_RING_THREAD(pthread_self()), "the mark of samples has its thread");
    ok(step_ring_next(&r, &m) == 1 && m.number == 0.5, "the mark of a loss has its value");
    ok(step_ring_next(&r, &m) == 1 && m.count == 1000 && m.seconds == 2 && m.t_ns == t &&
           m.collective == BRIM_COLLECTIVE_ALL_REDUCE,
       "the mark of a collective has kind, bytes, begin and seconds");
    ok(step_ring_next(&r, &m) == 1 && m.seconds == 0.5 && m.stage == BRIM_STAGE_COPY,
       "the mark of a device has stage and seconds");
    ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_NOTE, "a note is a mark");
    is_str(m.text, "a sentence??", "control characters of a note are masked");
    ok(step_ring_next(&r, &m) == 1 && m.number == 0.25 && !strcmp(m.text, "lr"),
       "the mark of a value has its name and number");
    ok(step_ring_next(&r, &m) == 1 && m.number == 0.125 && !strcmp(m.text, "lr"),
       "the second mark of a value has the same name");
    ok(((struct brim_ring_header *)f.map)->text_used == 13 + 3,
       "the name of a value stands once in the ring");
    ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_FEEDS && m.source == 7,
       "the mark of what feeds has its source");
    ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_SWITCH &&
           m.outcome == BRIM_SWITCH_REFUSED && m.count == 77,
       "a request's outcome is a mark, and an unknown outcome is passed over");
    ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_STEP_END,
       "the last mark is the end of the step");
    is_int(step_ring_next(&r, &m), 0, "a ring that was read has no further mark");
    is_int((long long)step_ring_head(&r), 14, "the ring's head counts 14 records");
    brim_step_set_rank(s, 5, 5, 16);
    ok(step_ring_rank(&r) == 5 && step_ring_world(&r) == 16,
       "brim_step_set_rank changes the rank and the world");
    ok(!step_ring_closed(&r), "a ring is open until it is closed");
    brim_step_close(s);
    ok(step_ring_closed(&r), "brim_step_close closes the ring");
    unmap_ring(&f);
}

static void test_texts_have_an_end(void)
{
    struct brim_step *s = brim_step_open_at(folder, NULL, -1, -1, -1);
    struct step_ring r;
    struct step_mark m;
    struct file f;
    char text[1000];
    int found = 0;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    map_ring(&f, 0, getpid());
    is_int(step_ring_attach(&r, f.map, f.len, NULL), 0, "an unknown rank is 0 in the file's name");
    is_int(step_ring_rank(&r), -1, "an unknown rank is -1 in the header");
    for (int i = 0; i < 1000; i++)
        brim_step_note(s, text);
    while (step_ring_next(&r, &m) == 1)
        found += strlen(m.text) == BRIM_RING_TEXT_MAX;
    is_int(found, BRIM_RING_TEXT_SIZE / (BRIM_RING_TEXT_MAX + 1),
           "notes have their text until there is no room");
    brim_step_close(s);
    unmap_ring(&f);
}

static void test_overrun(void)
{
    struct brim_step *s = brim_step_open_at(folder, "lost", 0, 0, 1);
    struct step_ring r;
    struct step_mark m;
    struct file f;
    uint64_t got = 0;

    map_ring(&f, 0, getpid());
    is_int(step_ring_attach(&r, f.map, f.len, NULL), 0,
           "step_ring_attach takes a ring to be overrun");
    for (unsigned i = 0; i < BRIM_RING_CAPACITY; i++)
        brim_step_samples(s, i);
    ok(step_ring_next(&r, &m) == 1 && m.count == 0, "a full ring has its first mark");
    for (unsigned i = 0; i < BRIM_RING_CAPACITY; i++)
        brim_step_samples(s, BRIM_RING_CAPACITY + i);
    is_int(step_ring_next(&r, &m), -EPIPE, "a reader that was overtaken gets -EPIPE");
    while (step_ring_next(&r, &m) == 1)
        got++;
    ok(got == BRIM_RING_CAPACITY - BRIM_RING_CAPACITY / 8,
       "seven eighths of a ring are read after an overrun");
    is_int((long long)(got + r.lost + 1), 2LL * BRIM_RING_CAPACITY,
           "each mark is found or counted lost");
    ok(m.count == 2 * BRIM_RING_CAPACITY - 1, "the last mark is found after an overrun");
    brim_step_close(s);
    unmap_ring(&f);
}

static void test_torn(void)
{
    struct brim_step *s = brim_step_open_at(folder, "torn", 0, 0, 1);
    struct brim_ring_record *records;
    struct step_ring r;
    struct step_mark m;
    struct file f;

    map_ring(&f, 0, getpid());
    step_ring_attach(&r, f.map, f.len, NULL);
    records = (void *)((char *)f.map + BRIM_RING_HEADER_SIZE + BRIM_RING_TEXT_SIZE);
    for (int i = 0; i < 6; i++)
        brim_step_samples(s, 1);
    records[2].seq = 0;    /* its writer is in the middle of it */
    records[3].kind = 999; /* of a later version */
    records[4].kind = BRIM_RING_STAGE_END;
    records[4].code = BRIM_STAGES;
    ok(step_ring_next(&r, &m) == 1 && step_ring_next(&r, &m) == 1,
       "two marks before a torn one are read");
    is_int(step_ring_next(&r, &m), 0, "a mark that is not whole yet is not read");
    is_int(step_ring_next(&r, &m), 0, "a mark that is still not whole is still not read");
    r.ended = true;
    is_int(step_ring_next(&r, &m), -EPIPE,
           "a mark that is not whole is lost once its writer has ended");
    is_int((long long)r.lost, 1, "one mark is counted lost");
    ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_SAMPLES,
       "marks of unknown kinds and stages are skipped");
    is_int(step_ring_next(&r, &m), 0, "no mark follows the last whole one");
    r.next = 0;
    records[0].seq = 77;
    is_int(step_ring_next(&r, &m), -EPIPE, "a record with a number from the future gets -EPIPE");
    ok(step_ring_next(&r, &m) == 1, "the mark behind a record from the future is read");
    brim_step_close(s);
    unmap_ring(&f);
}

/* A writer that lies about where its texts are: what lies outside their room is not read. */
static void test_texts_outside(void)
{
    struct brim_step *s = brim_step_open_at(folder, "outside", 0, 0, 1);
    static const struct {
        uint32_t begin, len;
        const char *text;
    } cases[] = {
        { BRIM_RING_TEXT_SIZE - 4, 4, "abcd" },
        { BRIM_RING_TEXT_SIZE - 4, 5, NULL },
        { BRIM_RING_TEXT_SIZE, 1, NULL },
        { BRIM_RING_TEXT_SIZE + 1, 0, NULL },
        { UINT32_MAX, 8, NULL },
    };
    struct brim_ring_record *records;
    struct step_ring r;
    struct step_mark m;
    struct file f;
    char *texts;

    map_ring(&f, 0, getpid());
    step_ring_attach(&r, f.map, f.len, NULL);
    texts = (char *)f.map + BRIM_RING_HEADER_SIZE;
    records = (void *)(texts + BRIM_RING_TEXT_SIZE);
    memcpy(texts + BRIM_RING_TEXT_SIZE - 4, "abcd", 4);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        brim_step_note(s, "x");
        records[i].extra = cases[i].begin;
        records[i].code = (uint16_t)cases[i].len;
        brim_step_samples(s, 1);
        records = (void *)((char *)records + sizeof(*records));
    }
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (cases[i].text) {
            ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_NOTE,
               "a text of %u bytes at %u is read", cases[i].len, cases[i].begin);
            is_str(m.text, cases[i].text, "a text that ends with its room is whole");
        }
        ok(step_ring_next(&r, &m) == 1 && m.kind == BRIM_RING_SAMPLES,
           "behind a text of %u bytes at %u the next mark follows", cases[i].len, cases[i].begin);
    }
    brim_step_close(s);
    unmap_ring(&f);
}

static void *mark_many(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        brim_step_samples(arg, (uint64_t)i);
        if (i % 1000 == 0)
            brim_step_value(arg, "gauge", i);
    }
    return NULL;
}

/* Four threads write while this one reads: nothing is torn, and none is missing that is not
 * counted. */
static void test_threads(void)
{
    struct brim_step *s = brim_step_open_at(folder, "threads", 0, 0, 1);
    pthread_t threads[THREADS];
    struct step_ring r;
    struct step_mark m;
    struct file f;
    uint64_t got = 0, total = THREADS * (EACH + EACH / 1000);
    bool bad = false;

    map_ring(&f, 0, getpid());
    step_ring_attach(&r, f.map, f.len, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_many, s);
    while (got + r.lost < total) {
        int rc = step_ring_next(&r, &m);

        got += rc == 1;
        if (rc == 1 && m.kind == BRIM_RING_SAMPLES)
            bad |= m.count >= EACH;
        else if (rc == 1)
            bad |= m.kind != BRIM_RING_VALUE || strcmp(m.text, "gauge") != 0;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ok(!bad, "no mark is torn");
    is_int((long long)(got + r.lost), (long long)total,
           "each mark of four threads is found or counted lost");
    is_int(step_ring_next(&r, &m), 0, "no mark follows the last one of four threads");
    brim_step_close(s);
    unmap_ring(&f);
}

static void test_fork(void)
{
    struct brim_step *s = brim_step_open_at(folder, "fork", 0, 0, 1);
    struct file f;
    struct step_ring r;
    int status = -1, pid;

    map_ring(&f, 0, getpid());
    step_ring_attach(&r, f.map, f.len, NULL);
    brim_step_end(s);
    pid = fork();
    if (pid == 0) {
        brim_step_end(s);
        brim_step_note(s, "child");
        brim_step_value(s, "child", 1);
        brim_step_set_rank(s, 9, 9, 9);
        brim_step_close(s);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    is_int(status, 0, "a forked child ends well with its parent's ring");
    ok(step_ring_head(&r) == 1 && step_ring_rank(&r) == 0,
       "a child's marks do not reach the parent's ring");
    ok(!step_ring_closed(&r), "a child's end does not close the parent's ring");
    brim_step_end(s);
    ok(step_ring_head(&r) == 2, "the parent's marks go on after a fork");
    brim_step_close(s);
    unmap_ring(&f);
}

/* Every call without a ring. */
static void test_without(void)
{
    struct brim_step *s;

    unsetenv("BRIM_RING");
    errno = 0;
    s = brim_step_open("x");
    ok(!s && errno == ENOENT, "brim_step_open makes no ring without BRIM_RING");
    setenv("BRIM_RING", "/nonexistent/folder", 1);
    ok(!brim_step_open("x") && errno == ENOENT,
       "brim_step_open makes no ring where the folder is missing");
    brim_step_begin(s);
    brim_step_end(s);
    brim_stage_begin(s, 1);
    brim_stage_end(s, 1);
    brim_stage_device(s, 1, 0, 1);
    brim_step_samples(s, 1);
    brim_step_loss(s, 1);
    brim_step_collective(s, 1, 1, 1, 1);
    brim_step_note(s, "x");
    brim_step_value(s, "x", 1);
    brim_step_set_rank(s, 1, 1, 1);
    brim_step_mark(s, 1, 1);
    brim_step_close(s);
}

static void test_environment(void)
{
    static const struct {
        const char *name, *value;
        int rank;
    } cases[] = {
        { "SLURM_PROCID", "7", 7 },
        { "PMI_RANK", "6", 6 },
        { "OMPI_COMM_WORLD_RANK", "5", 5 },
        { "RANK", "4", 4 },
        { "RANK", "-3", 5 },
        { "RANK", "4 ", 5 },
        { "RANK", "99999999999", 5 },
        { "RANK", "", 5 },
        { "RANK", "2147483648", 5 },
        { "RANK", "/1", 5 },
        { "RANK", ":1", 5 },
        { "RANK", "0", 0 },
        { "RANK", "9", 9 },
        { "RANK", "2147483647", 2147483647 },
    };
    struct file f;

    setenv("BRIM_RING", folder, 1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct brim_step *s;

        setenv(cases[i].name, cases[i].value, 1);
        s = brim_step_open("env");
        map_ring(&f, cases[i].rank, getpid());
        ok(s && f.map, "brim_step_open with %s=%s has rank %d", cases[i].name, cases[i].value,
           cases[i].rank);
        brim_step_close(s);
        if (f.map)
            unmap_ring(&f);
    }
}

static void expect_refused(struct brim_ring_header *h, size_t len, int rc, const char *text)
{
    struct step_ring r;
    struct err e = { "" };

    is_int(step_ring_attach(&r, h, len, &e), rc, "step_ring_attach refuses: %s", text);
    is_str(e.text, text, "step_ring_attach says: %s", text);
}

static void test_refused(void)
{
    struct brim_ring_header *h = calloc(1, 65536);

    if (!h)
        return;
    expect_refused(h, 100, -EINVAL, "no ring: 100 bytes");
    expect_refused(h, 65536, -EINVAL, "no ring: it does not start with BRIMSTEP");
    memcpy(h->magic, BRIM_RING_MAGIC, 8);
    h->major = 2;
    expect_refused(h, 65536, -EPROTONOSUPPORT, "ring of version 2.0, this brim reads 1.x");
    h->major = 1;
    expect_refused(h, 65536, -EINVAL, "ring with a header of 0 and records of 0 bytes");
    h->header_size = 4096;
    h->record_size = 32;
    h->capacity = 3;
    expect_refused(h, 65536, -EINVAL, "ring of 3 records, no power of two");
    h->capacity = 4096;
    expect_refused(h, 65536, -EINVAL, "ring of 4096 records, cut off at 65536 bytes");
    h->capacity = 16;
    h->text_size = 65536;
    expect_refused(h, 65536, -EINVAL, "ring of 16 records, cut off at 65536 bytes");
    free(h);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    test_marks();
    test_texts_have_an_end();
    test_overrun();
    test_torn();
    test_texts_outside();
    test_threads();
    test_fork();
    test_without();
    test_environment();
    test_refused();
    ok(rmdir(folder) == 0, "no file of a ring is left in the folder");
    return done();
}
