#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/parse.h"
#include "cmd/common/cmd.h"
#include "model/machine/fault.h"
#include "nvlink5_csv.h"
#include "sxid_csv.h"
#include "xid_csv.h"

enum { OUTPUT_MAX = 1 << 20, OPERANDS = 3 };

struct xid_opts {
    const char *json;
};

static const struct opt opts[] = {
    CMD_JSON(offsetof(struct xid_opts, json)),
    { .kind = OPT_END },
};

static const struct xid_opts defaults = { .json = NULL };

/* What was asked for. */
struct question {
    int code; /* 0: all */
    uint32_t info, status;
    bool has_info, has_status;
};

static int load(struct faults *f, struct err *e)
{
    const struct fault_text xid = { data_xid_csv, data_xid_csv_len };
    const struct fault_text nvlink5 = { data_nvlink5_csv, data_nvlink5_csv_len };
    const struct fault_text sxid = { data_sxid_csv, data_sxid_csv_len };

    return faults_load(f, &xid, &nvlink5, &sxid, e);
}

/* ---- text ---- */

static void add_row(struct str *out, const char *key, const char *text)
{
    str_addf(out, "  %-9s %s\n", key, text);
}

static void add_fault(struct str *out, const char *what, const struct fault *f)
{
    str_addf(out, "%s %d  %s\n", what, f->code, f->name);
    add_row(out, "meaning", f->meaning);
    str_addf(out, "  %-9s %s (%s), hits: %s\n", "class", fault_class_text(f->class),
             severity_text(f->severity), f->scope);
    add_row(out, "to do", f->action);
}

static void add_link(struct str *out, const struct fault_link *l)
{
    str_addf(out, "\n%s, sub-code %u, status 0x%08x: %s%s\n", l->unit, l->sub, l->status,
             severity_text(l->severity), l->fatal ? ", fatal" : "");
    add_row(out, "meaning", l->meaning);
    add_row(out, "to do", l->action);
}

static void add_list(struct str *out, const char *what, const struct fault *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%-4s %5d  %-11s %-8s  %s\n", what, rows[i].code,
                 fault_class_text(rows[i].class), severity_text(rows[i].severity), rows[i].name);
}

/* ---- JSON ---- */

static void json_fault(struct json *j, const char *key, const struct fault *f)
{
    json_object(j, key);
    json_int(j, "code", f->code);
    json_string(j, "name", f->name);
    json_string(j, "meaning", f->meaning);
    json_string(j, "class", fault_class_text(f->class));
    json_string(j, "severity", severity_text(f->severity));
    json_string(j, "scope", f->scope);
    json_string(j, "action", f->action);
    json_end(j);
}

static void json_faults(struct json *j, const char *key, const struct fault *rows, size_t n)
{
    json_array(j, key);
    for (size_t i = 0; i < n; i++)
        json_fault(j, NULL, &rows[i]);
    json_end(j);
}

static void json_link(struct json *j, const struct fault_link *l)
{
    json_object(j, NULL);
    json_int(j, "xid", l->xid);
    json_string(j, "unit", l->unit);
    json_int(j, "sub_code", l->sub);
    json_int(j, "status", l->status);
    json_bool(j, "fatal", l->fatal);
    json_string(j, "severity", severity_text(l->severity));
    json_string(j, "meaning", l->meaning);
    json_string(j, "action", l->action);
    json_end(j);
}

/* ---- the command ---- */

/* Whether a rule is among those asked for: all of a unit and sub-code, or the one of a status. */
static bool is_asked(const struct faults *f, const struct question *q, const struct fault_link *l)
{
    if (!q->code)
        return true;
    if (!q->has_info || !fault_link_fits(l, q->code, q->info))
        return false;
    return !q->has_status || fault_link(f, q->code, q->info, q->status) == l;
}

