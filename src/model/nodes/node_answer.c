#include "model/nodes/node_answer.h"

#include <errno.h>
#include <string.h>

#include "model/signal/quantity.h"

/* How an agent begins to refuse who names it otherwise than 127.0.0.1 (daemon/http/access.c). */
static const char own_only[] = "this is served under ";

void node_answer_read(struct node_answer *a, unsigned status, const char *text, size_t len)
{
    int rc = status == 200 ? node_report_read(&a->report, text, len) : 0;

    if (status == 401)
        a->fault = NODE_TOKEN;
    else if (status == 403 && len > strlen(own_only) && !memcmp(text, own_only, strlen(own_only)))
        a->fault = NODE_OWN_ONLY;
    else if (status == 404) /* of before there was this question */
        a->fault = NODE_OTHER;
    else if (status == 503)
        a->fault = NODE_BUSY;
    else if (status != 200 || rc == -EINVAL)
        a->fault = NODE_STRANGER;
    else if (rc == -EPROTONOSUPPORT)
        a->fault = NODE_OTHER;
    else
        a->fault = rc < 0 ? NODE_HERE : NODE_ANSWERED;
    a->error = rc == -ENOMEM ? ENOMEM : 0;
}

static const char *const words[NODE_FAULTS] = {
    [NODE_ANSWERED] = "none",       [NODE_NOT_ASKED] = "not_asked", [NODE_NO_NAME] = "no_name",
    [NODE_NO_LOOKUP] = "no_lookup", [NODE_REFUSED] = "refused",     [NODE_NO_WAY] = "no_way",
    [NODE_SILENT] = "silent",       [NODE_CLOSED] = "closed",       [NODE_TOKEN] = "token",
    [NODE_OWN_ONLY] = "own_only",   [NODE_BUSY] = "busy",           [NODE_OTHER] = "other_version",
    [NODE_STRANGER] = "no_agent",   [NODE_HERE] = "here",           [NODE_UNTOLD] = "untold",
};

const char *node_answer_fault(enum node_fault fault)
{
    return words[fault];
}

/* Those that need no more words than these. */
static const char *const sentences[NODE_FAULTS] = {
    [NODE_ANSWERED] = "answered",
    [NODE_NOT_ASKED] = "not asked: the nodes before it took all of the time",
    [NODE_NO_NAME] = "nobody knows this name: see getent hosts",
    [NODE_NO_LOOKUP] = "the name service does not answer: see /etc/resolv.conf",
    [NODE_CLOSED] = "ends the connection before its answer is whole",
    [NODE_OWN_ONLY] = ("its agent serves its own machine alone: start it with --listen and "
                       "--token-file"),
    [NODE_BUSY] = "its agent has no sample for us now: see its log",
    [NODE_OTHER] = "what answers there is no agent of this version of brim: install it there",
    [NODE_STRANGER] = "what answers there is no agent of brim",
    [NODE_UNTOLD] = "who was asked in its place does not tell of it",
};

void node_answer_why(const struct node_answer *a, const struct node_list_node *node, bool token,
                     double waited_s, struct str *out)
{
    switch (a->fault) {
    case NODE_REFUSED:
        str_addf(out, "nothing listens on port %u: start brim agent there", node->port);
        break;
    case NODE_SILENT:
        str_addf(out, "no answer within %s", quantity_seconds(waited_s).text);
        break;
    case NODE_NO_WAY:
        str_addf(out, "cannot be reached: %s", strerror(a->error));
        break;
    case NODE_HERE:
        str_addf(out, "could not be asked from here: %s", strerror(a->error));
        break;
    case NODE_TOKEN:
        str_add(out, token ? "its agent wants another token than this one"
                           : "its agent wants a token: --token-file FILE");
        break;
    default:
        str_add(out, sentences[a->fault]);
    }
}
