#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/verdict/judge.h"

void limits_stage(struct made *m, int stage, double share)
{
    m->share[BRIM_STAGE_BACKWARD] += m->share[stage] - share;
    m->share[stage] = share;
}

struct made limits_plain(void)
{
    struct made m = { .seed = 5 };

    made_healthy(&m, false);
    m.ranks = 1;
    m.steps = 102;    /* of which 100 are steady */
    m.step_s = 0.125; /* no step of which rounds */
    m.noise = 0;
    for (int s = 0; s < RUN_SIGNALS; s++)
        m.wild[s] = 0;
    for (int s = 0; s < BRIM_STAGES; s++)
        m.share[s] = s == BRIM_STAGE_BACKWARD;
    limits_stage(&m, BRIM_STAGE_FORWARD, 0.3);
    limits_stage(&m, BRIM_STAGE_OPTIMIZER, 0.06);
    limits_stage(&m, BRIM_STAGE_OTHER, 0.02);
    m.s[RUN_CPUS] = 2;
    m.s[RUN_DISK_BUSY] = 0.1;
    m.s[RUN_OTHER_CPU] = 0.05;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = 1.9;
    m.s[RUN_JOB_RUN_WAIT] = m.s[RUN_JOB_IO_WAIT] = m.s[RUN_JOB_BLOCKED] = 0;
    m.s[RUN_JOB_THROTTLED] = 0;
    m.s[RUN_RANK_THREAD_CPU] = 0.98;
    m.s[RUN_RANK_THREAD_WAIT] = 0;
    made_note(&m, "threads.intra", "2");
    return m;
}

struct made limits_waiting(double share)
{
    struct made m = limits_plain();

    limits_stage(&m, BRIM_STAGE_WAIT, share);
    made_note(&m, "loader.workers", "2");
    m.s[RUN_WORKERS] = 2;
    m.s[RUN_WORKER_CPU] = 0.1;
    m.s[RUN_WORKER_IO_WAIT] = 0;
    m.s[RUN_RANK_CPU] = 1.9 * (1 - share);
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] + 0.2;
    m.s[RUN_RANK_THREAD_CPU] = 0.98 - share;
    m.s[RUN_CPU_BUSY] = 0.5;
    return m;
}

struct made limits_reading(void)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_WORKER_IO_WAIT] = 0.8;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = 50e6;
    m.s[RUN_JOB_WRITE] = m.s[RUN_DISK_WRITE] = 0;
    m.s[RUN_DISK_REQUESTS] = m.s[RUN_JOB_READ_CALLS] = 500;
    m.s[RUN_DISK_BUSY] = 0.75;
    m.s[RUN_DISK_AWAIT] = 0.002;
    m.s[RUN_DISK_QUEUE] = 1;
    return m;
}

struct made limits_gpu(void)
{
    struct made m = limits_plain();

    m.s[RUN_CPUS] = 8;
    m.s[RUN_CPU_BUSY] = 0.2;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = 1;
    m.s[RUN_GPUS] = 1;
    m.s[RUN_GPU_BUSY] = 0.95;
    m.s[RUN_GPU_SM_ACTIVE] = 0.7;
    m.s[RUN_GPU_MEMORY] = 0.8;
    m.s[RUN_GPU_CLOCK] = 0.95;
    m.s[RUN_GPU_THROTTLED] = m.s[RUN_GPU_CAPPED] = 0;
    m.s[RUN_GPU_PCIE] = 0.1;
    m.s[RUN_GPU_PCIE_WIDTH] = 1;
    m.s[RUN_GPU_WORST_CLOCK] = 0.99;
    return m;
}

struct made limits_group(void)
{
    struct made m = limits_plain();

    m.ranks = 2;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] / 2;
    return m;
}

FILE *limits_shown;
bool limits_exact;

/* The second and third step, and the moment in the middle for as long as they take. */
static void make_exact(struct run *r)
{
    int64_t begin = r->ranks[0].steps[1].begin_ns, end = r->ranks[0].steps[2].end_ns;

    for (size_t i = 0; i < r->n_ranks; i++) {
        r->ranks[i].steps++;
        r->ranks[i].n_steps = 2;
    }
    r->moments += r->n_moments / 2;
    r->n_moments = 1;
    r->moments->monotonic_ns = end;
    r->moments->seconds = (double)(end - begin) / 1e9;
}

static void show(const struct verdict *v)
{
    fprintf(limits_shown, "%s\n", v->sentence);
    fprintf(limits_shown, "  %.3f steps/s, %.1f samples/s, step %.4f s, p90 %.4f, best %.4f\n",
            v->steps_per_s, v->samples_per_s, v->step_s, v->step_p90_s, v->step_best_s);
    for (size_t i = 0; i < v->count; i++) {
        const struct verdict_item *k = &v->items[i];

        fprintf(limits_shown, "  %s of rank %d: severity %d, costs %.3f, least %.3f, sure %.2f\n",
                cause_name(k->cause), k->rank, (int)k->severity, k->share, k->least, k->confidence);
        fprintf(limits_shown, "    %s\n    %s\n    %s\n", k->sentence, k->evidence,
                k->action ? k->action : "-");
    }
}

static void add_text(struct limits_said *s, const char *text)
{
    size_t at = strlen(s->text);

    snprintf(s->text + at, sizeof(s->text) - at, "%s\n", text ? text : "");
}

struct limits_said limits_judge(struct run *r, struct run *earlier)
{
    struct verdict v = { .count = 0 };
    struct limits_said s = { .causes = 0 };

    if (limits_exact)
        make_exact(r);
    if (limits_exact && earlier)
        make_exact(earlier);
    if (judge_run(r, earlier, &v) != 0)
        abort();
    if (limits_shown)
        show(&v);
    add_text(&s, v.sentence);
    s.first = v.items[0];
    for (size_t i = 0; i < v.count; i++) {
        s.causes |= (uint64_t)1 << v.items[i].cause;
        s.of[v.items[i].cause] = v.items[i];
        add_text(&s, v.items[i].sentence);
        add_text(&s, v.items[i].evidence);
        add_text(&s, v.items[i].action);
    }
    verdict_done(&v);
    run_done(r);
    if (earlier)
        run_done(earlier);
    return s;
}

static struct limits_said judge_made(struct made *m)
{
    struct run r;

    made_build(m, &r);
    return limits_judge(&r, NULL);
}

bool limits_finds(struct made *m, enum cause cause)
{
    return judge_made(m).causes >> cause & 1;
}

bool limits_is_first(struct made *m, enum cause cause)
{
    return judge_made(m).first.cause == cause;
}

bool limits_says(struct made *m, const char *words)
{
    return strstr(judge_made(m).text, words) != NULL;
}
