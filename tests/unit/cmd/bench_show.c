/* What brim bench prints of figures, whole: with and without a BLAS, nominal figures, GPUs and
 * their clocks, and a product that is wrong.
 *
 *     t_cmd_bench_show FILE */
#include "cmd/bench/show.h"

#include <math.h>

#include "golden.h"

enum { ROOM = 1 << 20 };

static void fill_gpu(struct compute *c, int i)
{
    struct cuda_gpu *g = &c->gpus.gpus[i];
    double x = i + 1;

    *g = (struct cuda_gpu){ .tflops32 = 51.25 * x, .tflops64 = 25.5 * x, .copy_gbs = 2800 / x };
    snprintf(g->name, sizeof(g->name), "NVIDIA H100 %d", i);
    snprintf(g->bus, sizeof(g->bus), "0000:%d7:00.0", i);
    g->tflops_bf16 = i < 2 ? 610.5 / x : 0;
    for (int k = 0; k < CUDA_KINDS; k++) {
        g->seen[k] = (struct clock_seen){ 1400 + 37 * k, 0.1 * k * i, "" };
        if (i)
            snprintf(g->seen[k].why, sizeof(g->seen[k].why), "%s", k % 2 ? "power" : "thermal");
    }
    if (i == 2)
        g->seen[0].mhz = (double)NAN;
    c->together[i] = (struct cuda_together){ 480.5 / x, { 1305, 0.63, "power" }, "" };
    c->bf16_peak[i] = i ? 989.4 : (double)NAN;
    c->memory_peak[i] = i ? 3350 : (double)NAN;
}

static void fill(struct compute *c, int which)
{
    *c = (struct compute){ .host = "n1",
                           .cpu = "Xeon 8480",
                           .cpus = 112,
                           .cores = 56,
                           .f32_one = 101.5,
                           .f32_all = 4321,
                           .f64_one = 50.25,
                           .f64_all = 2100,
                           .threaded = which == 0,
                           .copy_one = 12.5,
                           .copy_all = 210,
                           .together_kind = which ? CUDA_FLOAT32 : CUDA_BFLOAT16 };
    c->nominal = (struct nominal){ which == 2 ? (double)NAN : 3.8,
                                   64,
                                   32,
                                   which ? (double)NAN : 1024,
                                   "AVX-512: 2 units x 16 floats",
                                   "the highest clock of cpufreq" };
    if (which != 3) {
        snprintf(c->blas, sizeof(c->blas), "openblas");
        snprintf(c->library, sizeof(c->library), "/usr/lib/libopenblas.so.0");
    } else {
        snprintf(c->blas_why.text, sizeof(c->blas_why.text), "there is no BLAS");
        c->f32_one = c->f32_all = c->f64_one = c->f64_all = 0;
    }
    c->gpus.count = which == 0 ? 3 : which == 1;
    for (int i = 0; i < c->gpus.count; i++)
        fill_gpu(c, i);
    if (which == 1) {
        snprintf(c->gpus.gpus[0].wrong, sizeof(c->gpus.gpus[0].wrong), "row 17 is wrong");
        snprintf(c->gpus_why.text, sizeof(c->gpus_why.text), "one GPU is lost");
    }
    if (which == 0)
        snprintf(c->together[1].wrong, sizeof(c->together[1].wrong), "row 3 is wrong");
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    static struct compute c;

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    for (int which = 0; which < 4; which++) {
        fill(&c, which);
        str_addf(&out, "== case %d\n", which);
        bench_show(&c, &out);
        bench_show_json(&c, &out);
        str_add_char(&out, '\n');
    }
    is_int(str_error(&out), 0, "all that is measured has room");
    golden(argv[1], str_text(&out));
    return done();
}
