/* Secrets that MUNGE seals, with a library of tests/fake, and observers that meet by them. "bare":
 * the library lacks a function. */
#include "run/meet/munge.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "run/meet/meeting.h"
#include "tap.h"

enum { TURNS_MOST = 12000, TURN_MS = 5 };

static void test_sealed(void)
{
    static const char secret[8] = "secret";
    static const char none[MUNGE_TEXT];
    char text[MUNGE_TEXT], long_one[MUNGE_TEXT] = "x", back[8] = "";

    ok(munge_answers(), "a library is asked whether it answers");
    is_int(munge_seal(secret, sizeof(secret), text), 0, "a secret is sealed");
    ok(!text[MUNGE_TEXT - 1] && strstr(text, "MUNGE:"), "a sealed secret is a text");
    is_int(munge_unseal(text, back, sizeof(back)), 0, "a sealed secret is read");
    is_str(back, secret, "a secret is what it was");
    is_int(munge_unseal(text, back, 7), -EACCES, "a secret of another length is refused");
    setenv("FAKE_MUNGE", "other", 1);
    is_int(munge_unseal(text, back, sizeof(back)), -EACCES, "what another user sealed is refused");
    setenv("FAKE_MUNGE", "dead", 1);
    is_int(munge_seal(secret, sizeof(secret), text), -EIO, "nothing is sealed without a daemon");
    ok(!text[0], "what was not sealed is an empty text");
    ok(!munge_answers(), "a daemon that is dead does not answer");
    setenv("FAKE_MUNGE", "hangs", 1);
    ok(!munge_answers(), "a daemon that hangs is not waited for");
    unsetenv("FAKE_MUNGE");
    is_int(munge_unseal(none, back, sizeof(back)), -EACCES, "an empty text is no secret");
    is_int(munge_seal(long_one, sizeof(long_one), text), -EIO, "a text that is too long is none");
    snprintf(text, sizeof(text), "MUNGE:%d:%d:8:7365637265740000", (int)geteuid(),
             (int)geteuid() + 1);
    is_int(munge_unseal(text, back, sizeof(back)), -EACCES,
           "what is for another user's eyes is refused");
    memset(text, 'x', sizeof(text));
    is_int(munge_unseal(text, back, sizeof(back)), -EACCES, "a text without an end is refused");
}

static void test_bare(void)
{
    char text[MUNGE_TEXT] = "x", back[8];

    ok(!munge_answers(), "a library that lacks a function does not answer");
    is_int(munge_seal("secret", 6, text), -ENOENT, "a library that lacks a function seals nothing");
    is_int(munge_unseal(text, back, sizeof(back)), -ENOENT,
           "a library that lacks a function reads nothing");
}

/* ---- observers ---- */

struct end {
    char root[PATH_MAX];
    struct rings *rings;
    struct meeting *meeting;
    char said[512];
};

static void say(void *arg, const char *sentence)
{
    struct end *x = arg;

    snprintf(x->said, sizeof(x->said), "%s", sentence);
}

/* token NULL: the secret is MUNGE's. */
static void begin(struct end *x, enum meeting_role role, const char *token, const char *job)
{
    struct meeting_config c = { .clock = &clock_system,
                                .host = role == MEETING_LEADS ? "one" : "two",
                                .purpose = 'r',
                                .key.by_munge = true,
                                .say = say,
                                .arg = x };

    *x = (struct end){ .said = "" };
    folder_make(x->root);
    folder_need(rings_open(&x->rings, x->root, NULL), x->root);
    c.rings = x->rings;
    c.place = (struct meeting_place){ .several = true, .host = "127.0.0.1", .role = role };
    c.place.port = 20000 + (int)getpid() % 3000;
    snprintf(c.place.job, sizeof(c.place.job), "%s", job);
    if (token)
        folder_need(meeting_key_read(&c.key, token, NULL, NULL), token);
    folder_need(meeting_open(&x->meeting, &c, NULL), x->root);
}

static void finish(struct end *x)
{
    meeting_close(x->meeting);
    rings_close(x->rings);
    folder_remove(x->root);
}

/* A leader and a follower turn until the one that is waited for was told something. */
static void meet(struct end *one, const char *leader, struct end *two, const char *follower,
                 const char *job)
{
    begin(one, MEETING_LEADS, leader, "slurm 1.0");
    begin(two, MEETING_FOLLOWS, follower, job);
    for (int i = 0; i < TURNS_MOST && !two->said[0] && !strstr(one->said, "joined"); i++) {
        folder_need(meeting_turn(one->meeting), "meeting_turn");
        folder_need(meeting_turn(two->meeting), "meeting_turn");
        (void)poll(NULL, 0, TURN_MS);
    }
    finish(one);
    finish(two);
}

static void test_meetings(void)
{
    static const char token[] = "0123456789abcdef";
    static const char differs[] =
        "the brim at 127.0.0.1 has BRIM_TOKEN where this one has none, or "
        "not where it has: this host is observed alone";
    static const char refused[] = "the brim at 127.0.0.1 has another token, or is of another job: "
                                  "this host is observed alone";
    struct end one, two;

    meet(&one, NULL, &two, NULL, "slurm 1.0");
    is_str(one.said, "the brim on two has joined: the ranks of all hosts are one run",
           "observers of one user meet without a token");
    is_str(two.said, "", "a follower says nothing when it meets its leader");
    meet(&one, token, &two, NULL, "slurm 1.0");
    is_str(two.said, differs, "a follower without a token is told of the leader's");
    is_str(
        one.said,
        "a brim wants to join this job that has BRIM_TOKEN where this one has none, or the other "
        "way round: set it on all hosts, or on none",
        "a leader with a token is told of a follower without one");
    meet(&one, NULL, &two, token, "slurm 1.0");
    is_str(two.said, differs, "a follower with a token is told that the leader has none");
    meet(&one, NULL, &two, NULL, "slurm 2.0");
    is_str(two.said, refused, "a leader of another job is refused");
    setenv("FAKE_MUNGE", "other", 1);
    meet(&one, NULL, &two, NULL, "slurm 1.0");
    is_str(two.said, refused, "a leader of another user is refused");
    unsetenv("FAKE_MUNGE");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "bare")) {
        test_bare();
        return done();
    }
    test_sealed();
    test_meetings();
    return done();
}
