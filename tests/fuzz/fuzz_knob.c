#include <errno.h>

#include "fuzz.h"
#include "model/job/knob.h"

static const char *known(const void *ctx, const char *name)
{
    (void)ctx;
    return strlen(name) % 2 ? "4" : NULL;
}

/* Whatever is taken has values that it takes, and a condition that holds or does not. */
static void use(const struct knobs *knobs)
{
    for (size_t i = 0; i < knobs->count; i++) {
        const struct knob *k = &knobs->list[i];
        char buf[KNOB_VALUE_MAX];

        check(knobs_find(knobs, k->name) == k);
        check(k->what && k->undo && k->needs_text && k->target);
        condition_hold(&k->needs, known, NULL);
        for (size_t n = 0; n < 4 && knob_value(k, n, buf); n++)
            check(knob_check(k, knob_value(k, n, buf), NULL) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    for (int declared = 0; declared < 2; declared++) {
        struct knobs knobs = { .count = 0 };
        struct err e = { "" };
        int rc = declared ? knobs_declare(&knobs, "f", text, size, &e)
                          : knobs_load(&knobs, "f", text, size, &e);

        check(rc == 0 || rc == -EINVAL);
        check((rc == 0) == (e.text[0] == '\0'));
        if (rc == 0) {
            use(&knobs);
        } else {
            long line = line_told(e.text, "f:");

            check(line >= 1 && line <= count_lines(text, size));
            check(knobs.count == 0);
        }
        knobs_done(&knobs);
    }
    return 0;
}
