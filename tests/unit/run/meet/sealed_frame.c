/* What is taken from the other end of a wire, and what is not. */
#include "run/meet/sealed_frame.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static const struct sealed_secret secret = { "of both", 7, "slurm 17.0" };

struct ends {
    unsigned char follower[SEALED_GREETING], leader[SEALED_GREETING];
    struct sealed_keys keys;
};

static void greet(struct ends *e, const struct sealed_secret *s)
{
    unsigned char nonce[SEALED_NONCE];

    memset(nonce, 1, sizeof(nonce));
    sealed_greeting(e->follower, 'o', nonce);
    memset(nonce, 2, sizeof(nonce));
    sealed_greeting(e->leader, 'o', nonce);
    sealed_keys_make(&e->keys, s, e->follower, e->leader);
}

static bool same_proofs(const struct sealed_keys *a, const struct sealed_keys *b)
{
    return sha256_same(a->leader_proof, b->leader_proof, SEALED_PROOF) ||
           sha256_same(a->follower_proof, b->follower_proof, SEALED_PROOF);
}

static void test_greeting(void)
{
    struct ends e;

    greet(&e, &secret);
    is_int(sealed_greeting_check(e.follower, 'o'), 0, "a greeting of the same purpose is one");
    is_int(sealed_greeting_check(e.follower, 'r'), -ENOTUNIQ,
           "a greeting of another purpose is told");
    e.follower[8]++;
    is_int(sealed_greeting_check(e.follower, 'o'), -EPROTONOSUPPORT,
           "a greeting of another version is told");
    e.follower[0] = 'G';
    is_int(sealed_greeting_check(e.follower, 'o'), -EPROTO, "another protocol is no greeting");
}

static void test_proofs(void)
{
    const struct sealed_secret others[] = { { "of none", 7, "slurm 17.0" },
                                            { "of both", 7, "slurm 18.0" } };
    struct ends one, two;

    greet(&one, &secret);
    greet(&two, &secret);
    ok(sha256_same(one.keys.leader_proof, two.keys.leader_proof, SEALED_PROOF),
       "both ends make the same proof of the same secret");
    ok(!sha256_same(one.keys.leader_proof, one.keys.follower_proof, SEALED_PROOF),
       "the proof of one end can not be sent back as the other's");
    greet(&two, &others[0]);
    ok(!same_proofs(&one.keys, &two.keys), "another secret makes other proofs");
    greet(&two, &others[1]);
    ok(!same_proofs(&one.keys, &two.keys), "another job makes other proofs");
    greet(&two, &secret);
    two.leader[SEALED_GREETING - 1] ^= 1;
    sealed_keys_make(&two.keys, &secret, two.follower, two.leader);
    ok(!same_proofs(&one.keys, &two.keys), "another nonce makes other proofs");
}

static void test_frames(void)
{
    unsigned char frame[SEALED_FRAME], other[SEALED_FRAME];
    struct sealed_way to, from;
    const unsigned char *body;
    struct ends e;
    size_t n, len;
    int rc = 0;

    greet(&e, &secret);
    to = from = e.keys.to_leader;
    n = sealed_frame_make(&to, "abc", 3, frame);
    is_int((long long)n, 4 + 3 + 16, "a frame has length, body and seal");
    for (size_t part = 0; part < n && rc == 0; part++)
        rc = sealed_frame_take(&from, frame, part, &body, &len);
    is_int(rc, 0, "a part of a frame is waited for");
    is_int(sealed_frame_take(&from, frame, n, &body, &len), (int)n, "a whole frame is taken");
    ok(len == 3 && !memcmp(body, "abc", 3), "the body is what was sent");
    is_int(sealed_frame_take(&from, frame, n, &body, &len), -EBADMSG,
           "a frame that comes again is refused");
    (void)sealed_frame_make(&to, "left", 4, other);
    n = sealed_frame_make(&to, "abc", 3, frame);
    is_int(sealed_frame_take(&from, frame, n, &body, &len), -EBADMSG,
           "a frame behind one that was left out is refused");
    from.n = to.n - 1;
    frame[5] ^= 1;
    is_int(sealed_frame_take(&from, frame, n, &body, &len), -EBADMSG,
           "a body that was changed is refused");
    frame[5] ^= 1;
    frame[0]--;
    is_int(sealed_frame_take(&from, frame, n, &body, &len), -EBADMSG,
           "a length that was changed is refused");
    frame[0]++;
    is_int(sealed_frame_take(&from, frame, n, &body, &len), (int)n,
           "the frame as it was sent is taken");
    from = e.keys.to_follower;
    from.n = to.n - 1;
    is_int(sealed_frame_take(&from, frame, n, &body, &len), -EBADMSG,
           "a frame to the other end is refused");
    memset(frame, 0xff, 8);
    is_int(sealed_frame_take(&from, frame, 8, &body, &len), -EBADMSG,
           "a length beyond all is refused before the rest has come");
}

int main(void)
{
    test_greeting();
    test_proofs();
    test_frames();
    return done();
}
