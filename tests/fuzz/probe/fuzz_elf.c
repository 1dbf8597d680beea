/* A file of any bytes in place of a program or library. */
#include <errno.h>

#include "fuzz.h"
#include "probe/python/elf.h"

struct file {
    const uint8_t *bytes;
    size_t len;
};

static int read_file(const void *state, const struct python_piece *pieces, size_t n)
{
    const struct file *f = state;

    for (size_t i = 0; i < n; i++) {
        if (pieces[i].at > f->len || pieces[i].len > f->len - pieces[i].at)
            return -EFAULT;
        memcpy(pieces[i].to, f->bytes + pieces[i].at, pieces[i].len);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file f = { data, size };
    struct python_memory m = { read_file, &f };
    struct python_elf found;
    int rc = python_elf_find(&m, &found);

    check(rc == 0 || rc == -EINVAL || rc == -EFAULT);
    return 0;
}
