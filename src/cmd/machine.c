/* brim machine: what hardware is here, how it is wired, and what is wired badly. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/clock.h"
#include "cmd/common/cmd.h"
#include "cmd/common/fake_option.h"
#include "devices_csv.h"
#include "diagnose/audit/audit.h"
#include "probe/recording.h"
#include "probe/recording_load.h"
#include "render/machine/render.h"

enum { OUTPUT_MAX = 256 << 20 };

struct machine_opts {
    bool matrix, audit, all, nccl_xml;
    const char *json, *svg, *record, *from, *against, *fake, *fail_on;
    int64_t timeout_ns;
};

static const char *const severities[] = { "note", "warning", "critical", NULL };

static const struct opt opts[] = {
    { OPT_FLAG, 'm', "matrix", offsetof(struct machine_opts, matrix), NULL,
      "the class of the way between every two devices" },
    { OPT_FLAG, 'a', "audit", offsetof(struct machine_opts, audit), NULL,
      "what is wired or set badly, and how to mend it" },
    { OPT_FLAG, 0, "all", offsetof(struct machine_opts, all), NULL,
      "with --audit: why each check that was not made was not" },
    { OPT_CHOICE, 0, "fail-on", offsetof(struct machine_opts, fail_on), "LEVEL",
      "with --audit: exit with 1 from this severity on", .choices = severities },
    { OPT_STRING, 0, "against", offsetof(struct machine_opts, against), "PATH",
      "with --audit: compare with the recordings of a fleet" },
    CMD_JSON(offsetof(struct machine_opts, json)),
    { OPT_STRING, 0, "svg", offsetof(struct machine_opts, svg), "FILE", "draw it into a file",
      .file = OPT_PAGE },
    { OPT_FLAG, 0, "nccl-xml", offsetof(struct machine_opts, nccl_xml), NULL,
      "print NCCL's topology XML (for NCCL_TOPO_FILE)" },
    { OPT_STRING, 0, "record", offsetof(struct machine_opts, record), "DIR",
      "record this machine into a directory" },
    { OPT_STRING, 0, "from", offsetof(struct machine_opts, from), "PATH",
      "show a recording, a directory of them, or NCCL's .xml" },
    FAKE_OPTION(offsetof(struct machine_opts, fake)),
    { OPT_DURATION, 0, "timeout", offsetof(struct machine_opts, timeout_ns), "TIME",
      "give up on a driver that does not answer (10s)", .least = OPT_MS },
    { .kind = OPT_END },
};

static const struct machine_opts defaults = { .timeout_ns = 10 * NS_PER_S };

/* Options that exclude each other: ERR_USAGE with a sentence, or 0. */
static int check_options(const struct machine_opts *o, struct err *e)
{
    int views = o->matrix + o->audit + o->nccl_xml + (o->svg != NULL);

    if (views > 1)
        return err_usage(e, "--matrix, --audit, --svg and --nccl-xml are different "
                            "views: give one of them");
    if (o->record && o->from)
        return err_usage(e, "--record records this machine; it cannot go with --from");
    if (o->json && (o->svg || o->nccl_xml))
        return err_usage(e, "--json does not go with --svg or --nccl-xml");
    if ((o->fail_on || o->against || o->all) && !o->audit)
        return err_usage(e, "--fail-on, --against and --all are for --audit");
    return 0;
}

/* Load what --from names, or probe this machine, recording it on the way if asked to. */
static int load(const struct machine_opts *o, struct probe *p, struct machine *m, struct err *e)
{
    CLEANUP(node_freep) struct node *n = NULL;
    int rc;

    if (o->from)
        return recording_load(p, o->from, m, e);
    rc = o->record ? recording_make(p, o->record, &n, e) : recording_live(p, &n, e);
    if (rc < 0)
        return rc;
    if (machine_add(m, n) < 0)
        return err_nomem(e);
    n = NULL;
    return 0;
}

