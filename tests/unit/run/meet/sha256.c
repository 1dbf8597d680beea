/* SHA-256 against the examples of FIPS 180-4 and NIST, HMAC against RFC 4231. */
#include "run/meet/sha256.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static void hex(const unsigned char *bytes, char *ret)
{
    for (unsigned i = 0; i < SHA256_SIZE; i++)
        snprintf(ret + 2 * (size_t)i, 3, "%02x", bytes[i]);
}

static void is_hash(const char *text, size_t times, const char *want, const char *what)
{
    struct sha256 s;
    unsigned char got[SHA256_SIZE];
    char digits[2 * SHA256_SIZE + 1];

    sha256_begin(&s);
    for (size_t i = 0; i < times; i++)
        sha256_add(&s, text, strlen(text));
    sha256_end(&s, got);
    hex(got, digits);
    is_str(digits, want, "the hash of %s is the published one", what);
}

static void is_mac(const void *key, size_t key_len, const void *data, size_t len, const char *want,
                   const char *what)
{
    struct sha256_mac m;
    unsigned char got[SHA256_SIZE];
    char digits[2 * SHA256_SIZE + 1];

    sha256_mac_begin(&m, key, key_len);
    sha256_mac_add(&m, data, len / 2);
    sha256_mac_add(&m, (const char *)data + len / 2, len - len / 2);
    sha256_mac_end(&m, got);
    hex(got, digits);
    is_str(digits, want, "the HMAC of RFC 4231's %s is the published one", what);
}

static void test_hash(void)
{
    is_hash("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "nothing");
    is_hash("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc");
    is_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "56 letters");
    is_hash("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnop"
            "qrlmnopqrsmnopqrstnopqrstu",
            1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1", "112 letters");
    is_hash("aaaaaaaaaa", 100000,
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            "a million letters");
}

static void test_mac(void)
{
    unsigned char key[131], data[152];

    memset(key, 0x0b, 20);
    is_mac(key, 20, "Hi There", 8,
           "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", "case 1");
    is_mac("Jefe", 4, "what do ya want for nothing?", 28,
           "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "case 2");
    memset(key, 0xaa, sizeof(key));
    memset(data, 0xdd, 50);
    is_mac(key, 20, data, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
           "case 3");
    is_mac(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
           "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", "case 6");
    is_mac(key, 131,
           "This is a test using a larger than block-size key and a larger than block-size data. "
           "The key needs to be hashed before being used by the HMAC algorithm.",
           152, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2", "case 7");
}

static void test_same(void)
{
    ok(sha256_same("abcd", "abcd", 4), "the same bytes are the same");
    ok(!sha256_same("abcd", "abce", 4), "bytes that differ in the last one are not the same");
    ok(!sha256_same("abcd", "bbcd", 4), "bytes that differ in the first one are not the same");
}

int main(void)
{
    test_hash();
    test_mac();
    test_same();
    return done();
}
