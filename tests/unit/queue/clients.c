/* Who is connected to a queue's engine: who comes, requests that come in parts, and what is no
 * request; and the lock of its folder. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "folder.h"
#include "queue/client.h"
#include "queue/guard/engine_start.h"
#include "queue/lock.h"
#include "queue/queue_private.h"
#include "tap.h"

struct scene {
    struct local l;
    struct queue_config config;
    struct queue_client *client;
    int peer;
};

/* One client whose other end is ours. */
static void begin(struct scene *s)
{
    int ends[2];

    *s = (struct scene){ .config = { .shared = true } };
    s->l.c = &s->config;
    folder_need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), "pair");
    s->client = &s->l.clients[0];
    *s->client = (struct queue_client){ .fd = ends[0],
                                        .in = STR_INIT(WIRE_ORDER),
                                        .out = STR_INIT(WIRE_MAX) };
    s->peer = ends[1];
}

static void send_bytes(struct scene *s, const void *bytes, size_t len)
{
    folder_need(send(s->peer, bytes, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1, "send");
    clients_turn(&s->l, s->client);
}

static void end(struct scene *s)
{
    clients_drop(s->client);
    close(s->peer);
}

/* Byte by byte: it is answered with the last one, and not before. */
static void test_parts(void)
{
    static const char request[] = "verb=none";
    CLEANUP(str_done) struct str m = STR_INIT(64), answer = STR_INIT(4096);
    char head[WIRE_HEAD];
    struct scene s;

    begin(&s);
    str_add_n(&m, request, sizeof(request));
    wire_head(&m, head);
    for (int i = 0; i < WIRE_HEAD; i++)
        send_bytes(&s, head + i, 1);
    for (size_t i = 0; i + 1 < m.len; i++)
        send_bytes(&s, str_text(&m) + i, 1);
    ok(s.client->fd >= 0 && !s.client->answered, "a request of which a byte lacks is waited for");
    send_bytes(&s, str_text(&m) + m.len - 1, 1);
    ok(s.client->fd < 0, "a client that was answered is done with");
    is_int(wire_receive(s.peer, &answer), 0, "the answer to a request of parts is whole");
    is_int(wire_int(&answer, "status", 0), EINVAL, "a request that nobody knows is refused");
    end(&s);
}

static void test_what_is_no_request(void)
{
    const char longest[WIRE_HEAD] = { 0, 0, (char)0x80, 0 }, longer[] = { 1, 0, (char)0x80, 0 };
    const char none[WIRE_HEAD] = { 0 };
    struct scene s;

    begin(&s);
    send_bytes(&s, longest, WIRE_HEAD);
    ok(s.client->fd >= 0, "a request of 8 MiB is waited for");
    end(&s);
    begin(&s);
    send_bytes(&s, longer, WIRE_HEAD);
    ok(s.client->fd < 0, "a client whose request is longer than 8 MiB is done with");
    end(&s);
    begin(&s);
    send_bytes(&s, none, WIRE_HEAD);
    ok(s.client->fd < 0, "an empty request is answered");
    end(&s);
    begin(&s);
    close(s.peer);
    clients_turn(&s.l, s.client);
    ok(s.client->fd < 0, "a client that went before it asked is done with");
    clients_drop(s.client);
    begin(&s);
    s.client->waits = true;
    clients_turn(&s.l, s.client);
    ok(s.client->fd < 0, "a client that speaks while it waits has gone");
    end(&s);
}

/* An answer that its client does not take at once goes on where it stopped. */
static void test_slow(void)
{
    CLEANUP(str_done) struct str answer = STR_INIT(WIRE_MAX);
    size_t len = 3 << 20, turns = 0;
    const int room = 65536;
    char part[65536];
    struct scene s;
    ssize_t n;

    begin(&s);
    folder_need(setsockopt(s.client->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), "room");
    s.client->answered = true;
    for (size_t i = 0; i < len; i++)
        str_add_char(&s.client->out, (char)('a' + i % 23));
    while (s.client->fd >= 0 && turns++ < 1000) {
        clients_turn(&s.l, s.client);
        while ((n = recv(s.peer, part, sizeof(part), 0)) > 0)
            str_add_n(&answer, part, (size_t)n);
    }
    ok(turns > 1, "a long answer takes %zu turns", turns);
    is_int((long long)answer.len, (long long)len + WIRE_HEAD, "a long answer arrives as a whole");
    is_int((long long)wire_length(str_text(&answer)), (long long)len,
           "a long answer begins with its length");
    n = 0;
    for (size_t i = 0; i + WIRE_HEAD < answer.len; i++)
        n += str_text(&answer)[WIRE_HEAD + i] != (char)('a' + i % 23);
    is_int(n, 0, "a long answer has each byte in its place");
    end(&s);
}

/* ---- who comes ---- */

static int64_t now_ns(void *arg)
{
    return *(const int64_t *)arg * NS_PER_MS;
}

/* By a path that is short however long that of the folder is. */
static int connect_in(int dir)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" QUEUE_SOCKET, dir);
    folder_need(fd, "socket");
    folder_need(connect(fd, (const struct sockaddr *)&address, sizeof(address)), "connect");
    return fd;
}

