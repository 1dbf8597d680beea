#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

enum { DEPTH = 48, SEEN = 1 << 16, RECORD_FD = 250, CPU_S = 60, PATIENCE_S = 300 };

/* The way to a call: return addresses inside the program. */
struct way {
    const void *caller;
    bool begun; /* the caller was passed: what lies below it is ours */
    unsigned n;
    uintptr_t at[DEPTH];
};

struct spec {
    int code;
    char name[32];
    uint64_t hash;
    uintptr_t caller;
};

/* Of the linker: the program's own code. */
extern const char __executable_start[], etext[];

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __real_open64(const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *bytes, size_t n);

static enum { IDLE, RECORDS, FAILS } mode;
static uint64_t seen[SEEN]; /* hashes of ways; 0: free */
static struct spec wanted;
static bool *reached; /* shared with the parent */

static void die(const char *what)
{
    perror(what);
    _exit(125);
}

/* Threads share work as it comes, so that ways differ: on one CPU the program starts none. */
static void take_one_cpu(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) < 0)
        die("sched_setaffinity");
}

/* The program proper: ways begin here. */
static __attribute__((noinline)) int begin(int argc, char **argv)
{
    int rc;

    take_one_cpu();
    rc = __real_main(argc, argv);
    __asm__ volatile("" ::: "memory"); /* this frame stays while it runs */
    return rc;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *arg)
{
    struct way *w = arg;
    uintptr_t ip = _Unwind_GetIP(frame);

    if (_Unwind_GetRegionStart(frame) == (uintptr_t)begin)
        return _URC_END_OF_STACK;
    w->begun = w->begun || ip == (uintptr_t)w->caller;
    if (w->begun && ip >= (uintptr_t)__executable_start && ip < (uintptr_t)etext)
        w->at[w->n++] = ip - (uintptr_t)__executable_start;
    return w->n < DEPTH ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* FNV-1a; never 0. */
static uint64_t hash_of(const char *name, const struct way *w)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3U;
    for (unsigned i = 0; i < w->n; i++)
        hash = (hash ^ w->at[i]) * 0x100000001b3U;
    return hash ? hash : 1;
}

static bool is_new(uint64_t hash)
{
    for (size_t i = hash % SEEN, tries = 0; tries < SEEN; i = (i + 1) % SEEN, tries++) {
        if (seen[i] == hash)
            return false;
        if (!seen[i]) {
            seen[i] = hash;
            return true;
        }
    }
    return false;
}

static void record(const char *name, uint64_t hash, const struct way *w)
{
    char line[64 + DEPTH * 18];
    int n = snprintf(line, sizeof(line), "%s %" PRIx64, name, hash);

    for (unsigned i = 0; i < w->n; i++)
        n += snprintf(line + n, sizeof(line) - (size_t)n, " %" PRIxPTR, w->at[i]);
    line[n++] = '\n';
    (void)!__real_write(RECORD_FD, line, (size_t)n);
}

bool fault_now(const char *name, const void *caller)
{
    struct way w = { .caller = caller };
    uint64_t hash;
    int was = errno;

    if (mode == IDLE)
        return false;
    if (mode == FAILS && (wanted.caller != (uintptr_t)caller - (uintptr_t)__executable_start ||
                          strcmp(wanted.name, name) != 0))
        return false;
    _Unwind_Backtrace(step, &w);
    hash = hash_of(name, &w);
    errno = was;
    if (mode == RECORDS) {
        if (is_new(hash))
            record(name, hash, &w);
        errno = was;
        return false;
    }
    if (hash != wanted.hash)
        return false;
    mode = IDLE;
    *reached = true;
    errno = wanted.code;
    return true;
}

/* ---- one child for each line of specs ---- */

static const char *path_of(const char *folder, int number, const char *ending)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%d%s", folder, number, ending);
    return path;
}

static void send_to(int fd, const char *path)
{
    int file = __real_open64(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (file < 0 || dup2(file, fd) < 0)
        die(path);
}

static int child(const char *folder, int number, int argc, char **argv)
{
    const struct rlimit limit = { CPU_S, CPU_S };

    send_to(1, path_of(folder, number, ".out"));
    send_to(2, path_of(folder, number, ".err"));
    (void)setrlimit(RLIMIT_CPU, &limit); /* one that turns in a circle is ended by a signal, */
    (void)alarm(PATIENCE_S);             /* and so is one that waits for ever */
    mode = FAILS;
    return begin(argc, argv);
}

/* Keep what the child wrote to FAULTS_OUT, and make that anew. */
static void keep_files(const char *folder, int number)
{
    const char *out = getenv("FAULTS_OUT");

    if (out && (rename(out, path_of(folder, number, ".files")) < 0 || mkdir(out, 0755) < 0))
        die(out);
}

/* All at once: a child that ends sets a file's place back to what it has read. */
static struct spec *read_specs(FILE *from, int *n)
{
    struct spec *all = NULL, one;

    for (*n = 0; fscanf(from, "%d %31s %" SCNx64 " %" SCNxPTR, &one.code, one.name, &one.hash,
                        &one.caller) == 4;) {
        all = realloc(all, (size_t)(*n + 1) * sizeof(one));
        if (!all)
            die("specs");
        all[(*n)++] = one;
    }
    fclose(from);
    return all;
}

static void note_end(const char *folder, int number, int status)
{
    char path[PATH_MAX];
    FILE *ends;

    snprintf(path, sizeof(path), "%s/ends", folder);
    ends = fopen(path, "ae");
    if (!ends || fprintf(ends, "%d %d %d\n", number, status, *reached) < 0 || fclose(ends) != 0)
        die(path);
}

/* The exit status; that of the program in a child. */
static int run_all(const char *folder, FILE *file, int argc, char **argv)
{
    int n, status;
    struct spec *specs = read_specs(file, &n);

    reached = mmap(NULL, sizeof(*reached), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    if (reached == MAP_FAILED)
        die("mmap");
    for (int i = 0; i < n; i++) {
        pid_t pid;

        *reached = false;
        wanted = specs[i];
        pid = fork();
        if (pid == 0) {
            free(specs);
            return child(folder, i, argc, argv);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
            die("fork");
        note_end(folder, i, status);
        keep_files(folder, i);
    }
    free(specs);
    return 0;
}

int __wrap_main(int argc, char **argv)
{
    const char *folder = getenv("FAULTS");
    char path[PATH_MAX];
    FILE *specs;
    int fd;

    if (!folder)
        return __real_main(argc, argv);
    snprintf(path, sizeof(path), "%s/specs", folder);
    specs = fopen(path, "re");
    if (specs)
        return run_all(folder, specs, argc, argv);
    snprintf(path, sizeof(path), "%s/record", folder);
    fd = __real_open64(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || dup3(fd, RECORD_FD, O_CLOEXEC) < 0)
        die(path);
    close(fd);
    mode = RECORDS;
    return begin(argc, argv);
}
