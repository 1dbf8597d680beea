#include "cmd/optimize/card.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/run/card.h"
#include "model/signal/quantity.h"
#include "optimize/progress.h"
#include "run/archive/figures.h"

enum { LABEL = 9, LINE_MOST = 4096 };

/* Who could do something about what remains. */
static const char *const owners[CAUSES] = {
    [CAUSE_STORAGE_BANDWIDTH] = "whoever runs the storage",
    [CAUSE_STORAGE_LATENCY] = "whoever runs the storage",
    [CAUSE_SMALL_FILES] = "whoever packs the data: fewer and larger files",
    [CAUSE_STORAGE_CONTENTION] = "whoever runs the storage, or places jobs",
    [CAUSE_LOADER_CPU] = "the author of the data set's code",
    [CAUSE_LOADER_WAITS] = "whoever runs what the loader waits for",
    [CAUSE_FEW_WORKERS] = "whoever starts the job: more CPUs or memory",
    [CAUSE_MANY_WORKERS] = "whoever starts the job",
    [CAUSE_CPU_NEIGHBOURS] = "whoever places jobs on this node",
    [CAUSE_CPU_QUOTA] = "whoever sets the job's limit of CPUs",
    [CAUSE_CPU_BINDING] = "whoever starts the job",
    [CAUSE_CPU_THREADS] = "whoever starts the job",
    [CAUSE_CPU_SPINNING] = "whoever starts the job",
    [CAUSE_PYTHON_LOCK] = "the author of the job",
    [CAUSE_LOOP] = "the author of the job",
    [CAUSE_BLAS] = "whoever installs the libraries",
    [CAUSE_NUMA] = "whoever starts the job",
    [CAUSE_PAGEABLE_COPY] = "the author of the job",
    [CAUSE_PCIE] = "whoever runs the node",
    [CAUSE_COMMUNICATION] = "the author of the job, or a faster network",
    [CAUSE_SLOW_LINK] = "whoever runs the network",
    [CAUSE_LOSSY_NETWORK] = "whoever runs the network",
    [CAUSE_SMALL_BATCH] = "the author of the job",
    [CAUSE_IMBALANCE] = "the author of the job",
    [CAUSE_SLOW_RANK] = "whoever runs the nodes",
    [CAUSE_THERMAL] = "whoever runs the node",
    [CAUSE_POWER_CAP] = "whoever runs the node",
    [CAUSE_MEMORY_PRESSURE] = "whoever starts the job: more memory",
    [CAUSE_MEMORY_UNUSED] = "the author of the job",
    [CAUSE_CHECKPOINT] = "the author of the job, or faster storage",
    [CAUSE_GC] = "the author of the job",
};

/* What remains, unless it is nothing: the first item of the verdict. */
static const struct verdict_item *remains(const struct drive_report *r)
{
    if (!r->remains || !r->remains->count || r->remains->items[0].cause == CAUSE_NONE)
        return NULL;
    return &r->remains->items[0];
}

static unsigned kept(const struct session *s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->n_entries; i++)
        n += s->entries[i].outcome == SESSION_ADOPTED;
    return n;
}

/* ---- text ---- */

static void add_label(struct str *out, const char *label)
{
    str_addf(out, "  %-*s ", LABEL, label);
}

/* A text behind a label, in lines of that many columns that end at blanks. */
static void add_lines(struct str *out, const char *label, const char *text, unsigned columns)
{
    size_t room = MAX(columns, 40) - LABEL - 3;

    do {
        size_t len = strlen(text), at = len;

        if (len > room)
            for (at = room; at > 0 && text[at] != ' '; at--)
                ;
        at = at ? at : MIN(len, room);
        add_label(out, label);
        str_add_n(out, text, at);
        str_add_char(out, '\n');
        label = "";
        text += at;
        text += strspn(text, " ");
    } while (*text);
}

static void add_rate(const struct drive_stretch *s, struct str *out)
{
    str_addf(out, "%s steps/s", quantity_number(drive_steps_per_s(s), 3).text);
    if (!isnan(drive_samples_per_s(s)))
        str_addf(out, ", %s samples/s", quantity_number(drive_samples_per_s(s), 4).text);
}

/* once: what processes share is counted once, which has to be known of both stretches. */
static void add_memory(const struct drive_stretch *s, bool once, struct str *out)
{
    if (once)
        str_addf(out, "; %s of memory at most", quantity_bytes(s->pss_b).text);
    else if (!isnan(s->resident_b))
        str_addf(out, "; %s of memory at most, what processes share counted for each",
                 quantity_bytes(s->resident_b).text);
    if (!isnan(s->device_b))
        str_addf(out, "; %s on devices", quantity_bytes(s->device_b).text);
    str_add_char(out, '\n');
}

