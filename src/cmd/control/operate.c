#include "cmd/control/operate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cmd/control/show.h"

enum { LISTED = 1000 };

int order_read(struct order *ret, const char *text)
{
    static const char approve[] = "approve ";
    const struct {
        const char *word;
        struct order order;
    } words[] = {
        { "list", { .kind = ORDER_LIST } },
        { "list json", { .kind = ORDER_LIST, .json = true } },
        { "stop", { .kind = ORDER_STOP } },
        { "go", { .kind = ORDER_GO } },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (!strcmp(text, words[i].word)) {
            *ret = words[i].order;
            return 0;
        }
    *ret = (struct order){ .kind = ORDER_APPROVE };
    return strncmp(text, approve, strlen(approve)) != 0
               ? -EINVAL
               : parse_u64(text + strlen(approve), &ret->id);
}

/* ---- list ---- */

struct listing {
    const struct asker *who;
    struct str *out;
    struct json json;
    bool as_json;
};

/* Whether a decision is about a job of an account that one coordinates. */
static bool coordinates(const struct asker *who, const struct control_row *row)
{
    return who->rights && slurm_rights_has(who->rights, row->account);
}

static bool may_see(const struct asker *who, const struct control_row *row)
{
    return who->operates || !who->own || coordinates(who, row) ||
           (row->job && !strcmp(row->user, who->user));
}

static int list_row(void *arg, const struct control_row *row)
{
    struct listing *l = arg;

    if (!may_see(l->who, row))
        return 0;
    if (l->as_json)
        show_action_json(row, &l->json);
    else
        show_action(row, l->out);
    return str_error(l->out) ? -ENOMEM : 0;
}

static int list(struct control_book *b, const struct asker *who, bool json, struct str *out,
                struct err *e)
{
    struct listing l = { who, out, { .out = out }, json };
    int rc;

    if (json) {
        json_object(&l.json, NULL);
        json_string(&l.json, "schema", "brim.control.actions.v1");
        json_array(&l.json, "actions");
    } else {
        show_action_head(out);
    }
    rc = control_book_rows(b, ~0U, LISTED, list_row, &l, e);
    if (json) {
        json_end(&l.json);
        json_end(&l.json);
    }
    return rc;
}

/* ---- approve ---- */

struct approving {
    uint64_t id;
    struct control_row row;
    bool found;
};

static int find_row(void *arg, const struct control_row *row)
{
    struct approving *a = arg;

    if ((uint64_t)row->id == a->id) {
        a->row = *row;
        a->found = true;
    }
    return 0;
}

static int approve(struct control_book *b, uint64_t id, const struct asker *who, struct err *e)
{
    struct approving a = { .id = id };
    int rc = control_book_rows(b, 1U << CONTROL_PROPOSED, INT32_MAX, find_row, &a, e);

    if (rc < 0)
        return rc;
    if (a.found && !who->operates && !coordinates(who, &a.row))
        return err_set(e, -EACCES,
                       "action %llu is not %.64s's to approve: that takes an operator of Slurm, or "
                       "a coordinator of its job's account",
                       (unsigned long long)id, who->user);
    return a.found
               ? control_book_became(b, a.row.id, CONTROL_APPROVED, "", e)
               : err_set(e, -ENOENT, "action %llu is not proposed: brim control list says what is",
                         (unsigned long long)id);
}

int operate_approve(struct control_book *b, uint64_t id, struct err *e)
{
    return approve(b, id, &(const struct asker){ .operates = true }, e);
}

/* ---- all of them ---- */

int operate(struct control_book *b, const struct order *o, const struct asker *who, struct str *out,
            struct err *e)
{
    switch ((enum order_kind)o->kind) {
    case ORDER_LIST:
        return list(b, who, o->json, out, e);
    case ORDER_APPROVE:
        return approve(b, o->id, who, e);
    case ORDER_STOP:
    case ORDER_GO:
        break;
    }
    if (!who->operates)
        return err_set(e, -EACCES, "%.64s is no operator of Slurm: stop and go are for those",
                       who->user);
    return control_book_stop(b, o->kind == ORDER_STOP, e);
}
