/* What brim control has open while it looks at a cluster: Slurm, who tells of GPUs, the book. */
#ifndef BRIM_CMD_CONTROL_SESSION_H
#define BRIM_CMD_CONTROL_SESSION_H
#include "cmd/common/cmd.h"
#include "cmd/control/door.h"
#include "cmd/control/page.h"
#include "cmd/control/source.h"
#include "control/used.h"
#include "slurm/slurm.h"

/* As the command line has them. */
struct control_opts {
    const char *policy, *mode, *directory, *conf, *token, *json, *log;
    const char *prometheus, *query, *login, *book, *door, *mail;
    int64_t every_ns, patience_ns, back_ns;
    uint64_t port, most;
    struct page_opts page;
};

/* A command while it runs. */
struct control_session {
    const struct app *app;
    const struct control_opts *o;
    const char *where;  /* the book is: a folder, or an address */
    const char *folder; /* what is not in the book is there */
    struct policy policy;
    struct source source;
    struct slurm *slurm;
    struct control_book *book;
    struct cycle *control;
    struct cycle_config config;
    struct page *page; /* NULL: nobody wants one */
    struct page_config page_config;
    struct door *door; /* with run; NULL */
    struct door_config door_config;
    struct used *used; /* with run; NULL */
};

/* Open what 'run' and 'once' need. 0, ERR_USAGE, or a negative errno with a sentence;
 * control_session_close() in any case. */
int control_session_open(struct control_session *s, struct err *e) CHECK_RESULT;
void control_session_close(struct control_session *s);

/* Look once, and act. */
int control_session_cycle(struct control_session *s, struct cycle_view *v, struct err *e)
    CHECK_RESULT;

#endif
