#include <errno.h>
#include <math.h>

#include "base/utf8.h"
#include "control/source/prometheus.h"
#include "fuzz.h"

enum { NODES = 4 };

/* A sentence that a terminal shows and does not act upon. */
static void check_why(const char *text)
{
    uint32_t code;

    check(strlen(text) < PROMETHEUS_WHY);
    while (*text) {
        text += utf8_decode(text, &code);
        check(code && !utf8_is_control(code));
    }
}

static void check_answer(const struct node_answer *a)
{
    check(a->fault == NODE_ANSWERED || (a->fault == NODE_UNTOLD && a->why));
    if (a->why)
        check_why(a->why);
    if (a->fault == NODE_UNTOLD)
        return;
    check(a->report.n_busy > 0 && a->report.n_busy <= NODE_REPORT_GPUS);
    for (size_t i = 0; i < a->report.n_busy; i++)
        check(isnan(a->report.busy[i]) || (a->report.busy[i] >= 0 && a->report.busy[i] <= 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str words = STR_INIT(PROMETHEUS_WHY);
    struct site_node nodes[NODES] = { { .name = "n0" },
                                      { .name = "n1" },
                                      { .name = "n2" },
                                      { .name = "n3", .address = "127.0.0.1" } };
    struct site site = { .nodes = nodes, .n_nodes = NODES };
    struct node_answer answers[NODES], *of[NODES] = { &answers[0], &answers[1], NULL, &answers[3] };
    const struct prometheus_text t = { (const char *)data, size, INT64_C(1795770090200) };
    struct err e = { "" };
    int rc;

    check(site_index(&site) == 0);
    rc = prometheus_read(&site, of, &a, &t, &e);
    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (*e.text == '\0'));
    for (size_t i = 0; i < NODES && rc == 0; i++)
        if (of[i])
            check_answer(of[i]);
    prometheus_refusal(400, (const char *)data, size, &words);
    check(str_error(&words) == 0);
    check_why(str_text(&words));
    arena_done(&site.arena);
    return 0;
}
