/* Who is dropped where too many are connected, and who for taking too long. */
#include "daemon/http/peers.h"

#include "base/clock.h"
#include "oom.h"
#include "tap.h"

enum { SILENCE_S = 10 };

/* A client that came at that second; its descriptor is none: nobody is really there. */
static struct http_peer *came(struct http_peers *p, int second, bool local)
{
    struct http_peer *peer = http_peers_add(p, -1, local, second * NS_PER_S);

    if (!peer) {
        printf("Bail out! out of memory\n");
        exit(1);
    }
    return peer;
}

static void leave_all(struct http_peers *p)
{
    while (p->first)
        http_peers_remove(p, p->first);
    is_int(p->count, 0, "nobody is counted when all have left");
    is_int(p->dropped, 0, "nobody counts as dropped when all have left");
}

static void test_room(void)
{
    struct http_peers p = { .count = 0 };
    struct http_peer *slow = came(&p, 3, true), *old = came(&p, 1, true);
    struct http_peer *far = came(&p, 9, false), *far_served = came(&p, 2, false);
    struct http_peer *served = came(&p, 0, true), *taking = came(&p, 0, true);
    struct http_peer *stream = came(&p, 0, false);

    far_served->served = served->served = true;
    taking->answering = true;
    stream->answering = stream->streaming = true;
    http_peers_make_room(&p, 7);
    is_int(p.dropped, 0, "nobody is dropped where there is room");
    http_peers_make_room(&p, 6);
    ok(far->dropped && p.dropped == 1, "a client from elsewhere goes first");
    http_peers_make_room(&p, 5);
    ok(far_served->dropped && p.dropped == 2,
       "a client that waits elsewhere goes before those here");
    http_peers_make_room(&p, 4);
    ok(old->dropped && !slow->dropped, "the first request that is unfinished longest goes first");
    http_peers_make_room(&p, 3);
    ok(slow->dropped && !served->dropped,
       "an unfinished first request goes before a client that was served");
    http_peers_make_room(&p, 2);
    ok(served->dropped && !taking->dropped,
       "a client that asks nothing goes before one that takes its answer");
    http_peers_make_room(&p, 1);
    ok(taking->dropped, "a client that does not take its answer goes last");
    http_peers_make_room(&p, 0);
    ok(!stream->dropped, "a stream stays");
    is_int(p.count - p.dropped, 1, "only the stream is not dropped");
    leave_all(&p);
}

/* Of any two the one of the lower rank goes, though the other one waits longer. */
static void test_ranks(void)
{
    static const struct {
        bool local, served, answering;
    } ranks[] = {
        { false, false, false }, { false, true, false }, { false, false, true },
        { true, false, false },  { true, true, false },  { true, false, true },
    };

    for (int low = 0; low < 6; low++)
        for (int high = low + 1; high < 6; high++) {
            struct http_peers p = { .count = 0 };
            struct http_peer *younger = came(&p, 9, ranks[low].local);
            struct http_peer *older = came(&p, 1, ranks[high].local);

            younger->served = ranks[low].served;
            younger->answering = ranks[low].answering;
            older->served = ranks[high].served;
            older->answering = ranks[high].answering;
            http_peers_make_room(&p, 1);
            ok(younger->dropped && !older->dropped,
               "a client of rank %d goes before one of rank %d", low, high);
            leave_all(&p);
        }
}

static void test_patience(void)
{
    struct http_peers p = { .count = 0 };
    struct http_peer *first = came(&p, 0, true), *served = came(&p, 0, true);
    struct http_peer *taking = came(&p, 0, true), *stream = came(&p, 0, true);

    served->served = taking->answering = stream->answering = stream->streaming = true;
    http_peers_drop_slow(&p, 5 * NS_PER_S + 1, SILENCE_S, false);
    is_int(p.dropped, 0, "nobody is dropped after 5 s where few are connected");
    http_peers_drop_slow(&p, 5 * NS_PER_S, SILENCE_S, true);
    is_int(p.dropped, 0, "a first request has 5 s where many are connected");
    http_peers_drop_slow(&p, 5 * NS_PER_S + 1, SILENCE_S, true);
    ok(first->dropped && p.dropped == 1, "a first request has no more where many are connected");
    http_peers_drop_slow(&p, 20 * NS_PER_S, SILENCE_S, true);
    is_int(p.dropped, 1, "a client that was served has 20 s for its next request");
    http_peers_drop_slow(&p, 20 * NS_PER_S + 1, SILENCE_S, true);
    ok(served->dropped && p.dropped == 2, "a client that was served has no more than 20 s");
    http_peers_drop_slow(&p, 60 * NS_PER_S, SILENCE_S, true);
    is_int(p.dropped, 2, "an answer may take 60 s");
    http_peers_drop_slow(&p, 60 * NS_PER_S + 1, SILENCE_S, true);
    ok(taking->dropped && !stream->dropped, "an answer may take no more; a stream may");
    leave_all(&p);
}

/* Clients that leave from the begin, the middle and the end of the list. */
static void test_list(void)
{
    for (int gone = 0; gone < 3; gone++) {
        struct http_peers p = { .count = 0 };
        struct http_peer *all[3] = { came(&p, 0, true), came(&p, 0, true), came(&p, 0, true) };
        int forward = 0, backward = 0;
        const struct http_peer *last = NULL;

        http_peers_remove(&p, all[gone]);
        for (const struct http_peer *peer = p.first; peer; peer = peer->next, forward++)
            last = peer;
        for (; last; last = last->before)
            backward++;
        is_int(forward, 2, "two clients are left when client %d has gone", gone);
        is_int(backward, 2, "the list goes back as well when client %d has gone", gone);
        http_peers_make_room(&p, 1);
        ok(all[gone == 0]->dropped, "of two that came at once the first one goes: %d", gone);
        leave_all(&p);
    }
}

/* Those for whom there was no memory are counted, and leave. */
static void test_unknown(void)
{
    struct http_peers p = { .count = 0 };
    struct http_peer *peer = http_peers_add(&p, 77, false, 5);

    if (!ok(peer != NULL, "a client is added"))
        return;
    is_int(peer->fd, 77, "a client has its descriptor");
    is_int(peer->since_ns, 5, "a client has the time at which it came");
    ok(!peer->local, "a client from elsewhere is not local");
    p.count++;
    http_peers_remove(&p, NULL);
    is_int(p.count, 1, "a client that is not known leaves");
    leave_all(&p);
}

/* One for whom there is no memory is counted. */
static void test_oom(void)
{
    struct http_peers p = { .count = 0 };
    const struct http_peer *peer;
    bool failed;

    oom_restart();
    oom_next();
    peer = http_peers_add(&p, 1, true, 0);
    failed = oom_end();
    ok(failed && !peer && !p.first, "a client without memory is not known");
    is_int(p.count, 1, "a client without memory is counted");
    http_peers_remove(&p, NULL);
    is_int(p.count, 0, "a client without memory leaves");
}

int main(void)
{
    test_room();
    test_ranks();
    test_patience();
    test_list();
    test_unknown();
    test_oom();
    return done();
}
