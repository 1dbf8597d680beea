/* Asks the agents of many nodes, so many at once, in the caller's loop: nothing in it waits. Each
 * node has a time for its answer, all of them together ten times as long, unless that is said
 * otherwise; what a node sends is bounded and not trusted. Addresses of names are kept from one
 * round to the next, until a node does not answer. Ignore SIGPIPE: it is what a node that goes away
 * would send.
 *
 *     rc = ask_open(&k, &loop, &config, e);
 *     ask_begin(k);          as often as wanted: done() is called when all have answered or not
 *     ask_end(k);            then run the loop until its handles are closed
 *     ask_close(k);
 */
#ifndef BRIM_ASK_ASK_H
#define BRIM_ASK_ASK_H
#include "model/nodes/node_answer.h"

#include <uv.h> /* behind ours: it brings a MIN of the system's */

enum {
    ASK_AT_ONCE = 512,
    ASK_WHOLE = 10, /* times as long as for one node is what all of them have */
};

/* Another page than what agents tell of their nodes. All that is pointed to is borrowed. */
struct ask_page {
    const char *path;  /* "/api/v1/query?query=up" */
    const char *login; /* the header Authorization: "Bearer TOKEN"; NULL: none is sent */
    size_t most; /* bytes of an answer, beside its head; a larger one is NODE_STRANGER with EFBIG */
    /* A whole answer of a node: its fault is NODE_ANSWERED whatever it says, without a report. */
    void (*answered)(void *ctx, size_t node, unsigned status, const char *text, size_t len);
};

struct ask_config {
    const struct node_list *nodes; /* borrowed */
    const char *token;             /* borrowed; NULL: none is sent */
    const struct ask_page *page;   /* NULL: an agent's answer is asked for, and read */
    const bool *which;             /* by node: those to ask in a round; borrowed; NULL: all */
    unsigned at_once;              /* 1 to ASK_AT_ONCE */
    int64_t patience_ns;           /* for one node */
    int64_t late_ns;  /* for one that was silent the last time: these are asked behind the others,
                         each round beginning with another one; 0: as for all */
    int64_t whole_ns; /* for all of them; 0: ASK_WHOLE times as long as for one */
    void (*done)(void *ctx);
    void *ctx;
};

struct ask;

/* 0, or a negative errno with a sentence. */
int ask_open(struct ask **ret, uv_loop_t *loop, const struct ask_config *config, struct err *e)
    CHECK_RESULT;

/* Ask them anew. Nothing while they are being asked. When nobody is to be asked done() is called
 * from here. */
void ask_begin(struct ask *k);

bool ask_busy(const struct ask *k);

/* One for each node of the list, of the round that ended last: from done() until the next. */
const struct node_answer *ask_answers(const struct ask *k);

/* Ask no more; done() is not called. */
void ask_end(struct ask *k);

/* When the loop has closed all handles. */
void ask_close(struct ask *k);
DEFINE_CLEANUP(struct ask, ask_close)

/* How many can be asked at once where so many descriptors are needed for other things: at least 1,
 * at most 'most'. */
unsigned ask_at_once(unsigned others, unsigned most);

#endif
