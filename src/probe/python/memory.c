#include "probe/python/memory.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

/* One call for all pieces, so that little time lies between them. Neither side is stopped. */
static int read_process(const void *state, const struct python_piece *pieces, size_t n)
{
    struct iovec local[PYTHON_PIECES], remote[PYTHON_PIECES];
    const pid_t *pid = state;
    size_t wanted = 0;
    ssize_t got;

    for (size_t i = 0; i < n; i++) {
        local[i] = (struct iovec){ pieces[i].to, pieces[i].len };
        /* an address of theirs, which is no pointer of ours */
        memcpy(&remote[i].iov_base, &pieces[i].at, sizeof(remote[i].iov_base));
        remote[i].iov_len = pieces[i].len;
        wanted += pieces[i].len;
    }
    got = process_vm_readv(*pid, local, n, remote, n, 0);
    if (got < 0)
        return -errno;
    return (size_t)got == wanted ? 0 : -EFAULT;
}

static int read_file(const void *state, const struct python_piece *pieces, size_t n)
{
    const int *fd = state;

    for (size_t i = 0; i < n; i++) {
        ssize_t got;

        if (pieces[i].at > INT64_MAX)
            return -EFAULT;
        got = pread(*fd, pieces[i].to, pieces[i].len, (off_t)pieces[i].at);
        if (got < 0)
            return -errno;
        if ((size_t)got != pieces[i].len)
            return -EFAULT;
    }
    return 0;
}

struct python_memory python_memory_of_process(const pid_t *pid)
{
    return (struct python_memory){ read_process, pid };
}

struct python_memory python_memory_of_file(const int *fd)
{
    return (struct python_memory){ read_file, fd };
}

int python_memory_gather(const struct python_memory *m, const struct python_piece *pieces, size_t n)
{
    assert(n <= PYTHON_PIECES);
    return n ? m->read(m->state, pieces, n) : 0;
}

int python_memory_read(const struct python_memory *m, uint64_t at, void *to, size_t len)
{
    struct python_piece piece = { at, to, len };

    return python_memory_gather(m, &piece, 1);
}

int python_memory_word(const struct python_memory *m, uint64_t at, uint64_t *ret)
{
    return python_memory_read(m, at, ret, sizeof(*ret));
}

uint64_t python_word(const uint8_t *bytes, size_t offset)
{
    uint64_t word;

    memcpy(&word, bytes + offset, sizeof(word));
    return word;
}

uint32_t python_half(const uint8_t *bytes, size_t offset)
{
    uint32_t half;

    memcpy(&half, bytes + offset, sizeof(half));
    return half;
}
