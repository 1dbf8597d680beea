/* A ring as its writer makes it: the file, its header, which marks are taken, and what is left
 * behind where it cannot be made. */
#include "step/step_private.h"

#include <glob.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/compiler.h"
#include "folder.h"
#include "tap.h"

enum { SIZE = BRIM_RING_HEADER_SIZE + BRIM_RING_TEXT_SIZE + BRIM_RING_CAPACITY * 32 };

/* The first file of a pattern in the folder; how many there are. */
static size_t find(const char *folder, const char *pattern, char path[PATH_MAX])
{
    char whole[PATH_MAX + 64];
    glob_t found = { 0 };
    size_t n;

    snprintf(whole, sizeof(whole), "%s/%s", folder, pattern);
    glob(whole, GLOB_PERIOD, NULL, &found);
    n = found.gl_pathc;
    if (n)
        snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
    globfree(&found);
    return n;
}

static struct brim_ring_header *map(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);

    folder_need(at == MAP_FAILED ? -1 : 0, path);
    close(fd);
    return at;
}

static void test_file(const char *folder)
{
    char path[PATH_MAX], draft[PATH_MAX], name[64], host[64] = "", framework[100];
    int64_t before = brim_step_now();
    struct brim_ring_header *h;
    struct brim_step *s, *again;
    struct stat st = { 0 };

    memset(framework, 'f', sizeof(framework) - 1);
    framework[sizeof(framework) - 1] = 0;
    s = brim_step_open_at(folder, framework, 12, 3, 16);
    snprintf(name, sizeof(name), "rank-12-%d*.ring", (int)getpid());
    is_int((long long)find(folder, name, path), 1, "a ring has its rank and process in its name");
    is_int((long long)find(folder, ".rank*", draft), 0, "a ring that is whole has no draft");
    ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "a ring is its owner's alone");
    is_int(st.st_size, SIZE, "a ring has its size");
    h = map(path);
    ok(!memcmp(h->magic, BRIM_RING_MAGIC, 8) && h->major == 1 && h->minor == 1,
       "the header has its name and version");
    ok(h->header_size == 4096 && h->text_size == 65536 && h->record_size == 32 &&
           h->capacity == 65536,
       "the header has the sizes of the ring's parts");
    ok(h->pid == getpid() && h->rank == 12 && h->local_rank == 3 && h->world == 16,
       "the header has process and ranks");
    ok(h->start_monotonic_ns >= before && h->start_monotonic_ns <= brim_step_now(),
       "the header has the time of its begin");
    ok(h->start_wall_ns > INT64_C(1000000000) * 1000000000, "the header has the date of its begin");
    ok(strlen(h->framework) == 63 && h->framework[0] == 'f',
       "the name of a framework that is too long is cut");
    gethostname(host, sizeof(host) - 1);
    is_str(h->host, host, "the header has the node's name");
    ok(h->head == 0 && h->text_used == 0 && !h->closed, "a new ring is empty and open");
    again = brim_step_open_at(folder, NULL, 12, -1, -1);
    ok(again != NULL, "a process that opens a ring twice has a new one");
    brim_step_samples(again, 1);
    ok(h->head == 0, "the older ring of a process that opens twice stays as it is");
    brim_step_close(s);
    brim_step_close(again);
    munmap(h, SIZE);
    unlink(path);
}

static void test_kinds(const char *folder)
{
    struct brim_step *s = brim_step_open_at(folder, "x", 0, 0, 1);
    uint64_t head = 0;

    for (uint32_t kind = 0; kind <= BRIM_RING_SWITCH + 1; kind++) {
        bool taken = (kind >= BRIM_RING_STEP_BEGIN && kind <= BRIM_RING_LOSS) ||
                     kind == BRIM_RING_SWITCH;

        brim_step_mark(s, kind | 5U << 16, 77);
        head += taken;
        ok(s->header->head == head, "brim_step_mark takes a mark of kind %u or not", kind);
        if (taken)
            ok(s->records[head - 1].kind == kind && s->records[head - 1].code == 5 &&
                   s->records[head - 1].value == 77 && s->records[head - 1].seq == head,
               "a mark of kind %u has code, value and number", kind);
    }
    brim_stage_end(s, BRIM_STAGE_OPTIMIZER);
    ok(s->records[head].code == BRIM_STAGE_OPTIMIZER, "the end of a stage has the stage");
    brim_stage_device(s, BRIM_STAGE_COPY, 5000000000, 5250000000);
    ok(s->records[head + 1].t_ns == 5000000000 && s->records[head + 1].extra == 0x3e800000,
       "a device's stage has its begin, and its seconds as a float");
    brim_step_close(s);
}

static uint64_t text_of_value(struct brim_step *s, const char *name)
{
    uint64_t before = s->header->text_used;

    brim_step_value(s, name, 1);
    return s->header->text_used - before;
}