/* Whether the other end has been closed. */
static bool is_closed(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* Of more clients than there is room for the one that came first goes. */
static void test_accepts(const char *root)
{
    int64_t ms = 1000;
    const struct clock clock = { now_ns, now_ns, &ms };
    struct queue_config config = { .clock = &clock, .folder = root };
    struct local l = { .c = &config, .n_clients = 2, .listener = -1, .deaf_ms = 77 };
    struct err e = { "" };
    struct stat st;
    int peers[3];

    l.dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder_need(l.dir, root);
    is_int(clients_open(&l, &e), 0, "an engine listens in its folder: %s", e.text);
    folder_need(fstatat(l.dir, QUEUE_SOCKET, &st, 0), "stat");
    is_int(st.st_mode & 0777, 0600, "nobody else may connect to an engine of one user");
    close(l.listener);
    config.shared = true;
    is_int(clients_open(&l, &e), 0, "an engine listens where one has died: %s", e.text);
    folder_need(fstatat(l.dir, QUEUE_SOCKET, &st, 0), "stat");
    is_int(st.st_mode & 0777, 0666, "all users may connect to an engine that they share");
    clients_accept(&l);
    is_int(l.deaf_ms, 77, "nobody who comes is no reason to rest");
    for (int i = 0; i < 3; i++) {
        peers[i] = connect_in(l.dir);
        ms = i == 0 ? 3000 : i == 1 ? 2000 : 4000;
        clients_accept(&l);
        is_int(l.deaf_ms, 0, "client %d is accepted", i);
    }
    ok(!is_closed(peers[0]) && is_closed(peers[1]) && !is_closed(peers[2]),
       "the client that has been there for longest goes where there is no room");
    ok(l.clients[0].uid == getuid() && l.clients[0].gid == getgid(), "a client is who it is");
    ok(l.clients[0].since_ms == 3000 && l.clients[1].since_ms == 4000,
       "a client is there since it came");
    for (int i = 0; i < QUEUE_CLIENTS; i++)
        clients_drop(&l.clients[i]);
    for (int i = 0; i < 3; i++)
        close(peers[i]);
    close(l.listener);
    clients_accept(&l);
    is_int(l.deaf_ms, 4200, "an engine that cannot accept rests for a fifth of a second");
    folder_need(unlinkat(l.dir, QUEUE_SOCKET, 0), "unlink");
    close(l.dir);
}

/* ---- the lock ---- */

static int take(int dir, struct err *e)
{
    e->text[0] = 0;
    return queue_lock_take(dir, "FOLDER", e);
}

static void test_lock(const char *root)
{
    int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, other;
    char text[32] = "", want[32];
    struct err e;
    struct stat st;

    folder_need(dir, root);
    ok(!queue_engine_lives(dir), "no engine lives in a folder without a lock");
    fd = take(dir, &e);
    ok(fd >= 0, "the lock of a folder is taken: %s", e.text);
    ok(queue_engine_lives(dir), "an engine lives in a folder whose lock is held");
    snprintf(want, sizeof(want), "%d\n", (int)getpid());
    folder_need(pread(fd, text, sizeof(text) - 1, 0) < 0 ? -1 : 0, "pread");
    is_str(text, want, "the lock tells who has it");
    folder_need(fstat(fd, &st), "fstat");
    is_int(st.st_mode & 0777, 0600, "nobody else may open the lock");
    other = take(dir, &e);
    is_int(other, -EBUSY, "the lock of a folder is taken once");
    is_str(e.text, "another engine runs the queue in FOLDER",
           "the engine that comes late is told why");
    folder_need(pwrite(fd, "1234567890123\n", 14, 0) < 0 ? -1 : 0, "pwrite");
    close(fd);
    folder_need(fchmodat(dir, QUEUE_LOCK, 0644, 0), "chmod");
    fd = take(dir, &e);
    ok(fd >= 0, "the lock is free when its engine has ended");
    memset(text, 0, sizeof(text));
    folder_need(pread(fd, text, sizeof(text) - 1, 0) < 0 ? -1 : 0, "pread");
    is_str(text, want, "nothing is left of who had the lock before");
    folder_need(fstat(fd, &st), "fstat");
    is_int(st.st_mode & 0777, 0600, "a lock that others could open is closed to them");
    close(fd);
    close(dir);
}

/* What any user may write is not carried out. */
static void test_open_to_all(const char *root)
{
    static const char *const names[] = { "jobs", "ends", "queue.db-wal" };
    int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
    struct err e;

    folder_need(dir, root);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char want[160];

        folder_need(mkdirat(dir, names[i], 0700), names[i]);
        folder_need(fchmodat(dir, names[i], 0777, 0), names[i]);
        fd = take(dir, &e);
        is_int(fd, -EPERM, "a queue is not run where any user may write %s", names[i]);
        snprintf(want, sizeof(want),
                 "any user may put files into FOLDER/%s: 'chmod o-w' it, or name another folder",
                 names[i]);
        is_str(e.text, want, "the refusal names %s", names[i]);
        folder_need(fchmodat(dir, names[i], 01777, 0), names[i]);
        fd = take(dir, &e);
        ok(fd >= 0, "a queue is run where users may rename their own files in %s", names[i]);
        close(fd);
    }
    folder_need(fchmod(dir, 0777), root);
    fd = take(dir, &e);
    is_int(fd, -EPERM, "a queue is not run in a folder that any user may write");
    is_str(e.text, "any user may put files into FOLDER: 'chmod o-w' it, or name another folder",
           "the refusal names the folder");
    close(dir);
}

int main(void)
{
    char root[PATH_MAX];

    log_set_level("error");
    folder_make(root);
    test_parts();
    test_what_is_no_request();
    test_slow();
    test_accepts(root);
    test_lock(root);
    test_open_to_all(root);
    folder_remove(root);
    return done();
}
