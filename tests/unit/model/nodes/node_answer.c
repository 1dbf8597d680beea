#include "model/nodes/node_answer.h"

#include <errno.h>

#include "tap.h"

static void test_statuses(void)
{
    static const char own[] = "this is served under 127.0.0.1 and localhost only\n";
    static const struct {
        unsigned status;
        const char *text;
        enum node_fault fault;
    } cases[] = {
        { 200, "{\"schema\":\"brim.node.v1\"}", NODE_ANSWERED },
        { 200, "{\"schema\":\"brim.node.v9\"}", NODE_OTHER },
        { 200, "hello", NODE_STRANGER },
        { 401, "", NODE_TOKEN },
        { 403, own, NODE_OWN_ONLY },
        { 403, "no", NODE_STRANGER },
        { 404, "", NODE_OTHER },
        { 503, "", NODE_BUSY },
        { 302, "", NODE_STRANGER },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct node_answer a = { .fault = NODE_NOT_ASKED };

        a.error = EMFILE;
        node_answer_read(&a, cases[i].status, cases[i].text, strlen(cases[i].text));
        is_int(a.error, 0, "status %u is no failure of this machine's", cases[i].status);
        is_str(node_answer_fault(a.fault), node_answer_fault(cases[i].fault),
               "status %u with '%s' is understood", cases[i].status, cases[i].text);
    }
}

/* The sentence about a node that has not answered. */
static const char *why(enum node_fault fault, int error, bool token, struct str *out)
{
    static const struct node_list_node node = { "n1:9500", "n1", 9500 };
    const struct node_answer a = { .fault = fault, .error = error };

    str_reset(out);
    node_answer_why(&a, &node, token, 1.5, out);
    return str_text(out);
}

static void test_sentences(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);

    for (int fault = 0; fault < NODE_FAULTS; fault++)
        ok(*node_answer_fault((enum node_fault)fault) &&
               strlen(why((enum node_fault)fault, 0, false, &out)) > 7,
           "fault %d has a word and a sentence", fault);
    is_str(why(NODE_REFUSED, 0, false, &out),
           "nothing listens on port 9500: start brim agent there", "a refusal names the port");
    is_str(why(NODE_SILENT, 0, false, &out), "no answer within 1.5 s",
           "silence is told with how long it was");
    is_str(why(NODE_TOKEN, 0, false, &out), "its agent wants a token: --token-file FILE",
           "a token that was not sent is asked for");
    is_str(why(NODE_TOKEN, 0, true, &out), "its agent wants another token than this one",
           "a token that is wrong is told as such");
    is_str(why(NODE_HERE, EMFILE, false, &out), "could not be asked from here: Too many open files",
           "what this machine lacks is not told of the node");
}

int main(void)
{
    test_statuses();
    test_sentences();
    return done();
}