static void test_names(const char *folder)
{
    struct brim_step *s = brim_step_open_at(folder, "x", 0, 0, 1);
    char name[16];

    is_int((long long)text_of_value(s, "lr"), 3, "the name of a value is written");
    is_int((long long)text_of_value(s, "lr"), 0, "the name of a value is written once");
    is_int((long long)text_of_value(s, "mm"), 3, "another name of the same length is written");
    is_int((long long)text_of_value(s, "l"), 2, "a name that another one begins with is written");
    is_int((long long)text_of_value(s, "lrx"), 4, "a name that begins with another one is written");
    is_int((long long)text_of_value(s, "mm"), 0, "a second name is written once");
    (void)atomic_flag_test_and_set(&s->names_taken);
    is_int((long long)text_of_value(s, "lr"), 3,
           "a name is written anew while another thread looks for one");
    atomic_flag_clear(&s->names_taken);
    is_int((long long)text_of_value(s, "lr"), 0, "the names are found again afterwards");
    for (int i = (int)s->n_names; i < STEP_NAMES; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        text_of_value(s, name);
    }
    is_int((long long)text_of_value(s, name), 0, "the last name that is kept is written once");
    is_int((long long)text_of_value(s, "more"), 5, "a name more than are kept is written");
    is_int((long long)text_of_value(s, "more"), 5,
           "a name more than are kept is written each time");
    brim_step_close(s);
}

/* The text of the last byte that has room. */
static void test_room(const char *folder)
{
    static const struct {
        uint64_t used;
        const char *text;
        bool taken;
    } cases[] = {
        { BRIM_RING_TEXT_SIZE - 4, "abc", true }, { BRIM_RING_TEXT_SIZE - 4, "abcd", false },
        { BRIM_RING_TEXT_SIZE - 1, "", true },    { BRIM_RING_TEXT_SIZE, "", false },
        { BRIM_RING_TEXT_SIZE + 10, "a", false },
    };
    struct brim_step *s = brim_step_open_at(folder, "x", 0, 0, 1);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t head = s->header->head;

        s->header->text_used = cases[i].used;
        brim_step_note(s, cases[i].text);
        ok(s->header->head - head == cases[i].taken, "note '%s' behind %u bytes is taken or not",
           cases[i].text, (unsigned)cases[i].used);
        ok(s->header->text_used > cases[i].used, "a note without room is counted");
        head = s->header->head;
        s->header->text_used = cases[i].used;
        s->n_names = 0;
        brim_step_value(s, cases[i].text, 1);
        ok(s->header->head - head == cases[i].taken && s->n_names == cases[i].taken,
           "value '%s' behind %u bytes is taken or not", cases[i].text, (unsigned)cases[i].used);
    }
    brim_step_note(s, NULL);
    brim_step_value(s, NULL, 1);
    ok(true, "a note or a value without a text is no mark");
    brim_step_close(s);
}

/* Where a ring cannot be made nothing stays behind. */
static void test_refused(const char *folder)
{
    char path[PATH_MAX], draft[PATH_MAX], longest[PATH_MAX + 8];
    struct rlimit was, less;

    brim_step_close(brim_step_open_at(folder, "x", 0, 0, 1));
    is_int((long long)find(folder, "rank-0-*.ring", path), 1, "the ring of rank 0 is there");
    folder_need(unlink(path), path);
    folder_need(mkdir(path, 0700), path);
    errno = 0;
    ok(!brim_step_open_at(folder, "x", 0, 0, 1) && errno == EISDIR,
       "a folder of the ring's name is in the way: %s", strerror(errno));
    is_int((long long)find(folder, ".rank*", draft), 0, "no draft stays where the name is taken");
    folder_need(rmdir(path), path);
    folder_need(getrlimit(RLIMIT_FSIZE, &was), "getrlimit");
    less = was;
    less.rlim_cur = SIZE - 1;
    folder_need(setrlimit(RLIMIT_FSIZE, &less), "setrlimit");
    errno = 0;
    ok(!brim_step_open_at(folder, "x", 0, 0, 1) && errno == EFBIG,
       "no ring is made where files may not be so long");
    less.rlim_cur = SIZE;
    folder_need(setrlimit(RLIMIT_FSIZE, &less), "setrlimit");
    brim_step_close(brim_step_open_at(folder, "x", 0, 0, 1));
    is_int((long long)find(folder, "rank-0-*.ring", path), 1,
           "a ring is made where files may just be so long");
    folder_need(setrlimit(RLIMIT_FSIZE, &was), "setrlimit");
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    errno = 0;
    ok(!brim_step_open_at(longest, "x", 0, 0, 1) && errno == ENAMETOOLONG,
       "no ring is made in a folder whose name is too long");
}

int main(void)
{
    void (*const tests[])(const char *) = { test_file, test_kinds, test_names, test_room,
                                            test_refused };
    char folder[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(folder);
        tests[i](folder);
        folder_remove(folder);
    }
    return done();
}
