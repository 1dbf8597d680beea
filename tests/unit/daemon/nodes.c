/* What the agent says of other nodes, with a clock, questions and calls of the test's own: when it
 * asks, whom it makes wait, and what it says to whom. */
#include "daemon/nodes.h"

#include <string.h>

#include "ask/ask.h"
#include "tap.h"

enum { CALLS = 64, WAITING = 32 };

static int64_t now_ns = 1000 * NS_PER_S;

/* What was answered, and whom the agent asked. */
static struct {
    unsigned status[CALLS];
    char text[CALLS][512];
    size_t n;
    unsigned begun, ended, closed;
    bool busy;
    struct ask_config config;
} said;
static const struct node_answer no_answer;
static int made_ask; /* what the fake of struct ask points to */

void __wrap_http_reply(struct http_call *call, unsigned status, const char *type, const char *text,
                       size_t len);
int __wrap_ask_open(struct ask **ret, uv_loop_t *loop, const struct ask_config *c, struct err *e);
void __wrap_ask_begin(struct ask *k);
bool __wrap_ask_busy(const struct ask *k);
const struct node_answer *__wrap_ask_answers(const struct ask *k);
void __wrap_ask_end(struct ask *k);
void __wrap_ask_close(struct ask *k);

void __wrap_http_reply(struct http_call *call, unsigned status, const char *type, const char *text,
                       size_t len)
{
    (void)call;
    (void)type;
    said.status[said.n] = status;
    snprintf(said.text[said.n++], sizeof(said.text[0]), "%.*s", (int)len, text);
}

int __wrap_ask_open(struct ask **ret, uv_loop_t *loop, const struct ask_config *c, struct err *e)
{
    (void)loop;
    (void)e;
    said.config = *c;
    *ret = (struct ask *)(void *)&made_ask;
    return 0;
}

void __wrap_ask_begin(struct ask *k)
{
    (void)k;
    said.begun++;
    said.busy = true;
}

bool __wrap_ask_busy(const struct ask *k)
{
    (void)k;
    return said.busy;
}

const struct node_answer *__wrap_ask_answers(const struct ask *k)
{
    (void)k;
    return &no_answer;
}

void __wrap_ask_end(struct ask *k)
{
    (void)k;
    said.ended++;
}

void __wrap_ask_close(struct ask *k)
{
    (void)k;
    said.closed++;
}

static int64_t read_clock(void *arg)
{
    return *(int64_t *)arg;
}

static const struct clock made_clock = { read_clock, read_clock, &now_ns };

static struct nodes *open_nodes(const struct node_list *list, const char *sent)
{
    const struct nodes_config config = { &made_clock, list, sent };
    struct nodes *n = NULL;
    struct err e = { "" };

    memset(&said, 0, sizeof(said));
    is_int(nodes_open(&n, NULL, &config, &e), 0, "nodes are opened: %s", e.text);
    return n;
}

/* A round of questions ends. */
static void end_round(void)
{
    said.busy = false;
    said.config.done(said.config.ctx);
}

static void test_round(const struct node_list *list)
{
    struct nodes *n = open_nodes(list, "secret");

    ok(said.config.nodes == list && !strcmp(said.config.token, "secret"),
       "the nodes of the list are asked, with the token");
    ok(said.config.patience_ns == 1500 * NS_PER_MS && said.config.at_once >= 1 &&
           said.config.at_once <= 64,
       "a node has 1.5 s, and up to 64 are asked at once");
    nodes_answer(n, NULL);
    nodes_answer(n, NULL);
    ok(said.begun && !said.n, "a client that asks first waits for the nodes");
    end_round();
    is_int((long long)said.n, 2, "all who wait are answered when the nodes have been asked");
    ok(said.status[0] == 200 && said.status[1] == 200 &&
           strstr(said.text[0], "\"schema\":\"brim.nodes.v1\"") &&
           !strcmp(said.text[0], said.text[1]),
       "all who wait have the same answer: %.60s", said.text[0]);
    said.begun = 0;
    now_ns += 4 * NS_PER_S - 1;
    nodes_answer(n, NULL);
    ok(said.n == 3 && !said.begun, "within 4 s nobody is asked again");
    now_ns += 1;
    nodes_answer(n, NULL);
    ok(said.n == 3 && said.begun == 1, "after 4 s the nodes are asked again");
    nodes_answer(n, NULL);
    is_int((long long)said.n, 3, "a client that comes while nodes are asked waits for them");
    end_round();
    is_int((long long)said.n, 5, "all who came meanwhile are answered");
    said.busy = true;
    nodes_answer(n, NULL);
    is_int((long long)said.n, 5, "while the nodes are asked a fresh answer is not given");
    nodes_end(n);
    ok(said.n == 6 && said.status[5] == 503 && said.ended == 1, "at the end who waits is refused");
    is_str(said.text[5], "the agent ends\n", "a client that waits at the end is told why");
    nodes_close(n);
    is_int(said.closed, 1, "the questions are closed");
}

static void test_crowd(const struct node_list *list)
{
    struct nodes *n = open_nodes(list, NULL);

    ok(!said.config.token, "no token is sent where there is none");
    for (int i = 0; i < WAITING; i++)
        nodes_answer(n, NULL);
    is_int((long long)said.n, 0, "many wait at once");
    nodes_answer(n, NULL);
    ok(said.n == 1 && said.status[0] == 503, "one more is refused");
    is_str(said.text[0], "too many ask for the nodes at once: try again\n",
           "a client that is refused is told why");
    end_round();
    is_int((long long)said.n, WAITING + 1, "all of many are answered");
    nodes_close(n);
}

static void test_none(void)
{
    const struct node_list none = { .n = 0 };
    struct nodes *n = open_nodes(&none, NULL);

    ok(!said.config.done, "nobody is asked where there is no list");
    nodes_answer(n, NULL);
    is_int(said.status[0], 404, "there is no answer without a list");
    is_str(said.text[0], "this agent has no list of nodes: start it with --nodes LIST\n",
           "what is missing is told");
    nodes_end(n);
    nodes_close(n);
    nodes_end(NULL);
    nodes_close(NULL);
    ok(!said.ended && !said.closed, "what was not opened is not closed");
}

int main(void)
{
    struct arena a = ARENA_INIT;
    struct node_list list = { .n = 0 };
    struct err e = { "" };

    is_int(node_list_add(&list, &a, "n1", &e), 0, "a list of one node is made: %s", e.text);
    test_round(&list);
    test_crowd(&list);
    test_none();
    arena_done(&a);
    return done();
}
