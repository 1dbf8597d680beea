/* Who is served, and where: the decisions of the HTTP server that need no connection. */
#include <errno.h>

#include "daemon/http/access.h"
#include "daemon/http/address.h"
#include "tap.h"

static const char token[] = "0123456789abcdef";

struct guard_case {
    const char *what;
    struct http_claims claims;
    bool with_token, open;
    unsigned status;
};

static const struct guard_case cases[] = {
    { "our own name", { "GET", "127.0.0.1:9410" }, false, false, 0 },
    { "our own name without a port", { "HEAD", "localhost" }, false, false, 0 },
    { "our own name in IPv6", { "GET", "[::1]:9410" }, false, false, 0 },
    { "no name of a host", { "GET", NULL }, false, false, 403 },
    { "another name of a host", { "GET", "evil.example" }, false, false, 403 },
    { "a name that begins like ours", { "GET", "127.0.0.1.evil.example" }, false, false, 403 },
    { "another method", { "POST", "127.0.0.1" }, false, false, 405 },
    { "our own page",
      { "GET", "127.0.0.1:9410", "http://127.0.0.1:9410", "same-origin", "cors" },
      false,
      false,
      0 },
    { "an address typed in", { "GET", "127.0.0.1", NULL, "none", "navigate" }, false, false, 0 },
    { "a link followed", { "GET", "127.0.0.1", NULL, "cross-site", "navigate" }, false, false, 0 },
    { "another site's script",
      { "GET", "127.0.0.1", "https://evil.example", "cross-site", "cors" },
      false,
      false,
      403 },
    { "another site's picture",
      { "GET", "127.0.0.1", NULL, "cross-site", "no-cors" },
      false,
      false,
      403 },
    { "another port of this machine",
      { "GET", "127.0.0.1:9410", NULL, "same-site", "cors" },
      false,
      false,
      403 },
    { "an old browser's script",
      { "GET", "127.0.0.1:9410", "http://evil.example" },
      false,
      false,
      403 },
    { "a page without an origin", { "GET", "127.0.0.1:9410", "null" }, false, false, 403 },
    { "no token", { "GET", "node1:9410" }, true, false, 401 },
    { "an open page", { "GET", "node1:9410" }, true, true, 0 },
    { "the token", { "GET", "node1", .authorization = "Bearer 0123456789abcdef" }, true, false, 0 },
    { "a part of the token",
      { "GET", "node1", .authorization = "Bearer 0123456789abcde" },
      true,
      false,
      401 },
    { "more than the token",
      { "GET", "node1", .authorization = "Bearer 0123456789abcdef0" },
      true,
      false,
      401 },
    { "the token in another scheme",
      { "GET", "node1", .authorization = "Basic 0123456789abcdef" },
      true,
      false,
      401 },
    { "the cookie", { "GET", "node1", .cookie = "0123456789abcdef" }, true, false, 0 },
    { "an empty cookie", { "GET", "node1", .cookie = "" }, true, false, 401 },
    { "the cookie, from another site",
      { "GET", "node1", NULL, "cross-site", "cors", NULL, "0123456789abcdef" },
      true,
      false,
      403 },
};

/* Requests to do something. */
static const struct {
    const char *what;
    struct http_claims claims;
    bool nobody; /* may */
    unsigned status;
} deeds[] = {
    { "by the token", { "POST", "node1", .authorization = "Bearer 0123456789abcdef" }, false, 0 },
    { "by the token, from our own page",
      { "POST", "node1", "http://node1", "same-origin", "cors", "Bearer 0123456789abcdef" },
      false,
      0 },
    { "by another method",
      { "GET", "node1", .authorization = "Bearer 0123456789abcdef" },
      false,
      405 },
    { "where nobody may", { "POST", "node1", .authorization = "Bearer " }, true, 403 },
    { "without a token", { "POST", "127.0.0.1" }, false, 401 },
    { "by another token",
      { "POST", "node1", .authorization = "Bearer 0123456789abcdeg" },
      false,
      401 },
    { "by a cookie", { "POST", "node1", .cookie = "0123456789abcdef" }, false, 401 },
    { "from another site",
      { "POST", "node1", "http://evil.example", .authorization = "Bearer 0123456789abcdef" },
      false,
      403 },
    { "from another site's script",
      { "POST", "node1", NULL, "cross-site", "cors", "Bearer 0123456789abcdef" },
      false,
      403 },
    { "from another site's form",
      { "POST", "node1", NULL, "cross-site", "navigate", "Bearer 0123456789abcdef" },
      false,
      403 },
};

