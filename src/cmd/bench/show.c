#include "cmd/bench/show.h"

#include <math.h>

#include "base/json.h"
#include "model/signal/quantity.h"

enum { NAME = 14, FIGURE = 26 };

static void add_figure(struct str *out, double value, double of, const char *unit)
{
    CLEANUP(str_done) struct str text = STR_INIT(128);

    str_addf(&text, "%s %s", quantity_number(value, 3).text, unit);
    if (of > 0)
        str_addf(&text, ", %.0f %%", 100 * value / of);
    str_addf(out, "%-*s", FIGURE, str_text(&text));
}

static void end_line(struct str *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = 0;
    str_add_char(out, '\n');
}

static void add_row(struct str *out, const char *name, double one, double all, double peak,
                    const struct compute *c)
{
    str_addf(out, "%-*s", NAME, name);
    add_figure(out, one, peak, "GFLOP/s");
    add_figure(out, all, peak * c->cores, "GFLOP/s");
    end_line(out);
}

static void add_nominal(const struct compute *c, struct str *out)
{
    const struct nominal *n = &c->nominal;

    if (isnan(n->ghz) || isnan(n->flop32)) {
        str_addf(out, "\nnominal: %s\n", n->how);
        return;
    }
    str_addf(out,
             "\nnominal (100 %%) of a core: %.4g GFLOP/s in float32, %.4g in float64\n"
             "  = %.4g GHz x %.0f and %.0f operations a cycle\n  %s\n  %s\n",
             n->ghz * n->flop32, n->ghz * n->flop64, n->ghz, n->flop32, n->flop64, n->clock,
             n->how);
    if (n->flop_bf16 > 0)
        str_addf(out, "  AMX: %.4g GFLOP/s in bfloat16, which is not measured\n",
                 n->ghz * n->flop_bf16);
}

static const char *const kind_names[CUDA_KINDS] = { [CUDA_FLOAT32] = "float32",
                                                    [CUDA_FLOAT64] = "float64",
                                                    [CUDA_BFLOAT16] = "bfloat16",
                                                    [CUDA_COPY] = "copy" };

/* "1410 MHz, held down 63 % of the time (power)"; nothing where the driver does not tell. */
static void add_seen(const char *before, const struct clock_seen *seen, struct str *out)
{
    if (!(seen->mhz > 0))
        return;
    str_addf(out, "%s%.4g MHz", before, seen->mhz);
    if (seen->held > 0)
        str_addf(out, ", held down %.0f %% of the time (%s)", 100 * seen->held, seen->why);
}

static void add_clocks(const struct cuda_gpu *g, struct str *out)
{
    for (int i = 0; i < CUDA_KINDS; i++)
        if (g->seen[i].mhz > 0) {
            str_addf(out, "  clock in %s: ", kind_names[i]);
            add_seen("", &g->seen[i], out);
            str_add_char(out, '\n');
        }
}

static void add_together(const struct compute *c, int i, struct str *out)
{
    const struct cuda_gpu *g = &c->gpus.gpus[i];
    double alone = c->together_kind == CUDA_BFLOAT16 ? g->tflops_bf16 : g->tflops32;

    if (!(c->together[i].tflops > 0))
        return;
    str_addf(out, "  all %d at once: %s %s TFLOP/s, %.0f %% of alone", c->gpus.count,
             kind_names[c->together_kind], quantity_number(c->together[i].tflops, 3).text,
             100 * c->together[i].tflops / alone);
    add_seen(", at ", &c->together[i].seen, out);
    str_add_char(out, '\n');
}

static void add_gpu(const struct compute *c, int i, struct str *out)
{
    const struct cuda_gpu *g = &c->gpus.gpus[i];

    str_addf(out, "\nGPU%d  %s, %s\n", i, g->name, g->bus);
    str_addf(out, "  float32 %s TFLOP/s, float64 %s TFLOP/s", quantity_number(g->tflops32, 3).text,
             quantity_number(g->tflops64, 3).text);
    if (g->tflops_bf16 > 0)
        str_addf(out, ", bfloat16 %s TFLOP/s", quantity_number(g->tflops_bf16, 3).text);
    if (g->tflops_bf16 > 0 && c->bf16_peak[i] > 0)
        str_addf(out, " (%.0f %% of %s)", 100 * g->tflops_bf16 / c->bf16_peak[i],
                 quantity_number(c->bf16_peak[i], 4).text);
    str_addf(out, "\n  copy %s GB/s", quantity_number(g->copy_gbs, 4).text);
    if (c->memory_peak[i] > 0)
        str_addf(out, " (%.0f %% of %s)", 100 * g->copy_gbs / c->memory_peak[i],
                 quantity_number(c->memory_peak[i], 4).text);
    str_add_char(out, '\n');
    add_clocks(g, out);
    add_together(c, i, out);
    if (*g->wrong || *c->together[i].wrong)
        str_addf(out, "  WRONG: %s\n", *g->wrong ? g->wrong : c->together[i].wrong);
}

