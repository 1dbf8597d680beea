/* The live view of ticks with any values and names: the sentence is told, loads are shares, the
 * JSON is one line with its brackets closed, and no control character reaches the terminal. */
#include <math.h>

#include "diagnose/node/live.h"
#include "fuzz.h"
#include "live_ticks.h"
#include "render/node/live_json.h"
#include "render/node/live_text.h"

struct bytes {
    const uint8_t *at, *end;
};

static uint8_t next(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

/* Values of all kinds: absent, small, shares, large, not finite, any bits. */
static double value(struct bytes *b)
{
    uint8_t kind = next(b);
    uint64_t bits = 0;
    double any;

    switch (kind % 8) {
    case 0:
        return (double)NAN;
    case 1:
        return kind / 8;
    case 2:
        return kind / 256.0;
    case 3:
        return kind * 1e8;
    case 4:
        return kind & 128 ? (double)INFINITY : -kind;
    default:
        for (size_t i = 0; i < sizeof(bits); i++)
            bits = bits << 8 | next(b);
        memcpy(&any, &bits, sizeof(any));
        return any;
    }
}

static void fill(struct tick *t, struct bytes *b, int64_t ns)
{
    tick_begin(t, ns, ns);
    for (int rows = next(b) % 64; rows > 0; rows--) {
        const struct signal_set *set = &made_sets[next(b) % ARRAY_SIZE(made_sets)];
        char thing[8] = { "abc\033\n\xff\"0"[next(b) % 8], (char)('0' + next(b) % 4) };
        struct signal_row *row = tick_add(t, set, thing);

        check(row);
        for (size_t i = 0; i < set->n_defs; i++)
            row->values[i] = value(b);
        if (set->facts)
            tick_fact(row, next(b) % 2, thing);
    }
}

static void check_json(const char *text)
{
    int depth = 0;
    bool quoted = false;

    for (; *text; text++) {
        check((unsigned char)*text >= ' ');
        if (quoted && *text == '\\')
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (!quoted && (*text == '{' || *text == '['))
            depth++;
        else if (!quoted && (*text == '}' || *text == ']'))
            depth--;
        check(depth >= 0);
        check(quoted || (strncmp(text, "nan", 3) != 0 && strncmp(text, "inf", 3) != 0));
    }
    check(depth == 0 && !quoted);
}

static void check_view(const struct live *l, struct bytes *b)
{
    const struct live_extra extra = { .host = "n" };
    struct live_look look = { 1 + next(b), next(b), false, next(b) & 1, NULL };
    struct str json = STR_INIT(8 << 20), text = STR_INIT(8 << 20);

    check(l->verdict.sentence[0]);
    for (int i = 0; i < LIVE_STAGES; i++) {
        const struct live_stage *s = &l->stages[i];

        check(isnan(s->load) || (s->load >= 0 && s->load <= 1));
        check((s->state != LIVE_UNKNOWN) || isnan(s->load));
    }
    live_json(l, &extra, &json);
    check(str_error(&json) == 0);
    check_json(str_text(&json));
    live_text(l, &extra, &look, &text);
    check(str_error(&text) == 0);
    for (const char *c = str_text(&text); *c; c++)
        check(*c == '\n' || ((unsigned char)*c >= ' ' && *c != 0x7f));
    str_done(&json);
    str_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = { data, data + size };
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };
    static struct live live; /* a page of it is larger than a stack likes */

    live = (struct live){ .sort = next(&b) % LIVE_SORTS };
    fill(&ticks[0], &b, 0);
    for (int second = 1; second < 4; second++) {
        fill(&ticks[second % 2], &b, second * (int64_t)1000000000);
        live_update(&live, &ticks[!(second % 2)], &ticks[second % 2]);
        check_view(&live, &b);
    }
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
    return 0;
}
