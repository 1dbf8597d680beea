#include "probe/process/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "probe/kernel/scan.h"

/* Numbers behind the state, counted from the first of them, ppid: proc(5) counts from 1 and calls
 * that one 4. */
enum {
    FIELD_PARENT = 4 - 4,
    FIELD_FLAGS = 9 - 4,
    FIELD_MAJOR_FAULTS = 12 - 4,
    FIELD_WAITED_MAJOR_FAULTS = 13 - 4,
    FIELD_USER = 14 - 4,
    FIELD_SYSTEM = 15 - 4,
    FIELD_WAITED_USER = 16 - 4,
    FIELD_WAITED_SYSTEM = 17 - 4,
    FIELD_THREADS = 20 - 4,
    FIELD_START = 22 - 4,
    FIELD_RESIDENT = 24 - 4,
    FIELD_BLOCK_IO = 42 - 4,
    FIELDS
};

#define KERNEL_THREAD 0x00200000U /* PF_KTHREAD of include/linux/sched.h */

/* One number; the sign of one that is below zero is dropped, since none of those that count has
 * any. */
static bool next_number(const char **at, uint64_t *ret)
{
    int digits;

    while (**at == ' ')
        ++*at;
    if (**at == '-')
        ++*at;
    digits = parse_digits(*at, 10, 20, ret);
    *at += digits;
    return digits > 0;
}

int process_parse_stat(const char *text, struct process_stat *ret)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')'), *at;
    uint64_t fields[FIELDS];
    size_t len;

    /* the name is of the process's choice and may look like anything: it ends at the last ')' */
    if (!open || !close || close < open || close[1] != ' ' || !close[2])
        return -EINVAL;
    at = close + 3;
    for (size_t i = 0; i < FIELDS; i++)
        if (!next_number(&at, &fields[i]))
            return -EINVAL;
    *ret = (struct process_stat){
        .state = close[2],
        .parent = fields[FIELD_PARENT],
        .kernel_thread = (fields[FIELD_FLAGS] & KERNEL_THREAD) != 0,
        .threads = fields[FIELD_THREADS],
        .user_ticks = fields[FIELD_USER],
        .system_ticks = fields[FIELD_SYSTEM],
        .waited_ticks = fields[FIELD_WAITED_USER] + fields[FIELD_WAITED_SYSTEM],
        .major_faults = fields[FIELD_MAJOR_FAULTS],
        .waited_major_faults = fields[FIELD_WAITED_MAJOR_FAULTS],
        .start_ticks = fields[FIELD_START],
        .resident_pages = fields[FIELD_RESIDENT],
        .block_io_ticks = fields[FIELD_BLOCK_IO],
    };
    len = MIN((size_t)(close - open - 1), sizeof(ret->comm) - 1);
    memcpy(ret->comm, open + 1, len);
    return 0;
}

void process_parse_io(const char *text, struct process_io *ret)
{
    const struct {
        const char *key;
        double *value;
    } keys[] = {
        { "rchar:", &ret->read_bytes },           { "wchar:", &ret->written_bytes },
        { "syscr:", &ret->read_calls },           { "syscw:", &ret->write_calls },
        { "read_bytes:", &ret->disk_read_bytes }, { "write_bytes:", &ret->disk_written_bytes },
    };
    const char *at = text;

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        *keys[i].value = (double)NAN;
    do {
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
            if (*at == *keys[i].key && scan_word(&at, keys[i].key))
                *keys[i].value = scan_number(&at);
    } while (scan_line(&at));
}

double process_parse_pss(const char *text)
{
    const char *at = text;

    do {
        double kib;

        if (!scan_word(&at, "Pss:"))
            continue;
        kib = scan_number(&at);
        return isnan(kib) ? 0 : kib * 1024;
    } while (scan_line(&at));
    return 0;
}
