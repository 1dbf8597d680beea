/* The files of a run: any bytes are read or refused. */
#include <stdint.h>
#include <string.h>

#include "run/archive/archive.h"
#include "run/archive/figures.h"
#include "run/archive/merge_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r = { .id = NULL }, more = { .id = NULL };
    struct archive_part part, other = { .host = "other" };
    struct run_figures figures;
    char *copy = malloc(size + 1);

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    copy[size] = 0;
    if (size && copy[0] != 'B') {
        (void)!archive_parse_about(copy, size, &r, &part, NULL);
    } else {
        part = other;
        (void)!archive_parse_moments(copy, size, &r, NULL);
        (void)!archive_parse_steps(copy, size, &r, NULL);
        (void)!archive_parse_moments(copy, size, &more, NULL);
        (void)!archive_parse_steps(copy, size, &more, NULL);
        (void)!merge_runs_add(&r, &part, &more, &other);
    }
    (void)!run_figures(&r, &figures);
    run_done(&r);
    run_done(&more);
    free(copy);
    return 0;
}
