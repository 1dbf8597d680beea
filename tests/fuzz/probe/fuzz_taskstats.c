/* Answers of generic netlink of any content. */
#include "fuzz.h"
#include "probe/kernel/taskstats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct taskstats_usage usage = { .pid = 1, .rc = 2 };
    void *copy = malloc(size ? size : 1); /* of its exact size, so that reading beyond it is seen */
    int rc;

    check(copy != NULL);
    memcpy(copy, data, size);
    rc = taskstats_parse(copy, size, &usage);
    check(rc <= 0 && usage.pid == 1 && usage.rc == 2);
    free(copy);
    return 0;
}
