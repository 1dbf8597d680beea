#include "render/node/live_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/parse.h"
#include "render/node/event_json.h"
#include "render/node/live_runs_json.h"

enum { JOB_NAME = 24 };

/* ---- numbers: no more digits than mean something; a tick has a thousand of them ---- */

static void add_share(struct json *j, const char *key, double value)
{
    json_round(j, key, value, 4);
}

static void add_seconds(struct json *j, const char *key, double value)
{
    json_round(j, key, value, 6);
}

/* Bytes, bytes a second, hertz. */
static void add_whole(struct json *j, const char *key, double value)
{
    json_round(j, key, value, 0);
}

static void add_decimal(struct json *j, const char *key, double value)
{
    json_round(j, key, value, 1);
}

/* Empty is not known. */
static void add_text(struct json *j, const char *key, const char *text)
{
    json_string(j, key, text && *text ? text : NULL);
}

/* ---- the verdict and the stages ---- */

static void add_verdict(struct json *j, const struct live_verdict *v)
{
    json_object(j, "verdict");
    json_string(j, "state", live_state_name(v->state));
    json_string(j, "severity",
                severity_text(v->severity > SEVERITY_NOTE ? v->severity : SEVERITY_NOTE));
    json_string(j, "sentence", v->sentence);
    add_text(j, "waste", v->waste);
    add_text(j, "action", v->action);
    json_string(j, "bottleneck", v->bottleneck < LIVE_NONE ? live_stage_name(v->bottleneck) : NULL);
    add_text(j, "run", v->run);
    json_end(j);
}

static void add_stages(struct json *j, const struct live *l)
{
    json_array(j, "stages");
    for (int i = 0; i < LIVE_STAGES; i++) {
        const struct live_stage *s = &l->stages[i];

        json_object(j, NULL);
        json_string(j, "id", live_stage_name((enum live_stage_id)i));
        json_string(j, "title", live_stage_title((enum live_stage_id)i));
        add_share(j, "load", s->load);
        json_string(j, "state", live_state_name(s->state));
        add_text(j, "value", s->value);
        add_text(j, "detail", s->detail);
        add_text(j, "thing", s->thing);
        json_end(j);
    }
    json_end(j);
}

/* ---- tables ---- */

static void add_throttle(struct json *j, unsigned bits)
{
    json_array(j, "throttle");
    for (unsigned bit = 1; bit <= LIVE_THROTTLE_OTHER; bit *= 2)
        if (bits & bit)
            json_string(j, NULL, live_throttle_name((enum live_throttle)bit));
    json_end(j);
}

static void add_gpu(struct json *j, const struct live_gpu *g)
{
    json_object(j, NULL);
    json_string(j, "gpu", g->gpu);
    add_text(j, "model", g->model);
    add_text(j, "uuid", g->uuid);
    add_text(j, "vendor", g->vendor);
    add_share(j, "busy", g->busy);
    add_share(j, "sm_active", g->sm_active);
    add_share(j, "tensor_active", g->tensor_active);
    add_share(j, "dram_active", g->dram_active);
    add_whole(j, "memory_used", g->memory_used);
    add_whole(j, "memory_total", g->memory_total);
    add_decimal(j, "power", g->power);
    add_decimal(j, "power_limit", g->power_limit);
    add_decimal(j, "temperature", g->temperature);
    add_whole(j, "sm_clock", g->sm_clock);
    add_whole(j, "sm_clock_max", g->sm_clock_max);
    add_whole(j, "pcie_rx", g->pcie_rx);
    add_whole(j, "pcie_tx", g->pcie_tx);
    add_whole(j, "link_rx", g->link_rx);
    add_whole(j, "link_tx", g->link_tx);
    add_throttle(j, g->throttle);
    add_whole(j, "processes", g->processes);
    json_bool(j, "lost", g->lost > 0);
    json_end(j);
}

static void add_host(struct json *j, const struct live *l)
{
    json_object(j, "cpu");
    add_share(j, "busy", l->cpu.busy);
    add_share(j, "busy_mean", l->cpu_mean);
    add_share(j, "iowait", l->cpu.iowait);
    add_share(j, "steal", l->cpu.steal);
    add_whole(j, "cores", l->cpu.cores);
    add_share(j, "busiest", l->cpu.busiest);
    json_round(j, "load1", l->cpu.load1, 2);
    add_share(j, "run_wait", l->cpu.run_wait);
    json_end(j);
    json_object(j, "memory");
    add_whole(j, "total", l->memory.total);
    add_whole(j, "available", l->memory.available);
    add_whole(j, "swap_used", l->memory.swap_used);
    add_share(j, "pressure", l->memory.pressure);
    json_end(j);
}

static void add_storage(struct json *j, const struct live *l)
{
    json_array(j, "disks");
    for (size_t i = 0; i < l->n_disks; i++) {
        const struct live_disk *d = &l->disks[i];

        json_object(j, NULL);
        json_string(j, "device", d->device);
        add_whole(j, "read", d->read);
        add_whole(j, "write", d->write);
        add_decimal(j, "iops", d->iops);
        add_seconds(j, "await", d->await);
        add_share(j, "busy", d->busy);
        json_round(j, "queue", d->queue, 2);
        json_end(j);
    }
    json_end(j);
    json_array(j, "filesystems");
    for (size_t i = 0; i < l->n_filesystems; i++) {
        const struct live_filesystem *f = &l->filesystems[i];

        json_object(j, NULL);
        json_string(j, "mount", f->mount);
        add_whole(j, "size", f->size);
        add_whole(j, "used", f->used);
        add_whole(j, "free", f->free);
        json_end(j);
    }
    json_end(j);
    json_array(j, "nfs");
    for (size_t i = 0; i < l->n_nfs; i++) {
        const struct live_nfs *n = &l->nfs[i];

        json_object(j, NULL);
        json_string(j, "mount", n->mount);
        add_decimal(j, "ops", n->ops);
        add_whole(j, "read", n->read);
        add_whole(j, "write", n->write);
        add_seconds(j, "rtt", n->rtt);
        add_seconds(j, "queue", n->queue);
        add_seconds(j, "execute", n->execute);
        json_end(j);
    }
    json_end(j);
}

