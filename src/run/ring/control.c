#include "run/ring/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "brim/control.h"

enum { WORDS = BRIM_CONTROL_TEXT / 8 };

_Static_assert(offsetof(struct brim_control, seq) == 24, "the layout of brim/control.h");
_Static_assert(offsetof(struct brim_control, text) == 48, "the layout of brim/control.h");
_Static_assert(sizeof(struct brim_control) <= BRIM_CONTROL_SIZE, "it fits the file");

struct control {
    struct brim_control *map;
};

/* A file of that size and no more, all of whose blocks are there: a full file system shows here,
 * and not as a signal when the mapping is written. */
static int make_file(const char *path, struct brim_control **ret)
{
    CLEANUP(closep) int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    void *map;
    int rc;

    if (fd < 0)
        return -errno;
    rc = -posix_fallocate(fd, 0, BRIM_CONTROL_SIZE);
    if (rc < 0)
        return rc;
    map = mmap(NULL, BRIM_CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -errno;
    *ret = map;
    return 0;
}

int control_make(struct control **ret, const char *folder, struct err *e)
{
    CLEANUP(control_closep) struct control *c = calloc(1, sizeof(*c));
    char path[PATH_MAX];
    int rc;

    if (!c)
        return err_nomem(e);
    if (snprintf(path, sizeof(path), "%s/" BRIM_CONTROL_NAME, folder) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "%s: %s", folder, strerror(ENAMETOOLONG));
    rc = make_file(path, &c->map);
    if (rc < 0 || !c->map)
        return err_set(e, rc, "%s: %s", path, strerror(-rc));
    memcpy(c->map->magic, BRIM_CONTROL_MAGIC, sizeof(c->map->magic));
    c->map->major = BRIM_CONTROL_MAJOR;
    c->map->minor = BRIM_CONTROL_MINOR;
    c->map->size = BRIM_CONTROL_SIZE;
    c->map->pid = (int32_t)getpid();
    *ret = steal(&c);
    return 0;
}

void control_close(struct control *c)
{
    if (!c)
        return;
    if (c->map)
        munmap(c->map, BRIM_CONTROL_SIZE);
    free(c);
}

/* Readers copy the words while they change, and find out by seq. */
static void put_text(struct brim_control *m, const char *text)
{
    uint64_t words[WORDS] = { 0 };
    uint64_t *to = (uint64_t *)(void *)m->text;

    memcpy(words, text, strlen(text));
    for (size_t i = 0; i < WORDS; i++)
        __atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
}

int control_ask(struct control *c, const char *text, uint64_t at_step, uint64_t *number)
{
    struct brim_control *m = c->map;
    uint64_t next = m->number + 1;

    if (strlen(text) >= BRIM_CONTROL_TEXT)
        return -EINVAL;
    __atomic_store_n(&m->seq, m->seq + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&m->number, next, __ATOMIC_RELAXED);
    __atomic_store_n(&m->at_step, at_step, __ATOMIC_RELAXED);
    put_text(m, text);
    __atomic_store_n(&m->seq, m->seq + 1, __ATOMIC_RELEASE);
    *number = next;
    return 0;
}