static int audit(const struct machine_opts *o, struct probe *p, const struct machine *m,
                 struct findings *f, struct err *e)
{
    CLEANUP(machine_done) struct machine fleet = { .n_nodes = 0 };
    int rc = 0;

    for (size_t i = 0; i < m->n_nodes && rc == 0; i++)
        rc = audit_node(m->nodes[i], p->catalogue, f);
    if (rc == 0 && o->against) {
        rc = recording_load(p, o->against, &fleet, e);
        if (rc < 0)
            return rc;
    }
    if (rc == 0 && (o->against || m->n_nodes > 1))
        rc = audit_fleet(m, o->against ? &fleet : NULL, f);
    return rc < 0 ? err_nomem(e) : 0;
}

static bool fails(const struct findings *f, const char *level)
{
    enum severity least = SEVERITY_NOTE;

    while (level && strcmp(severity_text(least), level) != 0)
        least++;
    for (size_t i = 0; level && i < f->count; i++)
        if (f->list[i].severity >= least)
            return true;
    return false;
}

static int print_audit(const struct machine_opts *o, struct probe *p,
                       const struct machine_view *view, struct err *e)
{
    CLEANUP(findings_done) struct findings f = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    int rc = audit(o, p, view->machine, &f, e);

    if (rc < 0)
        return rc;
    if (o->json)
        findings_render_json(&f, view, &out);
    else
        findings_render_text(&f, view, o->all, &out);
    rc = cmd_print(&out, o->json, e);
    return rc < 0 ? rc : fails(&f, o->fail_on);
}

static int print_view(const struct machine_opts *o, const struct machine_view *view, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    const char *name = o->svg        ? "svg"
                       : o->nccl_xml ? "nccl-xml"
                       : o->json     ? "json"
                       : o->matrix   ? "matrix"
                                     : "tree";

    machine_renderer_find(name)->render(view, &out);
    return cmd_print(&out, o->svg ? o->svg : o->json, e);
}

/* What could not be found out, a line each; true when there was something. */
static bool print_troubles(const struct probe *p)
{
    size_t shown = MIN(p->n_troubles, (size_t)TROUBLES_MAX);

    for (size_t i = 0; i < shown; i++)
        log_warning("%s", p->troubles[i].text);
    if (p->n_troubles > shown)
        log_warning("and %zu more of this kind", p->n_troubles - shown);
    return p->n_troubles > 0;
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    const struct machine_opts *o = values;
    struct probe p = { .catalogue = &c, .fake = o->fake, .patience_ns = o->timeout_ns };
    struct machine_view view = { &m, &c, app->colour, app->columns };
    int rc = check_options(o, e);

    (void)operands;
    if (rc)
        return rc;
    rc = catalogue_load(&c, data_devices_csv, data_devices_csv_len, e);
    if (rc == 0 && o->fake)
        rc = probe_fake_check(&c, o->fake, e);
    if (rc == 0)
        rc = load(o, &p, &m, e);
    if (rc < 0)
        return rc;
    rc = o->audit ? print_audit(o, &p, &view, e) : print_view(o, &view, e);
    if (rc >= 0 && o->record)
        log_info("recorded %s in %s", m.nodes[0]->name, o->record);
    if (print_troubles(&p) && rc == 0)
        rc = EXIT_FAILED;
    if (p.hung && rc >= 0)
        _exit(EXIT_FAILED); /* the driver's own clean-up could wait for the call that hangs */
    return rc;
}

const struct cmd cmd_machine = {
    .name = "machine",
    .args = "",
    .summary = "what hardware is here, how it is wired, what is wired badly",
    .about = "Show the sockets, NUMA domains, PCIe tree, accelerators, NICs and drives of this\n"
             "machine, or of a recording of one. What cannot be read is left out, never shown\n"
             "as zero; reading everything needs root.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct machine_opts),
    .run = run,
};
