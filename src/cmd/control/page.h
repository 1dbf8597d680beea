/* What a control that runs shows on its page: a board of each cycle. */
#ifndef BRIM_CMD_CONTROL_PAGE_H
#define BRIM_CMD_CONTROL_PAGE_H
#include "cmd/common/device_prices.h"
#include "control/cycle.h"

struct page;

struct page_opts {
    struct device_price_opts rates;
    const char *listen, *token_file, *operators_file; /* listen NULL: there is no page */
    bool own;
};

struct page_config {
    const struct page_opts *o;
    const char *where;  /* the book is: a folder, or an address */
    const char *folder; /* what is not in the book is there: waste by the hour */
    const char *mode;
    const struct clock *clock;
};

/* Whether the options are right, as far as that can be told before anything is opened. 0, or
 * ERR_USAGE with a sentence. */
int page_check(const struct page_opts *o, struct err *e) CHECK_RESULT;

/* Begin to serve; *ret is NULL where no page is wanted. 0, ERR_USAGE, or a negative errno with a
 * sentence. */
int page_open(struct page **ret, const struct page_config *config, struct err *e) CHECK_RESULT;
void page_close(struct page *p);

/* All of these do nothing where p is NULL. */

/* What agents answered, by number of the node; it stays until the next call, the list need not. */
int page_asked(struct page *p, const struct node_answer *const *of, size_t n, struct err *e)
    CHECK_RESULT;

/* Show what the cycle that ended found, or why it found nothing. */
void page_show(struct page *p, const struct cycle *c);
void page_trouble(struct page *p, const char *why);

#endif