/* What a step takes of what can be read here, and what that costs. */
static void add_power(const struct drive_stretch *s, const struct goal *g, struct str *out)
{
    double watts = drive_watts(s), step_s = 1 / drive_steps_per_s(s);

    if (!isnan(watts))
        str_addf(out, "; %s W, %s J a step", quantity_number(watts, 3).text,
                 quantity_number(watts * step_s, 3).text);
    if (g->kind == GOAL_COST)
        str_addf(out, "; a million steps cost %s",
                 quantity_number(1e6 * goal_price(g, step_s, watts), 4).text);
}

static void add_stretches(const struct drive_report *r, struct str *out)
{
    double times = drive_steps_per_s(&r->after) / drive_steps_per_s(&r->before);
    bool once = !isnan(r->before.pss_b) && !(r->after.steps > 0 && isnan(r->after.pss_b));

    if (!(r->before.steps > 0))
        return;
    add_label(out, "before");
    add_rate(&r->before, out);
    add_power(&r->before, &r->goal, out);
    add_memory(&r->before, once, out);
    if (!kept(r->session))
        return;
    add_label(out, "after");
    if (!(r->after.steps > 0)) {
        str_add(out, "the job ended before steps with what was kept were seen\n");
        return;
    }
    add_rate(&r->after, out);
    if (times >= 2)
        str_addf(out, ", %.1f times as fast", times);
    else if (!isnan(times))
        str_addf(out, ", %+.1f %%", (times - 1) * 100);
    add_power(&r->after, &r->goal, out);
    add_memory(&r->after, once, out);
}

static const char *label_of(enum session_outcome o)
{
    switch (o) {
    case SESSION_ADOPTED:
        return "kept";
    case SESSION_REJECTED:
        return "rejected";
    case SESSION_UNDECIDED:
        return "undecided";
    case SESSION_BROKE:
        return "failed";
    case SESSION_ROLLED_BACK:
        return "undone";
    default:
        return "not tried";
    }
}

static void add_bytes(double bytes, const char *of, struct str *out)
{
    if (!isnan(bytes))
        str_addf(out, ", %s%s %s", bytes < 0 ? "-" : "+", quantity_bytes(fabs(bytes)).text, of);
}

/* What a setting that was kept takes, in memory. */
static void add_weight(const struct session_entry *k, struct str *out)
{
    if (k->outcome != SESSION_ADOPTED)
        return;
    add_bytes(k->memory_b, "of memory", out);
    add_bytes(k->device_b, "on devices", out);
}

static void add_entry(const struct session_entry *k, enum session_goal goal, unsigned columns,
                      struct str *out)
{
    CLEANUP(str_done) struct str line = STR_INIT(LINE_MOST);

    str_addf(&line, "%s %s -> %s", k->knob, *k->before ? k->before : "?", k->value);
    if (*k->also)
        str_addf(&line, " with %s no -> yes", k->also);
    str_add(&line, ": ");
    if (k->outcome == SESSION_LEFT || isnan(k->effect.gain)) {
        str_add(&line, *k->note ? k->note : "not measured");
    } else {
        progress_effect(k, goal, &line);
        str_addf(&line, ", %u steps", k->steps);
        if (k->starts)
            str_addf(&line, " in %u start%s", k->starts, str_plural(k->starts));
        add_weight(k, &line);
        if (k->promising)
            str_add(&line, ", not yet sure: tried first the next time");
        str_addf(&line, "%s%s", *k->note ? "; " : "", k->note);
    }
    add_lines(out, label_of(k->outcome), str_text(&line), columns);
    add_lines(out, "", k->why, columns);
}

static void add_entries(const struct session *s, unsigned columns, struct str *out)
{
    static const enum session_outcome order[] = { SESSION_ADOPTED,   SESSION_REJECTED,
                                                  SESSION_UNDECIDED, SESSION_ROLLED_BACK,
                                                  SESSION_BROKE,     SESSION_LEFT };

    for (size_t o = 0; o < ARRAY_SIZE(order); o++)
        for (unsigned i = 0; i < s->n_entries; i++)
            if (s->entries[i].outcome == order[o])
                add_entry(&s->entries[i], s->plan.goal, columns, out);
}

static void add_remains(const struct drive_report *r, unsigned columns, struct str *out)
{
    CLEANUP(str_done) struct str line = STR_INIT(LINE_MOST);
    const struct verdict_item *i = remains(r);

    if (!i)
        return;
    str_add(&line, i->sentence);
    if (i->share > 0)
        str_addf(&line, ": %s of the step", quantity_share(i->share).text);
    add_lines(out, "remains", str_text(&line), columns);
    str_reset(&line);
    if (owners[i->cause])
        str_addf(&line, "could be changed by %s", owners[i->cause]);
    /* Advice to run what has just run is none. */
    if (i->action && !strstr(i->action, "brim optimize"))
        str_addf(&line, "%s%s", line.len ? "; " : "", i->action);
    if (line.len)
        add_lines(out, "", str_text(&line), columns);
}

