/* Record the memory that one stack of a Python process is read from, as tests/fixtures/python has
 * it: t_probe_python_record PID >3.13.image. The process must sit still. Words without which the
 * same calls are told are left out, so that nothing else of the process is in the image. */
#include <stdbool.h>
#include <sys/uio.h>

#include "probe/python/offsets.h"
#include "probe/python/reader.h"
#include "probe/python/stack.h"
#include "python_image.h"

enum { MOST = 64 };

static struct image image;
static pid_t process;
static bool recording;

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
                                const struct iovec *remote, unsigned long n_remote,
                                unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
                                const struct iovec *remote, unsigned long n_remote,
                                unsigned long flags);

static void keep(uint64_t at)
{
    uint64_t value = 0;
    struct iovec here = { &value, sizeof(value) }, there = { (void *)(uintptr_t)at, sizeof(value) };

    if (__real_process_vm_readv(process, &here, 1, &there, 1, 0) == 8 && value)
        (void)!image_add(&image, at, value);
}

/* The version is the first word that is asked for, and the runtime the first thing of its size. */
static void note(const struct iovec *remote, const void *read)
{
    uint64_t at = (uint64_t)(uintptr_t)remote->iov_base;

    if (remote->iov_len == PYTHON_DEBUG_WORDS * 8 && !image.runtime)
        image.runtime = at;
    if (remote->iov_len == 8 && !image.version && !image.runtime)
        memcpy(&image.version, read, 8);
    for (uint64_t word = at - at % 8; word < at + remote->iov_len; word += 8)
        keep(word);
}

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
                                const struct iovec *remote, unsigned long n_remote,
                                unsigned long flags)
{
    ssize_t got = __real_process_vm_readv(pid, local, n_local, remote, n_remote, flags);

    for (unsigned long i = 0; recording && got > 0 && i < n_remote; i++)
        note(&remote[i], local[i].iov_base);
    return got;
}

/* What the image tells; how many, or a negative errno. It must tell the same twice, as a process
 * would that is looked at again, and know that there is no other thread. */
static int told(struct python_frame frames[MOST])
{
    struct python_memory memory = image_memory(&image);
    struct python_frame again[MOST];
    struct python_reader *r = NULL;
    int n = python_reader_open(&r, &memory, image.runtime, image.version, NULL);

    memset(frames, 0, MOST * sizeof(*frames));
    memset(again, 0, sizeof(again));
    if (n == 0)
        n = python_reader_stack(r, image.thread, frames, MOST);
    if (n > 0 && (python_reader_stack(r, image.thread, again, MOST) != n ||
                  memcmp(frames, again, sizeof(again)) != 0 ||
                  python_reader_stack(r, image.thread + 1, again, MOST) != -ENOENT))
        n = -EINVAL;
    python_reader_close(r);
    return n;
}

/* Leave out each word that is not needed. */
static void shorten(const struct python_frame want[MOST], int n)
{
    for (size_t i = image.n; i-- > 0;) {
        struct image_word word = image.words[i];
        struct python_frame frames[MOST];

        memmove(image.words + i, image.words + i + 1, (--image.n - i) * sizeof(word));
        if (told(frames) == n && !memcmp(frames, want, sizeof(frames)))
            continue;
        memmove(image.words + i + 1, image.words + i, (image.n++ - i) * sizeof(word));
        image.words[i] = word;
    }
}

static void print(void)
{
    printf("runtime %" PRIx64 "\nversion %" PRIx64 "\nthread %" PRIx64 "\n", image.runtime,
           image.version, image.thread);
    for (size_t i = 0; i < image.n; i++)
        printf("%" PRIx64 " %" PRIx64 "\n", image.words[i].at, image.words[i].value);
}

int main(int argc, char **argv)
{
    struct python_frame frames[MOST], want[MOST];
    struct python_process *p = NULL;
    struct err e = { "" };
    uint64_t pid;
    int n;

    if (argc != 2 || parse_u64(argv[1], &pid) < 0)
        return 2;
    process = (pid_t)pid;
    image.thread = pid;
    recording = true;
    if (python_process_open(&p, process, &e) < 0) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    n = python_process_stack(p, 0, frames, MOST);
    (void)!python_process_stack(p, 0, frames, MOST);
    python_process_close(p);
    image_sort(&image);
    if (n <= 0 || told(want) != n) {
        fprintf(stderr, "%d calls, and not the same in the image\n", n);
        return 1;
    }
    shorten(want, n);
    print();
    image_done(&image);
    return 0;
}
