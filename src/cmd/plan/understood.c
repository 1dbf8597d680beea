#include "cmd/plan/understood.h"

#include <string.h>

enum { TEXTS = 12 };

/* Different texts of a topic, in the order of their first rows; more of them are counted alone. */
struct tally {
    const char *text[TEXTS];
    size_t rows[TEXTS];
    size_t n, others;
};

static void count(struct tally *t, const struct plan_row *rows, size_t n, enum row_topic topic)
{
    *t = (struct tally){ .n = 0 };
    for (size_t i = 0; i < n; i++) {
        const char *text = rows[i].understood[topic];
        size_t at = 0;

        if (rows[i].reason[0] || !*text)
            continue;
        while (at < t->n && strcmp(t->text[at], text) != 0)
            at++;
        if (at == TEXTS) {
            t->others++;
            continue;
        }
        if (at == t->n)
            t->text[t->n++] = text;
        t->rows[at]++;
    }
}

void understood_add_text(struct str *out, const struct plan_row *rows, size_t n)
{
    struct tally t;

    for (int topic = 0; topic < ROW_TOPICS; topic++) {
        count(&t, rows, n, (enum row_topic)topic);
        for (size_t i = 0; i < t.n; i++)
            str_addf(out, "  %-17s %4zu row%s  %s\n",
                     i ? "" : row_topic_name((enum row_topic)topic), t.rows[i],
                     t.rows[i] == 1 ? " " : "s", t.text[i]);
        if (t.others)
            str_addf(out, "  %-17s %4zu row%s  in other words\n", "", t.others,
                     str_plural(t.others));
    }
}

void understood_add_json(struct json *j, const struct plan_row *rows, size_t n)
{
    struct tally t;

    json_array(j, "understood");
    for (int topic = 0; topic < ROW_TOPICS; topic++) {
        count(&t, rows, n, (enum row_topic)topic);
        for (size_t i = 0; i < t.n; i++) {
            json_object(j, NULL);
            json_string(j, "of", row_topic_name((enum row_topic)topic));
            json_int(j, "rows", (int64_t)t.rows[i]);
            json_string(j, "text", t.text[i]);
            json_end(j);
        }
    }
    json_end(j);
}
