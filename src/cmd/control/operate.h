/* What operators ask of the book of a control, and who may ask for what. */
#ifndef BRIM_CMD_CONTROL_OPERATE_H
#define BRIM_CMD_CONTROL_OPERATE_H
#include "control/book.h"
#include "slurm/account/rights.h"

enum order_kind { ORDER_LIST, ORDER_APPROVE, ORDER_STOP, ORDER_GO };

struct order {
    uint8_t kind; /* enum order_kind */
    uint64_t id;  /* of an action: approve */
    bool json;    /* list */
};

/* "list", "list json", "approve 12", "stop", "go". 0, or -EINVAL. */
int order_read(struct order *ret, const char *text) CHECK_RESULT;

/* Who asks. {.operates = true}: whoever may write the book. */
struct asker {
    const char *user;
    bool operates;
    bool own; /* one that does not is told of its own jobs alone, and of accounts it coordinates */
    const struct slurm_rights *rights; /* NULL: it operates */
};

/* Do it; what there is to say is added to out. A coordinator may approve what is about jobs of its
 * accounts. -EACCES, -ENOENT and others with a sentence. */
int operate(struct control_book *b, const struct order *o, const struct asker *who, struct str *out,
            struct err *e) CHECK_RESULT;

/* Let an action that was proposed be done. -ENOENT with a sentence where none of that number is. */
int operate_approve(struct control_book *b, uint64_t id, struct err *e) CHECK_RESULT;

#endif
