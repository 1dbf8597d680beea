#include <errno.h>

#include "fuzz.h"
#include "plan/layout/pins.h"

/* Whatever was pinned is refused or makes a layout, and comes back from its words. */
static void check_complete(const struct pins *p)
{
    struct plan_job job = { .shape = { .layers = 8192,
                                       .hidden = 4096,
                                       .heads = 65536,
                                       .kv_heads = 1,
                                       .head_dim = 64,
                                       .ffn = 65536,
                                       .vocab = 32000,
                                       .experts = 65536,
                                       .active = 2,
                                       .expert_ffn = 65536 },
                            .seq = 1 << 22,
                            .global_batch = 1 << 20,
                            .gradient_b = 4,
                            .imbalance = 1 };
    const struct cluster c = { .nodes = 1 << 17, .per_node = 8, .domain = 8 };
    CLEANUP(str_done) struct str words = STR_INIT(1024);
    struct layout l = { .tp = 0 }, again = l;
    struct pins same = { .fixed = 0 };
    struct err e = { "" };
    int rc;

    pins_set_job(p, &job);
    rc = pins_complete(p, &job, &c, &l, &e);
    check(rc == 0 || (rc == -EINVAL && e.text[0] != '\0'));
    if (rc < 0)
        return;
    check(layout_check(&l, &job, &c, NULL) == 0 && layout_micro_batches(&l, &job) >= 1);
    layout_words(&l, &words);
    check(str_error(&words) == 0 && pins_read(&same, str_text(&words), NULL) == 0);
    check(pins_complete(&same, &job, &c, &again, NULL) == 0);
    check(again.tp == l.tp && again.dp == l.dp && again.vpp == l.vpp && again.zero == l.zero);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *text = malloc(size + 1);
    struct pins p = { .fixed = 0 };
    struct err e = { "" };
    int rc;

    check(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    rc = pins_read(&p, text, &e);
    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    check_complete(&p);
    return 0;
}