static void test_deeds(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(deeds); i++) {
        struct http_refusal r = http_access_deed(&deeds[i].claims, deeds[i].nobody ? NULL : token);

        is_int(r.status, deeds[i].status, "http_access_deed answers %u to a request %s",
               deeds[i].status, deeds[i].what);
        ok(!r.status == !*r.sentence, "http_access_deed has a sentence where it refuses one %s",
           deeds[i].what);
    }
}

static void test_guard(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct guard_case *c = &cases[i];
        struct http_refusal r = http_access(&c->claims, c->with_token ? token : NULL, c->open);

        is_int(r.status, c->status, "http_access answers %u to a request: %s", c->status, c->what);
        ok(!r.status == !*r.sentence, "http_access gives a sentence exactly where it refuses: %s",
           c->what);
    }
}

/* What is said where something is refused. */
static void test_sentences(void)
{
    static const struct {
        struct http_claims claims;
        bool with_token;
        const char *sentence;
    } refused[] = {
        { { "POST", "127.0.0.1" }, false, "only GET is served here\n" },
        { { "GET", "evil" }, false, "this is served under 127.0.0.1 and localhost only\n" },
        { { "GET", "127.0.0.1", "null" }, false, "pages of other sites are not served\n" },
        { { "GET", "node1" },
          true,
          "a token is needed: open /login?token=TOKEN, or send Authorization: Bearer TOKEN\n" },
    };
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
        is_str(
            http_access(&refused[i].claims, refused[i].with_token ? token : NULL, false).sentence,
            refused[i].sentence, "http_access gives the sentence of refusal %zu", i);
    is_int(http_access_token("0123456789abcde;", &e), -EINVAL, "a token has no semicolon");
    is_str(e.text, "the token may have letters, digits and -_.+/= only",
           "the error of a token names what it may have");
    ok(http_access_equal("a", "a") && !http_access_equal("b", "a"),
       "tokens of a byte are compared");
    ok(!http_access_equal("aa", "a"), "a token twice is not the token");
}

/* Who asks: this machine, in IPv4, IPv6, or IPv4 within IPv6. */
static void test_local(void)
{
    static const struct {
        const char *text;
        bool local;
    } froms[] = {
        { "127.0.0.1:1", true },
        { "10.0.0.127:1", false },
        { "128.0.0.1:1", false },
        { "[::1]:1", true },
        { "[::ffff:127.0.0.1]:1", true },
        { "[::ffff:10.0.0.1]:1", false },
        { "[::ffff:10.127.0.1]:1", false },
        { "[2001:db8::7f00:1]:1", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(froms); i++) {
        union http_address at;

        is_int(http_address_parse(froms[i].text, &at, NULL), 0, "%s is an address", froms[i].text);
        is_int(ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port), 1,
               "%s has its port", froms[i].text);
        is_int(http_address_is_local(&at.any), froms[i].local,
               "http_address_is_local knows whether %s is this machine", froms[i].text);
    }
}

