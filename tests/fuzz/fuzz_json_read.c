#include <errno.h>
#include <math.h>

#include "base/json_read.h"
#include "base/utf8.h"
#include "fuzz.h"

struct walk {
    int line, column; /* of the value seen last: they come in the order of the text */
    int lines;
};

static void check_text(const char *text)
{
    uint32_t code;

    while (*text) {
        text += utf8_decode(text, &code);
        check(code != 0);
    }
}

static void check_value(struct walk *w, const struct json_value *v, int depth)
{
    check(v->line >= 1 && v->line <= w->lines && v->column >= 1);
    check(v->line > w->line || (v->line == w->line && v->column > w->column));
    w->line = v->line;
    w->column = v->column;
    check(depth <= JSON_READ_DEPTH && v->kind <= JSON_OBJECT);
    check(v->kind != JSON_NUMBER || isfinite(v->number));
    check(!v->is_whole || v->kind == JSON_NUMBER);
    if (v->kind == JSON_STRING) {
        check(v->text[v->len] == '\0' && strlen(v->text) <= v->len);
        check_text(v->text);
    }
    for (size_t i = 0; i < v->n_items; i++) {
        check((v->kind == JSON_OBJECT) == (v->items[i].key != NULL));
        check_value(w, &v->items[i], depth + 1);
    }
    if (v->kind == JSON_OBJECT && v->n_items > 0)
        check(json_get(v, v->items[0].key) >= v->items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct walk w = { .lines = count_lines((const char *)data, size) };
    const struct json_value *root = NULL, *python = NULL;
    struct err e = { "" };
    int rc = json_read(&root, &a, "f", (const char *)data, size, &e);

    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0') && (rc == 0) == (root != NULL));
    check(rc < 0 || json_read_python(&python, &a, "f", (const char *)data, size, NULL) == 0);
    if (rc < 0) {
        long line = line_told(e.text, "f:");

        check(line >= 1 && line <= w.lines);
    } else {
        check_value(&w, root, 0);
    }
    return 0;
}