static void add_cpus(const struct compute *c, struct str *out)
{
    if (*c->blas)
        str_addf(out, "BLAS  %s  %s\n", c->blas, c->library);
    str_addf(out, "\n%-*s%-*s%d cores, %s\n", NAME, "", FIGURE, "one core", c->cores,
             !*c->blas     ? "a copy on each"
             : c->threaded ? "by its threads"
                           : "a copy on each, since this BLAS has no threads");
    if (*c->blas) {
        add_row(out, "float32 GEMM", c->f32_one, c->f32_all, c->nominal.ghz * c->nominal.flop32, c);
        add_row(out, "float64 GEMM", c->f64_one, c->f64_all, c->nominal.ghz * c->nominal.flop64, c);
    }
    str_addf(out, "%-*s", NAME, "memory copy");
    add_figure(out, c->copy_one, 0, "GB/s");
    add_figure(out, c->copy_all, 0, "GB/s");
    end_line(out);
    if (*c->blas)
        add_nominal(c, out);
}

void bench_show(const struct compute *c, struct str *out)
{
    str_addf(out, "CPU   %s: %d cores, %d CPUs\n", c->cpu, c->cores, c->cpus);
    if (c->copy_one > 0)
        add_cpus(c, out);
    for (int i = 0; i < c->gpus.count; i++)
        add_gpu(c, i, out);
}

/* ---- JSON ---- */

/* Zero is what was not measured. */
static void add_measured(struct json *j, const char *key, double value)
{
    json_number(j, key, value > 0 ? value : (double)NAN, 6);
}

static void add_kind(struct json *j, const char *key, double one, double all, double nominal)
{
    json_object(j, key);
    add_measured(j, "one_core", one);
    add_measured(j, "all_cores", all);
    json_number(j, "nominal_core", nominal, 6);
    json_end(j);
}

static void add_clock(struct json *j, const char *key, const struct clock_seen *seen)
{
    json_object(j, key);
    add_measured(j, "mhz", seen->mhz);
    json_number(j, "held_down_ratio", seen->mhz > 0 ? seen->held : (double)NAN, 4);
    json_string(j, "held_down_by", *seen->why ? seen->why : NULL);
    json_end(j);
}

static void add_gpus(struct json *j, const struct compute *c)
{
    json_array(j, "gpus");
    for (int i = 0; i < c->gpus.count; i++) {
        const struct cuda_gpu *g = &c->gpus.gpus[i];

        json_object(j, NULL);
        json_string(j, "name", g->name);
        json_string(j, "bus", g->bus);
        add_measured(j, "float32_tflops", g->tflops32);
        add_measured(j, "float64_tflops", g->tflops64);
        add_measured(j, "bfloat16_tflops", g->tflops_bf16);
        json_number(j, "bfloat16_peak_tflops", c->bf16_peak[i], 6);
        add_measured(j, "copy_gbs", g->copy_gbs);
        json_number(j, "memory_peak_gbs", c->memory_peak[i], 6);
        json_int(j, "side", g->side);
        json_object(j, "clocks");
        for (int k = 0; k < CUDA_KINDS; k++)
            add_clock(j, kind_names[k], &g->seen[k]);
        json_end(j);
        json_object(j, "all_at_once");
        json_string(j, "kind", c->together[i].tflops > 0 ? kind_names[c->together_kind] : NULL);
        add_measured(j, "tflops", c->together[i].tflops);
        add_clock(j, "clock", &c->together[i].seen);
        json_end(j);
        json_string(j, "wrong",
                    *g->wrong               ? g->wrong
                    : *c->together[i].wrong ? c->together[i].wrong
                                            : NULL);
        json_end(j);
    }
    json_end(j);
}

void bench_show_json(const struct compute *c, struct str *out)
{
    struct json j = JSON_INIT(out);
    const struct nominal *n = &c->nominal;

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.bench.v1");
    json_string(&j, "host", c->host);
    json_string(&j, "cpu", c->cpu);
    json_int(&j, "cpus", c->cpus);
    json_int(&j, "cores", c->cores);
    json_string(&j, "blas", *c->blas ? c->blas : NULL);
    json_string(&j, "library", *c->blas ? c->library : NULL);
    json_string(&j, "all_by", !*c->blas ? NULL : c->threaded ? "threads" : "copies");
    add_kind(&j, "float32_gflops", *c->blas ? c->f32_one : 0, *c->blas ? c->f32_all : 0,
             n->ghz * n->flop32);
    add_kind(&j, "float64_gflops", *c->blas ? c->f64_one : 0, *c->blas ? c->f64_all : 0,
             n->ghz * n->flop64);
    json_object(&j, "copy_gbs");
    add_measured(&j, "one_core", c->copy_one);
    add_measured(&j, "all_cores", c->copy_all);
    json_end(&j);
    json_object(&j, "nominal");
    json_number(&j, "ghz", n->ghz, 6);
    json_string(&j, "clock", n->clock);
    json_number(&j, "flop32_cycle", n->flop32, 6);
    json_number(&j, "flop64_cycle", n->flop64, 6);
    json_number(&j, "bfloat16_gflops", n->ghz * n->flop_bf16, 6);
    json_string(&j, "how", n->how);
    json_end(&j);
    add_gpus(&j, c);
    json_end(&j);
}
