/* Measured rows, whole: what each word beside a row changes in how it is understood. The file is a
 * transcript: "$ COLUMN=TEXT | COLUMN=TEXT..." is a row of one model, below it is what is otherwise
 * than with the row that says nothing, "$" alone. A column of that one without a text is left out.
 *
 *     t_plan_measured_words FILE */
#include <math.h>

#include "base/str.h"
#include "golden.h"
#include "gpus_csv.h"
#include "models_csv.h"
#include "plan/layout/pins.h"
#include "plan/measured/rows.h"

enum { ROOM = 1 << 22, COLUMNS_MOST = 32, WORD = 256, LINE = 1024 };

struct column {
    char name[WORD], text[WORD];
};

static const struct column base[] = {
    { "model", "GPT" }, { "layers", "24" },         { "hidden", "1024" },   { "heads", "16" },
    { "seq", "1024" },  { "gpu", "A100-SXM-80GB" }, { "n_gpus", "16" },     { "tp", "2" },
    { "pp", "2" },      { "global_batch", "64" },   { "step_time_s", "1" },
};

/* Take the columns of a line of the transcript in place of the base's, or beside them. */
static size_t read_columns(const char *line, struct column *ret)
{
    size_t n = ARRAY_SIZE(base);

    memcpy(ret, base, sizeof(base));
    while (*line == ' ' || *line == '|')
        line++;
    while (*line && n < COLUMNS_MOST) {
        size_t len = strcspn(line, "|"), name = strcspn(line, "="), i = 0;

        while (len > name && line[len - 1] == ' ')
            len--;
        while (i < n && (strlen(ret[i].name) != name || strncmp(ret[i].name, line, name) != 0))
            i++;
        n = i < n ? n : n + 1;
        snprintf(ret[i].name, WORD, "%.*s", (int)name, line);
        snprintf(ret[i].text, WORD, "%.*s", (int)(len - name - 1), line + name + 1);
        line += strcspn(line, "|");
        line += strspn(line, " |");
    }
    return n;
}

static void add_job(const struct plan_row *r, struct str *out)
{
    static const char *const engines[] = { "Megatron-LM", "PyTorch", "DeepSpeed" };
    const struct plan_job *j = &r->job;

    str_addf(out, "  model %s: %d layers, %d wide, %d heads of %d, %d keys, ffn %d, vocab %d\n",
             j->shape.name, j->shape.layers, j->shape.hidden, j->shape.heads, j->shape.head_dim,
             j->shape.kv_heads, j->shape.ffn, j->shape.vocab);
    str_addf(out, "  parts%s%s%s%s%s%s\n", j->shape.gated ? " gated" : "",
             j->shape.tied ? " tied" : "", j->shape.biases ? " biases" : "",
             j->shape.learned_positions ? " learned positions" : "",
             j->shape.dropout ? " dropout" : "", j->shape.parallel ? " parallel" : "");
    str_addf(out, "  job: %s, attention %d, %s, %d sequences of %d\n", engines[j->engine],
             (int)j->attention, plan_precision_name(j->precision), j->global_batch, j->seq);
    str_addf(out, "  kernels:%s%s%s logits %g, again %g, gradients %d, moments %d, imbalance %g\n",
             j->fused ? " fused" : "", j->graphs ? " graphs" : "",
             j->fused_loss ? " fused loss" : "", j->logit_b, j->again, j->gradient_b, j->moment_b,
             j->imbalance);
}

/* All that is known of a row, in the same lines for each. */
static void add_row(const struct plan_row *r, struct str *out)
{
    const struct layout *const layouts[] = { &r->layout, &r->fastest, &r->slowest };

    str_addf(out, "  left out: %s\n", r->reason);
    add_job(r, out);
    for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
        str_addf(out, "  %s ", i == 0 ? "layout" : i == 1 ? "fastest" : "slowest");
        layout_words(layouts[i], out);
        str_add(out, "\n");
    }
    str_addf(out, "  GPUs: %d nodes of %d, %.4g GB, %.4g W, network %.4g Gbit/s\n",
             r->cluster.nodes, r->cluster.per_node, r->cluster.gpu.memory_b / 1e9,
             r->cluster.gpu.tdp_w, r->cluster.nics * r->cluster.nic_rate * 8 / 1e9);
    str_addf(out, "  measured: %.6g s%s, %.4g GB%s%s%s\n", r->time_s,
             r->from_flops ? " of FLOPs" : "", r->memory_b / 1e9, r->peak_only ? " allocated" : "",
             r->reserved ? " reserved" : "", r->out ? " out of memory" : "");
    for (int t = 0; t < ROW_TOPICS; t++)
        str_addf(out, "  %s: %s\n", row_topic_name((enum row_topic)t), r->understood[t]);
}

static void ask(const struct row_tables *tables, const char *line, struct str *out)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str text = STR_INIT(1 << 16);
    struct plan_rows rows = { .arena = &a };
    struct column columns[COLUMNS_MOST];
    size_t n = read_columns(line, columns);
    struct err e = { "" };

    str_add(&text, "line");
    for (size_t i = 0; i < n; i++)
        if (i >= ARRAY_SIZE(base) || *columns[i].text)
            str_addf(&text, ",%s", columns[i].name);
    str_add(&text, "\n1");
    for (size_t i = 0; i < n; i++)
        if (i >= ARRAY_SIZE(base) || *columns[i].text)
            str_addf(&text, ",\"%s\"", columns[i].text);
    str_add(&text, "\n");
    if (rows_read(str_text(&text), text.len, tables, &rows, &e) < 0)
        str_addf(out, "  no table: %s\n", e.text);
    else if (rows.n == 1)
        add_row(&rows.list[0], out);
}

/* The lines of a text that are not those of another. */
static void add_other_lines(struct str *out, const char *text, const char *other)
{
    while (*text) {
        size_t n = strcspn(text, "\n"), m = strcspn(other, "\n");

        if (n != m || strncmp(text, other, n) != 0)
            str_add_n(out, text, n + 1);
        text += n + 1;
        other += m + (other[m] == '\n');
    }
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM), usual = STR_INIT(1 << 16);
    CLEANUP(freep) char *file = argc > 1 ? golden_read(argv[1]) : NULL;
    struct gpus gpus;
    struct models models;
    const struct row_tables tables = { &gpus, &models, 0 };
    char *save = NULL;

    if (!file || gpus_load(&gpus, (const char *)data_gpus_csv, data_gpus_csv_len, NULL) < 0 ||
        models_load(&models, (const char *)data_models_csv, data_models_csv_len, NULL) < 0)
        return 2;
    ask(&tables, "", &usual);
    for (char *line = strtok_r(file, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        CLEANUP(str_done) struct str said = STR_INIT(1 << 16);

        if (*line != '$')
            continue;
        str_addf(&out, "%s\n", line);
        ask(&tables, line + 1, &said);
        add_other_lines(&out, str_text(&said), line[1] ? str_text(&usual) : "");
    }
    golden(argv[1], str_text(&out));
    models_done(&models);
    gpus_done(&gpus);
    return done();
}