int optimize_card(const struct optimize_card *c, unsigned columns, struct str *out)
{
    const struct drive_report *r = c->report;
    const struct session *s = r->session;
    size_t hosts = run_figures_hosts(c->run, NULL, 0);
    struct run_figures f;
    int rc = run_figures(c->run, &f);

    if (rc < 0)
        return rc;
    str_addf(out, "brim: optimized run %s (%s), which took %s: %s\n", c->run->id, c->run->name,
             quantity_seconds(f.seconds).text, run_card_end(c->run).text);
    add_stretches(r, out);
    if (!kept(s)) {
        CLEANUP(str_done) struct str line = STR_INIT(LINE_MOST);

        bool tried = s->trials || r->past;

        str_add(&line, tried ? "nothing kept" : "nothing worth changing");
        if (!tried && *r->nothing)
            str_addf(&line, ": %s", r->nothing);
        add_lines(out, "result", str_text(&line), columns);
    }
    add_entries(s, columns, out);
    add_remains(r, columns, out);
    add_label(out, "ended");
    str_addf(out, "%s; %u trials, ", s->reason ? s->reason : "the job ended", s->trials);
    if (r->past)
        str_addf(out, "%u short runs, ", r->past->heats);
    str_addf(out, "%llu steps", (unsigned long long)r->steps);
    if (hosts > 1)
        str_addf(out, " of %zu ranks on %zu hosts", r->ranks, hosts);
    str_add_char(out, '\n');
    if (c->profile) {
        add_label(out, "profile");
        str_addf(out, "%s\n", c->profile);
    }
    if (c->again) {
        add_label(out, "again");
        str_addf(out, "%s\n", c->again);
    }
    return str_error(out);
}

/* ---- JSON ---- */

static void json_stretch(struct json *j, const char *key, const struct drive_stretch *s,
                         const struct goal *g)
{
    double watts = drive_watts(s), step_s = 1 / drive_steps_per_s(s);

    json_object(j, key);
    json_number(j, "steps", s->steps, 10);
    json_number(j, "steps_per_s", drive_steps_per_s(s), 6);
    json_number(j, "samples_per_s", drive_samples_per_s(s), 6);
    json_number(j, "resident_max", s->resident_b, 10);
    json_number(j, "pss_max", s->pss_b, 10);
    json_number(j, "device_memory_max", s->device_b, 10);
    json_number(j, "watts", watts, 5);
    json_number(j, "joules_per_step", watts * step_s, 6);
    json_number(j, "cost_per_step",
                g->kind == GOAL_COST ? goal_price(g, step_s, watts) : (double)NAN, 6);
    json_end(j);
}

static void json_entry(struct json *j, const struct session_entry *k)
{
    json_object(j, NULL);
    json_string(j, "knob", k->knob);
    json_string(j, "value", k->value);
    json_string(j, "before", *k->before ? k->before : NULL);
    json_string(j, "also", *k->also ? k->also : NULL);
    json_string(j, "outcome", session_outcome_name(k->outcome));
    json_number(j, "gain", k->effect.gain, 5);
    json_number(j, "low", isnan(k->effect.gain) ? (double)NAN : k->effect.low, 5);
    json_number(j, "high", k->effect.high, 5);
    json_number(j, "speed", k->speed, 5);
    json_number(j, "memory", k->memory_b, 10);
    json_number(j, "device_memory", k->device_b, 10);
    json_int(j, "steps", k->steps);
    json_int(j, "starts", k->starts);
    json_number(j, "at_step", k->at_step ? k->at_step : (double)NAN, 10);
    json_number(j, "at_s", k->at_step ? k->at_s : (double)NAN, 5);
    json_string(j, "why", k->why);
    json_string(j, "note", k->note);
    json_end(j);
}

void optimize_card_json(const struct optimize_card *c, struct json *j)
{
    const struct drive_report *r = c->report;
    const struct session *s = r->session;
    const struct verdict_item *i = remains(r);

    json_object(j, "optimize");
    json_string(j, "off", r->off);
    json_int(j, "ranks", (int64_t)r->ranks);
    json_string(j, "ended", s->reason);
    json_string(j, "nothing", *r->nothing ? r->nothing : NULL);
    json_int(j, "trials", s->trials);
    json_int(j, "short_runs", r->past ? r->past->heats : 0);
    json_int(j, "steps", (int64_t)r->steps);
    json_stretch(j, "before", &r->before, &r->goal);
    json_stretch(j, "after", &r->after, &r->goal);
    json_array(j, "settings");
    for (unsigned k = 0; k < s->n_entries; k++)
        json_entry(j, &s->entries[k]);
    json_end(j);
    json_object(j, "remains");
    json_string(j, "cause", i ? cause_name(i->cause) : NULL);
    json_number(j, "share", i ? i->share : (double)NAN, 4);
    json_string(j, "sentence", i ? i->sentence : NULL);
    json_string(j, "who", i ? owners[i->cause] : NULL);
    json_string(j, "action", i ? i->action : NULL);
    json_end(j);
    json_string(j, "profile", c->profile);
    json_string(j, "again", c->again);
    json_end(j);
}
