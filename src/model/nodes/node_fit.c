#include "model/nodes/node_fit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "model/verdict/live_run.h"

/* Of data/xid.csv those behind which no program runs on that GPU until it is reset: it has stopped,
 * fallen off the bus, or a part of it has that all programs need. Those that end one program, and
 * those of links, are not among them. */
static const int fatal_xids[] = { 46, 62, 79, 95, 119, 120, 140, 143, 158, 167 };

/* An alert of data/alerts.ini, by itself or, 'with' another one of the same GPU, sure. */
static const struct sure {
    const char *name, *with;
} sures[] = {
    { "gpu-lost", NULL },
    { "gpu-recovery", NULL },
    { "gpu-remap-failed", NULL },
    { "gpu-remap-pending", "gpu-ecc-uncorrected" },
    { "gpu-pages-pending", "gpu-ecc-uncorrected" },
};

static const char *text_of(const struct json_value *object, const char *key)
{
    const struct json_value *v = json_get(object, key);

    return v && v->kind == JSON_STRING ? v->text : "";
}

static bool is_array(const struct json_value *v)
{
    return v && v->kind == JSON_ARRAY;
}

/* The alert of that name about a GPU; NULL. */
static const struct json_value *alert_of(const struct json_value *alerts, const char *name,
                                         const char *gpu)
{
    for (size_t i = 0; i < alerts->n_items; i++)
        if (!strcmp(text_of(&alerts->items[i], "name"), name) &&
            !strcmp(text_of(&alerts->items[i], "thing"), gpu))
            return &alerts->items[i];
    return NULL;
}

static bool is_fatal_xid(const struct json_value *alert)
{
    const struct json_value *code = json_get(alert, "code");

    if (strcmp(text_of(alert, "name"), "xid") != 0 || !code || !code->is_whole)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(fatal_xids); i++)
        if (code->whole == fatal_xids[i])
            return true;
    return false;
}

/* The alert for which a job would fail on a GPU; NULL. */
static const struct json_value *sure_of(const struct json_value *alerts, const char *gpu)
{
    for (size_t i = 0; i < ARRAY_SIZE(sures); i++) {
        const struct json_value *found = alert_of(alerts, sures[i].name, gpu);

        if (found && (!sures[i].with || alert_of(alerts, sures[i].with, gpu)))
            return found;
    }
    for (size_t i = 0; i < alerts->n_items; i++)
        if (is_fatal_xid(&alerts->items[i]) && !strcmp(text_of(&alerts->items[i], "thing"), gpu))
            return &alerts->items[i];
    return NULL;
}

/* Whether it is of now. */
static int check_time(const struct json_value *root, int64_t now_ms, struct err *e)
{
    const struct json_value *time = json_get(root, "time_ms");

    if (strcmp(text_of(root, "schema"), "brim.live.v1") != 0)
        return err_set(e, -EPROTO, "what answers is no agent of this version of brim");
    if (!time || time->kind != JSON_NUMBER || !time->is_whole ||
        time->whole > now_ms + NODE_FIT_STALE_MS || time->whole + NODE_FIT_STALE_MS < now_ms)
        return err_set(e, -ESTALE, "the agent's last sample is not of now");
    return 0;
}

int node_fit_read(struct node_unfit *ret, const char *text, size_t len, uint64_t gpus,
                  int64_t now_ms, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root, *list, *alerts;
    int rc = len <= NODE_FIT_TEXT_MAX ? json_read(&root, &a, "agent", text, len, e) : -EFBIG;

    if (rc == 0)
        rc = check_time(root, now_ms, e);
    if (rc < 0)
        return rc == -EFBIG ? err_set(e, rc, "the agent says too much") : rc;
    list = json_get(root, "gpus");
    alerts = json_get(root, "alerts");
    if (!is_array(list) || !is_array(alerts))
        return err_set(e, -EPROTO, "the agent says nothing of GPUs");
    for (unsigned i = 0; i < NODE_FIT_GPUS && i < list->n_items; i++) {
        const char *gpu = text_of(&list->items[i], "gpu");
        const struct json_value *found = gpus >> i & 1 && *gpu ? sure_of(alerts, gpu) : NULL;

        if (!found)
            continue;
        *ret = (struct node_unfit){ .gpu = i };
        live_run_text(ret->why, sizeof(ret->why), text_of(found, "text"));
        return 1;
    }
    return 0;
}