static void add_nets(struct json *j, const struct live *l)
{
    json_array(j, "nets");
    for (size_t i = 0; i < l->n_nets; i++) {
        const struct live_net *n = &l->nets[i];

        json_object(j, NULL);
        json_string(j, "device", n->device);
        add_whole(j, "rx", n->rx);
        add_whole(j, "tx", n->tx);
        add_whole(j, "speed", n->speed);
        add_decimal(j, "errors", n->errors);
        add_decimal(j, "drops", n->drops);
        json_string(j, "kind", n->kind);
        json_end(j);
    }
    json_end(j);
}

/* A number, which it is unless somebody made the tick up. */
static void add_pid(struct json *j, const char *pid)
{
    uint64_t number;

    if (parse_u64(pid, &number) == 0 && number <= INT32_MAX)
        json_int(j, "pid", (int64_t)number);
    else
        json_string(j, "pid", pid);
}

/* The run that a process belongs to, by its name; else the queue's job, which has a group of its
 * own: "brim-job-12.4711". NULL: neither. */
static const char *job_of(const struct live_process *p, const struct live_extra *x,
                          char text[JOB_NAME])
{
    static const char prefix[] = "brim-job-";
    const char *group = p->cgroup ? strstr(p->cgroup, prefix) : NULL;
    uint64_t pid, uid, job;

    if (parse_u64(p->pid, &pid) == 0 && p->uid && parse_u64(p->uid, &uid) == 0)
        for (size_t i = 0; i < x->n_runs; i++)
            if (live_run_has(&x->runs[i], pid, uid))
                return x->runs[i].name;
    if (!group || parse_digits(group + sizeof(prefix) - 1, 10, 9, &job) <= 0)
        return NULL;
    snprintf(text, JOB_NAME, "job %u", (unsigned)job);
    return text;
}

static void add_processes(struct json *j, const struct live *l, const struct live_extra *x)
{
    char job[JOB_NAME];

    json_array(j, "processes");
    for (size_t i = 0; i < l->n_processes; i++) {
        const struct live_process *p = &l->processes[i];

        json_object(j, NULL);
        add_pid(j, p->pid);
        add_text(j, "comm", p->comm);
        add_text(j, "uid", p->uid);
        add_text(j, "cgroup", p->cgroup);
        add_text(j, "job", job_of(p, x, job));
        add_share(j, "cpu", p->cpu);
        add_share(j, "run_wait", p->run_wait);
        add_share(j, "io_wait", p->io_wait);
        add_whole(j, "read", p->read);
        add_whole(j, "write", p->write);
        add_whole(j, "resident", p->resident);
        add_whole(j, "threads", p->threads);
        add_whole(j, "blocked", p->blocked);
        json_end(j);
    }
    json_end(j);
}

/* ---- what the caller knows ---- */

static void add_alerts(struct json *j, const struct live_extra *x)
{
    json_array(j, "alerts");
    for (size_t i = 0; i < x->n_alerts; i++) {
        const struct live_alert *a = &x->alerts[i];

        json_object(j, NULL);
        json_string(j, "name", a->name);
        json_string(j, "severity", a->severity);
        add_text(j, "thing", a->thing);
        json_string(j, "text", a->text);
        add_text(j, "action", a->action);
        json_round(j, "code", a->code < 0 ? (double)NAN : a->code, 0);
        json_int(j, "since_ms", a->since_ms);
        json_end(j);
    }
    json_end(j);
}

static void add_events(struct json *j, const struct live_extra *x)
{
    json_array(j, "events");
    for (size_t i = 0; i < x->n_events; i++)
        event_json(j, &x->events[i]);
    json_end(j);
}

void live_json(const struct live *l, const struct live_extra *x, struct str *out)
{
    CLEANUP(str_done) struct str when = STR_INIT(64);
    struct json j = { .out = out, .compact = true };

    clock_add_iso(&when, l->wall_ns);
    str_fail(out, str_error(&when));
    json_object(&j, NULL);
    json_string(&j, "schema", "brim.live.v1");
    json_string(&j, "time", str_text(&when));
    json_int(&j, "time_ms", l->wall_ns / NS_PER_MS);
    add_text(&j, "host", x->host);
    json_round(&j, "interval_s", l->interval_s, 3);
    add_verdict(&j, &l->verdict);
    add_stages(&j, l);
    json_array(&j, "gpus");
    for (size_t i = 0; i < l->n_gpus; i++)
        add_gpu(&j, &l->gpus[i]);
    json_end(&j);
    add_host(&j, l);
    add_storage(&j, l);
    add_nets(&j, l);
    add_processes(&j, l, x);
    live_runs_json(&j, "runs", x->runs, x->n_runs);
    add_alerts(&j, x);
    add_events(&j, x);
    json_end(&j);
}
