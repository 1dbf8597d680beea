/* Making and ending a ring. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "step/step_private.h"

_Static_assert(sizeof(struct brim_ring_record) == 32, "records are 32 bytes");
_Static_assert(offsetof(struct brim_ring_header, start_monotonic_ns) == 48, "the header's layout");
_Static_assert(offsetof(struct brim_ring_header, head) == 256, "the header's layout");
_Static_assert(offsetof(struct brim_ring_header, closed) == 272, "the header's layout");

enum { RING_SIZE = BRIM_RING_HEADER_SIZE + BRIM_RING_TEXT_SIZE + BRIM_RING_CAPACITY * 32 };

/* The first of the variables that holds a number from 0; -1 when none does. */
static int env_number(const char *const *names)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end = NULL;
        long value;

        if (!text || *text < '0' || *text > '9')
            continue;
        errno = 0;
        value = strtol(text, &end, 10);
        if (errno == 0 && *end == '\0' && value <= INT_MAX)
            return (int)value;
    }
    return -1;
}

/* Two paths of one folder: the one that is filled, and the name that readers look for. */
struct names {
    char draft[PATH_MAX], ring[PATH_MAX];
};

/* "-f0000b2c" where process numbers are not the machine's: two containers of a job may have the
 * same. */
static void name_space(char ret[32])
{
    const unsigned long first = 0xeffffffc; /* PROC_PID_INIT_INO of the kernel */
    struct stat st;

    ret[0] = 0;
    if (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != first)
        snprintf(ret, 32, "-%lx", (unsigned long)st.st_ino);
}

static int make_names(struct names *n, const char *folder, int rank)
{
    int number = rank < 0 ? 0 : rank, pid = (int)getpid(), a, b;
    char space[32];

    name_space(space);
    a = snprintf(n->draft, sizeof(n->draft), "%s/.rank-%d-%d%s.ring", folder, number, pid, space);
    b = snprintf(n->ring, sizeof(n->ring), "%s/rank-%d-%d%s.ring", folder, number, pid, space);

    return a < 0 || b < 0 || (size_t)a >= sizeof(n->draft) ? -ENAMETOOLONG : 0;
}

/* A mapped file of RING_SIZE zeros. Its blocks are allocated here: on a full file system this
 * fails, and not a store into the mapping. An older file of the name (a process that opens twice)
 * goes away; its reader keeps its mapping. */
static int make_file(const char *path, void **ret)
{
    struct rlimit limit;
    void *map;
    int fd, rc;

    /* ulimit -f: the kernel would send SIGXFSZ, which ends a job */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < RING_SIZE)
        return -EFBIG;
    unlink(path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    rc = posix_fallocate(fd, 0, RING_SIZE);
    map = rc ? MAP_FAILED : mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!rc && map == MAP_FAILED)
        rc = errno;
    close(fd);
    if (rc) {
        unlink(path);
        return -rc;
    }
    *ret = map;
    return 0;
}

static int64_t now_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fill_header(struct brim_ring_header *h, const char *framework)
{
    memcpy(h->magic, BRIM_RING_MAGIC, sizeof(h->magic));
    h->major = BRIM_RING_MAJOR;
    h->minor = BRIM_RING_MINOR;
    h->header_size = BRIM_RING_HEADER_SIZE;
    h->text_size = BRIM_RING_TEXT_SIZE;
    h->record_size = sizeof(struct brim_ring_record);
    h->capacity = BRIM_RING_CAPACITY;
    h->pid = (int32_t)getpid();
    h->start_monotonic_ns = now_ns(CLOCK_MONOTONIC);
    h->start_wall_ns = now_ns(CLOCK_REALTIME);
    snprintf(h->framework, sizeof(h->framework), "%s", framework ? framework : "");
    if (gethostname(h->host, sizeof(h->host) - 1) < 0)
        h->host[0] = '\0';
}

/* The handle over a mapped ring, or NULL. */
static struct brim_step *make_handle(void *map)
{
    struct brim_step *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (s == MAP_FAILED)
        return NULL;
    if (madvise(s, sizeof(*s), MADV_WIPEONFORK) < 0)
        s->owner = getpid();
    else
        madvise(map, RING_SIZE, MADV_DONTFORK);
    s->header = map;
    s->text = (char *)map + BRIM_RING_HEADER_SIZE;
    s->text_size = BRIM_RING_TEXT_SIZE;
    s->records = (struct brim_ring_record *)(void *)(s->text + BRIM_RING_TEXT_SIZE);
    s->mask = BRIM_RING_CAPACITY - 1;
    s->size = RING_SIZE;
    atomic_flag_clear(&s->names_taken);
    return s;
}

struct brim_step *brim_step_open_at(const char *folder, const char *framework, int rank,
                                    int local_rank, int world)
{
    struct brim_step *s = NULL;
    struct names n;
    void *map = NULL;
    int rc = make_names(&n, folder, rank);

    if (rc == 0)
        rc = make_file(n.draft, &map);
    if (rc < 0 || !map) {
        errno = -rc;
        return NULL;
    }
    fill_header(map, framework);
    s = make_handle(map);
    brim_step_set_rank(s, rank, local_rank, world);
    if (s && rename(n.draft, n.ring) == 0)
        return s;
    rc = errno;
    unlink(n.draft);
    munmap(map, RING_SIZE);
    if (s)
        munmap(s, sizeof(*s));
    errno = rc;
    return NULL;
}

struct brim_step *brim_step_open(const char *framework)
{
    static const char *const ranks[] = { "RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                         "PMI_RANK", "SLURM_PROCID",         NULL };
    static const char *const local_ranks[] = { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                               "MPI_LOCALRANKID", "SLURM_LOCALID", NULL };
    static const char *const worlds[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                          "SLURM_NTASKS", NULL };
    const char *folder = getenv("BRIM_RING");

    if (!folder || !*folder) {
        errno = ENOENT;
        return NULL;
    }
    return brim_step_open_at(folder, framework, env_number(ranks), env_number(local_ranks),
                             env_number(worlds));
}

void brim_step_close(struct brim_step *s)
{
    if (!s)
        return;
    if (s->header && (!s->owner || s->owner == getpid())) {
        __atomic_store_n(&s->header->closed, 1, __ATOMIC_RELEASE);
        munmap(s->header, s->size);
    }
    munmap(s, sizeof(*s));
}
