#include "probe/python/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/python/elf.h"
#include "probe/python/maps.h"
#include "probe/python/reader.h"

/* Threads whose number in the process's own namespace is kept. */
enum { THREADS = 64, FILES = 8, MAPS_MAX = 64 << 20 };

struct python_process {
    pid_t pid;
    struct python_memory memory;
    struct python_reader *reader;
    struct {
        pid_t tid;
        uint64_t native_id;
    } threads[THREADS]; /* by tid */
};

static int refused(pid_t pid, int rc, struct err *e)
{
    if (rc == -ENOENT || rc == -ESRCH)
        return err_set(e, -ESRCH, "there is no process %d", pid);
    if (rc == -EACCES || rc == -EPERM)
        return err_set(e, -EPERM,
                       "the memory of process %d may not be read: run brim as root, or as its user "
                       "where sysctl kernel.yama.ptrace_scope is 0",
                       pid);
    return err_set(e, rc, "cannot read process %d: %s", pid, strerror(-rc));
}

/* Open a file that a process runs: as the kernel has it, also when it was removed or lies in a
 * container; where that takes rights that we lack, by its path as the process sees it, or as we
 * do. What is found there may be another file by now: what is read by it does not fit then. */
static int open_mapped(pid_t pid, const struct python_map *map)
{
    char path[PATH_MAX + 64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->from,
             map->to);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || map->path_len >= PATH_MAX)
        return fd;
    snprintf(path, sizeof(path), "/proc/%d/root%.*s", pid, (int)map->path_len, map->path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof(path), "%.*s", (int)map->path_len, map->path);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Look for the runtime in one file of the process: 0; -ENOENT: it is not there. */
static int try_map(struct python_process *p, const struct python_map *map, struct err *e)
{
    CLEANUP(closep) int fd = open_mapped(p->pid, map);
    struct python_memory file = python_memory_of_file(&fd);
    struct python_elf elf = { 0 };
    uint64_t moved, version = 0;
    int rc = fd < 0 ? -errno : python_elf_find(&file, &elf);

    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0 || !elf.runtime)
        return -ENOENT;
    moved = map->from - elf.base;
    if (elf.version) {
        rc = python_memory_word(&p->memory, elf.version + moved, &version);
        if (rc < 0)
            return refused(p->pid, rc, e);
    }
    rc = python_reader_open(&p->reader, &p->memory, elf.runtime + moved, version, e);
    return rc < 0 ? err_context(e, rc, "process %d: ", p->pid) : 0;
}

static int find_runtime(struct python_process *p, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(MAPS_MAX);
    struct python_map maps[FILES];
    char path[64], program[PATH_MAX];
    ssize_t len;
    size_t n;
    int rc;

    snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
    rc = file_read(path, &text, NULL);
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0)
        return refused(p->pid, rc, e);
    snprintf(path, sizeof(path), "/proc/%d/exe", p->pid);
    len = readlink(path, program, sizeof(program) - 1);
    program[MAX(len, 0)] = 0;
    n = python_maps_find(str_text(&text), program, maps, FILES);
    for (size_t i = 0; i < n; i++) {
        rc = try_map(p, &maps[i], e);
        if (rc != -ENOENT)
            return rc;
    }
    return err_set(e, -ENOENT, "process %d runs no Python that can be found", p->pid);
}

int python_process_open(struct python_process **ret, pid_t pid, struct err *e)
{
    CLEANUP(python_process_closep) struct python_process *p = calloc(1, sizeof(*p));
    int rc;

    if (!p)
        return err_nomem(e);
    p->pid = pid;
    p->memory = python_memory_of_process(&p->pid);
    rc = find_runtime(p, e);
    if (rc == 0)
        *ret = steal(&p);
    return rc;
}

/* The last number of the line "NSpid:", which is that in the innermost namespace. */
static uint64_t parse_native_id(const char *status)
{
    const char *line = strstr(status, "\nNSpid:");
    uint64_t id = 0;

    for (line = line ? line + 7 : ""; *line == '\t' || *line == ' ';) {
        line += strspn(line, "\t ");
        line += parse_digits(line, 10, 10, &id);
    }
    return id;
}

/* What the process itself calls a thread; 0: there is no such thread. */
static uint64_t read_native_id(pid_t pid, pid_t tid)
{
    CLEANUP(str_done) struct str text = STR_INIT(64 << 10);
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
    return file_read(path, &text, NULL) < 0 ? 0 : parse_native_id(str_text(&text));
}

/* A reader's answer about one thread, whose number in its own namespace is found where it has to
 * be: also where another thread has its number now. */
static int ask(struct python_process *p, pid_t tid,
               int (*read)(struct python_reader *r, uint64_t native_id, void *to, int most),
               void *to, int most)
{
    const pid_t asked = tid ? tid : p->pid;
    const size_t slot = (size_t)asked % THREADS;
    int n = -ENOENT;

    if (p->threads[slot].tid == asked)
        n = read(p->reader, p->threads[slot].native_id, to, most);
    if (n == -ENOENT) {
        uint64_t native_id = read_native_id(p->pid, asked);

        if (!native_id)
            return 0;
        p->threads[slot].tid = asked;
        p->threads[slot].native_id = native_id;
        n = read(p->reader, native_id, to, most);
    }
    return MAX(n, 0);
}

static int read_stack(struct python_reader *r, uint64_t native_id, void *to, int most)
{
    return python_reader_stack(r, native_id, to, most);
}

static int read_loops(struct python_reader *r, uint64_t native_id, void *to, int most)
{
    return python_reader_loops(r, native_id, to, most);
}

int python_process_stack(struct python_process *p, pid_t tid, struct python_frame *frames, int most)
{
    return ask(p, tid, read_stack, frames, most);
}

int python_process_loops(struct python_process *p, pid_t tid, struct python_loop_of_call *ret,
                         int most)
{
    return ask(p, tid, read_loops, ret, most);
}

int python_process_again(struct python_process *p, struct python_loop *loop)
{
    return python_reader_again(p->reader, loop);
}

void python_process_close(struct python_process *p)
{
    if (!p)
        return;
    python_reader_close(p->reader);
    free(p);
}