/* Each character and each length that a token may and may not have. */
static void test_tokens(void)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.+/=!#$%&'()*:<>?@[]^`{|}~";
    char text[160];
    struct err e = { "" };

    for (size_t n = 1; n < sizeof(text); n++) {
        memset(text, 'a', n);
        text[n] = '\0';
        is_int(http_access_token(text, &e), n >= 16 && n <= 128 ? 0 : -EINVAL,
               "http_access_token judges a token of %zu characters", n);
        if (n == 15)
            is_str(e.text, "the token must have 16 characters at least",
                   "the error of a short token says how many it must have");
    }
    is_str(e.text, "the token must have 128 characters at most",
           "the error of a long token says how many it may have");
    for (int c = 1; c < 256; c++) {
        memset(text, 'a', 16);
        text[15] = (char)c;
        text[16] = '\0';
        is_int(http_access_token(text, &e), strchr(allowed, c) ? 0 : -EINVAL,
               "http_access_token judges character %d of a token", c);
    }
}

static void test_addresses(void)
{
    static const struct {
        const char *text;
        bool good, loopback;
    } texts[] = {
        { "127.0.0.1:9410", true, true },
        { "localhost:0", true, true },
        { "127.9.9.9:1", true, true },
        { "[::1]:9410", true, true },
        { "0.0.0.0:9410", true, false },
        { "[::]:9410", true, false },
        { "10.1.2.3:9410", true, false },
        { "[2001:db8::1]:9410", true, false },
        { "9410", false, false },
        { "127.0.0.1", false, false },
        { "127.0.0.1:", false, false },
        { "127.0.0.1:65536", false, false },
        { "127.0.0.1:65535", true, true },
        { "127.0.0.1:-1", false, false },
        { "node1:9410", false, false },
        { "[::1:9410", false, false },
        { "::1:9410", false, false },
        { ":9410", false, false },
        { "", false, false },
        { "[]:1", false, false },
        { "[:1", false, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        union http_address at;
        struct err e = { "" };
        int rc = http_address_parse(texts[i].text, &at, &e);

        is_int(rc, texts[i].good ? 0 : -EINVAL, "http_address_parse of '%s' returns its code",
               texts[i].text);
        ok(!rc == !*e.text, "http_address_parse gives a sentence exactly where it fails: '%s'",
           texts[i].text);
        if (rc == 0)
            is_int(http_address_is_loopback(&at), texts[i].loopback,
                   "http_address_is_loopback knows '%s'", texts[i].text);
    }
}

static void test_listen(void)
{
    union http_address at;
    int first, second;

    is_int(http_address_parse("127.0.0.1:0", &at, NULL), 0, "http_address_parse takes port 0");
    first = http_address_listen(&at, 1);
    ok(first >= 0 && http_address_port(first) > 0,
       "http_address_listen chooses a port where 0 is asked for");
    at.v4.sin_port = htons((uint16_t)http_address_port(first));
    second = http_address_listen(&at, 1);
    is_int(second, -EADDRINUSE, "http_address_listen refuses a port in use");
    close(first);
    is_int(http_address_port(-1), 0, "a socket that is not open has no port");
}

static void test_unescape(void)
{
    static const char *const texts[][2] = {
        { "/metrics", "/metrics" },
        { "%2e%2E%2f", "../" },
        { "a%00b", "a%00b" },
        { "%", "%" },
        { "%4", "%4" },
        { "%zz%41", "%zzA" },
        { "%2541", "%41" },
        { "%ff", "\xff" },
        { "a%20b%0A", "a b\n" },
        { "%0g%g0%@0%`0", "%0g%g0%@0%`0" },
        { "%/0%:0%aF%Fa", "%/0%:0\xaf\xfa" },
        { "", "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        char text[16];

        snprintf(text, sizeof(text), "%s", texts[i][0]);
        is_int((long long)http_unescape(text), (long long)strlen(texts[i][1]),
               "http_unescape of '%s' returns the length", texts[i][0]);
        is_str(text, texts[i][1], "http_unescape decodes '%s'", texts[i][0]);
    }
}

int main(void)
{
    test_deeds();
    test_guard();
    test_sentences();
    test_local();
    test_unescape();
    test_tokens();
    test_addresses();
    test_listen();
    return done();
}