static void print_json(const struct faults *f, const struct question *q, struct str *out)
{
    struct json j = JSON_INIT(out);
    const struct fault *xid = fault_xid(f, q->code), *sxid = fault_sxid(f, q->code);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.faults.v1");
    json_faults(&j, "xids", q->code ? xid : f->xids, q->code ? xid != NULL : f->n_xids);
    json_faults(&j, "sxids", q->code ? sxid : f->sxids, q->code ? sxid != NULL : f->n_sxids);
    json_array(&j, "nvlink5");
    for (size_t i = 0; i < f->n_links; i++)
        if (is_asked(f, q, &f->links[i]))
            json_link(&j, &f->links[i]);
    json_end(&j);
    json_end(&j);
}

static void print_text(const struct faults *f, const struct question *q, struct str *out)
{
    const struct fault *xid = fault_xid(f, q->code), *sxid = fault_sxid(f, q->code);

    if (xid)
        add_fault(out, "XID", xid);
    if (sxid)
        add_fault(out, "SXID", sxid);
    for (size_t i = 0; q->code && i < f->n_links; i++)
        if (is_asked(f, q, &f->links[i]))
            add_link(out, &f->links[i]);
    if (q->code)
        return;
    add_list(out, "XID", f->xids, f->n_xids);
    add_list(out, "SXID", f->sxids, f->n_sxids);
}

static int parse_word(const char *text, uint32_t *ret, struct err *e)
{
    uint64_t n;

    if (parse_hex(text, &n) < 0 || n > UINT32_MAX)
        return err_usage(e, "'%.40s' is no word of 32 bits like 0x004505c6", text);
    *ret = (uint32_t)n;
    return 0;
}

static int parse_question(char **operands, struct question *q, struct err *e)
{
    uint64_t code;
    int rc;

    if (!operands[0])
        return 0;
    if (parse_u64(operands[0], &code) < 0 || !code || code > INT_MAX)
        return err_usage(e, "'%.40s' is no code of an XID or SXID", operands[0]);
    q->code = (int)code;
    if (!operands[1])
        return 0;
    q->has_info = true;
    if (q->code < 144 || q->code > 150)
        return err_usage(e, "words stand behind the XIDs 144 to 150 only, not behind %d", q->code);
    q->has_status = operands[2] != NULL;
    rc = parse_word(operands[1], &q->info, e);
    return rc == 0 && q->has_status ? parse_word(operands[2], &q->status, e) : rc;
}

/* That what was asked for is in the tables. */
static int check_question(const struct faults *f, const struct question *q, struct err *e)
{
    if (q->code && !fault_xid(f, q->code) && !fault_sxid(f, q->code))
        return err_set(e, -ENOENT, "no XID or SXID %d is known ('brim xid' lists them)", q->code);
    for (size_t i = 0; q->has_info && i < f->n_links; i++)
        if (is_asked(f, q, &f->links[i]))
            return 0;
    if (q->has_info)
        return err_set(e, -ENOENT, "nothing is known of XID %d with these words", q->code);
    return 0;
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(faults_done) struct faults faults = { .n_xids = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    const struct xid_opts *o = values;
    struct question q = { .code = 0 };
    int rc = parse_question(operands, &q, e);

    (void)app;
    if (rc == 0)
        rc = load(&faults, e);
    if (rc == 0)
        rc = check_question(&faults, &q, e);
    if (rc < 0)
        return rc;
    if (o->json)
        print_json(&faults, &q, &out);
    else
        print_text(&faults, &q, &out);
    return cmd_print(&out, o->json, e);
}

const struct cmd cmd_xid = {
    .name = "xid",
    .args = "[CODE [WORD [STATUS]]]",
    .summary = "say what a fault code of an NVIDIA GPU or switch means",
    .about =
        "Say what an XID of a GPU or an SXID of an NVSwitch means and what to do; without a code,\n"
        "list all. WORD and STATUS are the first two words behind the XIDs 144 to 150, which\n"
        "are of NVLink 5.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct xid_opts),
    .max_operands = OPERANDS,
    .run = run,
};
