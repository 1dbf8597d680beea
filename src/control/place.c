#include "control/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/site/words.h"

enum { SHOWN = 150 };

static bool notes(const struct site_job *j, const char *begin)
{
    return j->note && strncmp(j->note, begin, strlen(begin)) == 0;
}

bool control_waits_for_place(const struct site_job *j)
{
    return j->state == SITE_WAITING && j->held && notes(j, CONTROL_WAITS);
}

bool control_wants_place(const struct site_job *j)
{
    return control_waits_for_place(j) || (j->state == SITE_WAITING && !j->held && j->wanted &&
                                          notes(j, CONTROL_OWN) && site_words_of(j->comment).place);
}

/* What keeps brim from knowing where it may run. */
static const char *unknown_wish(const struct site_job *j)
{
    if (j->features)
        return "it asks for features";
    if (j->wanted || j->avoided)
        return "it names nodes";
    if (j->pending_tasks)
        return "it is an array";
    return j->devices > 0 ? NULL : "it asks for no GPUs";
}

static struct control_step *add(struct control_plan *plan, const struct site *s, uint32_t job)
{
    struct control_step *step = ARENA_PUSH(&plan->arena, &plan->steps, &plan->n);

    if (step)
        *step = (struct control_step){ .kind = CONTROL_PLACE,
                                       .policy = CONTROL_PLACING,
                                       .job = job,
                                       .node = CONTROL_NONE,
                                       .other = CONTROL_NONE,
                                       .devices = s->jobs[job].devices };
    return step;
}

int control_place_add(struct control_plan *plan, const struct site *s, uint32_t job,
                      const char *nodes, size_t n)
{
    const struct site_job *j = &s->jobs[job];
    struct control_step *step;

    if (n == 0 || (j->wanted && !strcmp(j->wanted, nodes)) ||
        (control_waits_for_place(j) && unknown_wish(j)))
        return 0;
    step = add(plan, s, job);
    if (!step)
        return -ENOMEM;
    step->detail = arena_strdup(&plan->arena, nodes);
    snprintf(step->text, sizeof(step->text), "job %u gets its place: %zu node%s, %.*s%s",
             (unsigned)j->id, n, n == 1 ? "" : "s", SHOWN, nodes,
             strlen(nodes) > SHOWN ? "..." : "");
    return step->detail ? 0 : -ENOMEM;
}

static bool has_step(const struct control_plan *plan, uint32_t job)
{
    for (size_t i = 0; i < plan->n; i++)
        if (plan->steps[i].kind == CONTROL_PLACE && plan->steps[i].job == job)
            return true;
    return false;
}

int control_place_let_go(struct control_plan *plan, const struct site *s, int64_t now_ms)
{
    for (size_t i = 0; i < s->n_jobs; i++) {
        const struct site_job *j = &s->jobs[i];
        struct control_step *step;
        const char *wish;

        if (!control_waits_for_place(j) || has_step(plan, (uint32_t)i))
            continue;
        wish = unknown_wish(j);
        if (!wish && now_ms - j->submit_ms < CONTROL_PLACE_MS)
            continue;
        step = add(plan, s, (uint32_t)i);
        if (!step)
            return -ENOMEM;
        snprintf(step->text, sizeof(step->text), "job %u is let go, and Slurm places it: %s",
                 (unsigned)j->id, wish ? wish : "there was no place for it in 10 minutes");
    }
    return 0;
}
