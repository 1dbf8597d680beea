#include "ask/lookup.h"

#include <netdb.h>

#include "tap.h"

enum { NAMES = 3 * LOOKUP_THREADS };

struct seen {
    uv_loop_t loop;
    unsigned n, wanted;
    int errors[NAMES];
    unsigned addresses[NAMES];
};

static void on_found(void *ctx, const struct lookup_found *f)
{
    struct seen *s = ctx;

    s->errors[f->key] = f->error;
    s->addresses[f->key] = f->n;
    if (++s->n == s->wanted)
        uv_stop(&s->loop);
}

static void close_loop(struct seen *s, struct lookup *l)
{
    lookup_end(l);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    is_int(uv_loop_close(&s->loop), 0, "the loop has no handle left");
}

static void test_names(void)
{
    static struct seen s;
    struct lookup *l = NULL;

    s = (struct seen){ .wanted = NAMES };
    if (uv_loop_init(&s.loop) < 0 || lookup_open(&l, &s.loop, on_found, &s) < 0)
        return;
    for (size_t i = 0; i < NAMES; i++) /* an empty label is in no name service */
        ok(lookup_ask(l, i % 2 ? "localhost" : "no..name", i) == 0, "name %zu is asked for", i);
    uv_run(&s.loop, UV_RUN_DEFAULT);
    is_int(s.n, NAMES, "more names than threads are all looked up");
    ok(s.errors[0] != 0 && s.addresses[0] == 0, "a name that nobody knows has no address");
    ok(s.errors[1] == 0 && s.addresses[1] >= 1, "this machine's own name has an address");
    close_loop(&s, l);
}

static void test_end(void)
{
    static struct seen s;
    struct lookup *l = NULL;

    s = (struct seen){ .wanted = NAMES };
    if (uv_loop_init(&s.loop) < 0 || lookup_open(&l, &s.loop, on_found, &s) < 0)
        return;
    for (size_t i = 0; i < NAMES; i++)
        ok(lookup_ask(l, "localhost", i) == 0, "name %zu is asked for before the end", i);
    close_loop(&s, l);
    is_int(s.n, 0, "nothing is found behind the end");
}

static void test_numbers(void)
{
    union lookup_address at;

    ok(lookup_number("127.0.0.1", &at) && at.any.sa_family == AF_INET, "an address of IPv4 is one");
    ok(lookup_number("::1", &at) && at.any.sa_family == AF_INET6, "an address of IPv6 is one");
    ok(!lookup_number("localhost", &at), "a name is no address");
    ok(!lookup_number("127.0.0", &at), "a part of an address is none");
}

int main(void)
{
    test_names();
    test_end();
    test_numbers();
    return done();
}
