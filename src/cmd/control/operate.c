#include "cmd/control/operate.h"

#include <errno.h>

struct approving {
    uint64_t id;
    struct control_book *book;
    bool found;
    struct err *e;
};

static int approve_row(void *arg, const struct control_row *row)
{
    struct approving *a = arg;

    if ((uint64_t)row->id != a->id)
        return 0;
    a->found = true;
    return control_book_became(a->book, row->id, CONTROL_APPROVED, "", a->e);
}

int operate_approve(struct control_book *b, uint64_t id, struct err *e)
{
    struct approving a = { .id = id, .book = b, .e = e };
    int rc = control_book_rows(b, 1U << CONTROL_PROPOSED, INT32_MAX, approve_row, &a, e);

    return rc < 0 || a.found
               ? rc
               : err_set(e, -ENOENT, "action %llu is not proposed: brim control list says what is",
                         (unsigned long long)id);
}
