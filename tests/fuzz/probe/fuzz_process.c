/* Files of /proc/PID of any content. */
#include <math.h>

#include "fuzz.h"
#include "probe/kernel/cgroup_name.h"
#include "probe/process/text.h"

static void check_name(const char *name, size_t size)
{
    check(memchr(name, 0, size) != NULL);
}

static void check_value(double value)
{
    check(isnan(value) || (value >= 0 && isfinite(value)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), name[SIGNAL_THING] = "", path[64] = "";
    struct process_stat stat;
    struct process_io io;

    check(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    if (process_parse_stat(text, &stat) == 0)
        check_name(stat.comm, sizeof(stat.comm));
    process_parse_io(text, &io);
    (void)process_parse_pss(text);
    check_value(io.read_bytes);
    check_value(io.written_bytes);
    check_value(io.disk_read_bytes);
    check_value(io.disk_written_bytes);
    check(cgroup_name(text, name) <= CGROUP_OTHER);
    check_name(name, sizeof(name));
    check(name[0] != 0);
    cgroup_of_process(text, name);
    check_name(name, sizeof(name));
    cgroup_path(text, NULL, path, sizeof(path));
    check_name(path, sizeof(path));
    cgroup_path(text, "memory", path, sizeof(path));
    check_name(path, sizeof(path));
    free(text);
    return 0;
}
