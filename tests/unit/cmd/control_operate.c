#include "cmd/control/operate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static char folder[] = "/tmp/brim-t-operate-XXXXXX";

static void test_orders(void)
{
    static const struct {
        const char *text;
        int kind; /* -1: refused */
        uint64_t id;
        bool json;
    } rows[] = {
        { "list", ORDER_LIST, 0, false },
        { "list json", ORDER_LIST, 0, true },
        { "approve 12", ORDER_APPROVE, 12, false },
        { "stop", ORDER_STOP, 0, false },
        { "go", ORDER_GO, 0, false },
        { "", -1, 0, false },
        { "approve", -1, 0, false },
        { "approve ", -1, 0, false },
        { "approve -1", -1, 0, false },
        { "approve 1 2", -1, 0, false },
        { "stop now", -1, 0, false },
        { "LIST", -1, 0, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct order o;
        int rc = order_read(&o, rows[i].text);

        if (rows[i].kind < 0)
            ok(rc < 0, "the order '%s' is refused", rows[i].text);
        else
            ok(rc == 0 && o.kind == rows[i].kind && o.id == rows[i].id && o.json == rows[i].json,
               "the order '%s' is read", rows[i].text);
    }
}

/* Two actions: 1 about a job of ana's in account lab, 2 about a node. */
static struct control_book *make_book(void)
{
    struct control_row job = { .time_ms = 1000,
                               .job = 7,
                               .kind = CONTROL_REQUEUE,
                               .state = CONTROL_PROPOSED,
                               .user = "ana",
                               .account = "lab",
                               .reason = "job 7 gives way" };
    struct control_row node = { .time_ms = 1000,
                                .kind = CONTROL_DRAIN,
                                .state = CONTROL_PROPOSED,
                                .node = "n0",
                                .reason = "node n0 is drained" };
    struct control_book *b = NULL;
    struct err e = { "" };

    is_int(control_book_open(&b, folder, true, &e), 0, "a book is opened%s", e.text);
    is_int(control_book_add(b, &job, NULL), 0, "an action about a job is stored");
    is_int(control_book_add(b, &node, NULL), 0, "an action about a node is stored");
    return b;
}

static bool sees(struct control_book *b, const struct asker *who, const char *what)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 16);
    const struct order o = { .kind = ORDER_LIST };

    is_int(operate(b, &o, who, &out, NULL), 0, "actions are listed");
    return strstr(str_text(&out), what) != NULL;
}

static int ask(struct control_book *b, const struct asker *who, const char *text, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 16);
    struct order o;

    *e = (struct err){ "" };
    is_int(order_read(&o, text), 0, "the order '%s' is read", text);
    return operate(b, &o, who, &out, e);
}

static void test_who(void)
{
    const struct slurm_rights none = { .operates = false }, lab = { .accounts = ",bio,lab," };
    const struct asker bob = { .user = "bob", .rights = &none },
                       own_bob = { .user = "bob", .rights = &none, .own = true },
                       own_ana = { .user = "ana", .rights = &none, .own = true },
                       own_cora = { .user = "cora", .rights = &lab, .own = true },
                       root = { .user = "root", .operates = true, .own = true };
    struct control_book *b = make_book();
    bool stopped = true;
    struct err e;

    ok(sees(b, &bob, "job 7") && sees(b, &bob, "node n0"), "a user sees all actions");
    ok(!sees(b, &own_bob, "job 7") && !sees(b, &own_bob, "node n0"),
       "where users see their own alone, others see nothing");
    ok(sees(b, &own_ana, "job 7") && !sees(b, &own_ana, "node n0"), "an owner sees its job");
    ok(sees(b, &own_cora, "job 7") && !sees(b, &own_cora, "node n0"),
       "a coordinator sees jobs of its account");
    ok(sees(b, &root, "job 7") && sees(b, &root, "node n0"), "an operator sees all");
    is_int(ask(b, &bob, "approve 1", &e), -EACCES, "a user approves nothing");
    ok(strstr(e.text, "is not bob's to approve"), "the sentence says who may: %s", e.text);
    is_int(ask(b, &own_ana, "approve 1", &e), -EACCES, "an owner does not approve, either");
    is_int(ask(b, &own_cora, "approve 2", &e), -EACCES, "a coordinator approves nothing of nodes");
    is_int(ask(b, &bob, "approve 3", &e), -ENOENT, "an action that is not there is not approved");
    is_int(ask(b, &own_cora, "approve 1", &e), 0, "a coordinator approves of its account");
    is_int(ask(b, &root, "approve 1", &e), -ENOENT, "what is approved is not proposed any more");
    is_int(ask(b, &root, "approve 2", &e), 0, "an operator approves all");
    is_int(ask(b, &own_cora, "stop", &e), -EACCES, "a coordinator does not stop all");
    is_int(ask(b, &root, "stop", &e), 0, "an operator stops all");
    ok(control_book_stopped(b, &stopped, NULL) == 0 && stopped, "all is stopped");
    is_int(ask(b, &bob, "go", &e), -EACCES, "a user lets nothing go on");
    is_int(ask(b, &root, "go", &e), 0, "an operator lets it go on");
    ok(control_book_stopped(b, &stopped, NULL) == 0 && !stopped, "all goes on");
    control_book_close(b);
}

static void remove_all(void)
{
    static const char *const names[] = { "control.db", "control.db-wal", "control.db-shm", "lock" };
    char path[100];

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    test_orders();
    test_who();
    remove_all();
    return done();
}
