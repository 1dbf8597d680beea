/* The samplers on files of any content; the first byte says which file ("1" is the first). */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "probe/samplers.h"

static const char *const files[] = {
    "proc/stat",         "proc/loadavg",         "proc/meminfo",     "proc/vmstat",
    "proc/pressure/cpu", "proc/pressure/memory", "proc/pressure/io",
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

/* Made at the first input and kept: what the samplers hold open, and the same files to write to. */
static struct samplers *samplers;
static struct tick rows;
static int written[FILES];

/* Open empty files in a folder that is removed again at once. */
static void start(void)
{
    char folder[] = "/tmp/brim-fuzz-XXXXXX";
    struct sampler_env env = { 0 };
    int root;

    check(mkdtemp(folder) != NULL);
    root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check(root >= 0 && mkdirat(root, "proc", 0700) == 0);
    check(mkdirat(root, "proc/pressure", 0700) == 0);
    for (int i = 0; i < FILES; i++) {
        written[i] = openat(root, files[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        check(written[i] >= 0);
    }
    env.root = root;
    check(samplers_open(&samplers, &env, NULL) == 0);
    for (int i = 0; i < FILES; i++)
        check(unlinkat(root, files[i], 0) == 0);
    check(unlinkat(root, "proc/pressure", AT_REMOVEDIR) == 0);
    check(unlinkat(root, "proc", AT_REMOVEDIR) == 0 && rmdir(folder) == 0);
    close(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd;

    if (!size)
        return 0;
    if (!samplers)
        start();
    fd = written[data[0] % FILES];
    check(pwrite(fd, data + 1, size - 1, 0) == (ssize_t)size - 1);
    tick_begin(&rows, 0, 0);
    check(samplers_sample(samplers, &rows) == 0);
    check(ftruncate(fd, 0) == 0);
    for (size_t i = 0; i < rows.n_rows; i++) {
        const struct signal_row *row = &rows.rows[i];

        check(memchr(row->thing, 0, sizeof(row->thing)) != NULL);
        for (size_t j = 0; j < row->set->n_defs; j++)
            check(isnan(row->values[j]) || (row->values[j] >= 0 && isfinite(row->values[j])));
    }
    return 0;
}
