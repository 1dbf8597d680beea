#include "model/nodes/node_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"

int node_gpu_name(char name[NODE_SERIES_NAME], const char *text, size_t len, unsigned gpu)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789:._-";
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root, *list, *found;
    int rc = json_read(&root, &a, "agent", text, len, NULL);

    if (rc < 0)
        return rc;
    list = json_get(root, "gpus");
    if (!list || list->kind != JSON_ARRAY || gpu >= list->n_items)
        return -ENOENT;
    found = json_get(&list->items[gpu], "gpu");
    if (!found || found->kind != JSON_STRING || found->len == 0 ||
        strspn(found->text, letters) != found->len || found->len >= NODE_SERIES_NAME)
        return -ENOENT;
    memcpy(name, found->text, found->len + 1);
    return 0;
}

double node_series_mean(const char *text, size_t len)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root, *values;
    double sum = 0;
    int n = 0;

    if (json_read(&root, &a, "agent", text, len, NULL) < 0)
        return (double)NAN;
    values = json_get(root, "values");
    for (size_t i = 0; values && values->kind == JSON_ARRAY && i < values->n_items; i++) {
        const struct json_value *v = &values->items[i];

        if (v->kind != JSON_NUMBER || v->number < 0 || v->number > 1)
            continue;
        sum += v->number;
        n++;
    }
    return n ? sum / n : (double)NAN;
}
