#include "daemon/http/access.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"

enum { TOKEN_MIN = 16, TOKEN_MAX = 128 };

/* Answer only to our own name, so that no page of another site can read this one through a name
 * that it lets point here. */
static bool is_own_host(const char *host)
{
    static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

    for (size_t i = 0; host && i < ARRAY_SIZE(names); i++) {
        size_t len = strlen(names[i]);

        if (!strncmp(host, names[i], len) && (!host[len] || host[len] == ':'))
            return true;
    }
    return false;
}

/* Whether a page of another site has sent this. Browsers say so; a link that a person follows is
 * fine. */
static bool is_from_elsewhere(const struct http_claims *c)
{
    const char *slashes = c->origin ? strstr(c->origin, "://") : NULL;

    if (c->fetch_site && strcmp(c->fetch_site, "same-origin") != 0 &&
        strcmp(c->fetch_site, "none") != 0)
        return !c->fetch_mode || strcmp(c->fetch_mode, "navigate") != 0;
    if (!c->origin)
        return false;
    return !slashes || !c->host || strcmp(slashes + 3, c->host) != 0;
}

bool http_access_equal(const char *given, const char *token)
{
    size_t n = strlen(given), m = strlen(token);
    unsigned char differ = n != m;

    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char)(given[i] ^ token[i % m]);
    return !differ;
}

int http_access_token(const char *token, struct err *e)
{
    size_t len = strlen(token);

    if (len < TOKEN_MIN)
        return err_set(e, -EINVAL, "the token must have %d characters at least", TOKEN_MIN);
    if (len > TOKEN_MAX)
        return err_set(e, -EINVAL, "the token must have %d characters at most", TOKEN_MAX);
    for (; *token; token++)
        if (*token <= ' ' || *token > '~' || strchr("\";,\\", *token))
            return err_set(e, -EINVAL, "the token may have letters, digits and -_.+/= only");
    return 0;
}

/* The token of the header; NULL. */
static const char *bearer_of(const struct http_claims *c)
{
    static const char bearer[] = "Bearer ";
    bool is = c->authorization && !strncmp(c->authorization, bearer, strlen(bearer));

    return is ? c->authorization + strlen(bearer) : NULL;
}

static bool has_token(const struct http_claims *c, const char *token)
{
    const char *given = bearer_of(c);

    given = given ? given : c->cookie;
    return given && http_access_equal(given, token);
}

struct http_refusal http_access(const struct http_claims *c, const char *token, bool open)
{
    if (strcmp(c->method, "GET") != 0 && strcmp(c->method, "HEAD") != 0)
        return (struct http_refusal){ 405, "only GET is served here\n" };
    if (!token && !is_own_host(c->host))
        return (struct http_refusal){ 403, "this is served under 127.0.0.1 and localhost only\n" };
    if (is_from_elsewhere(c))
        return (struct http_refusal){ 403, "pages of other sites are not served\n" };
    if (token && !open && !has_token(c, token))
        return (struct http_refusal){
            401, "a token is needed: open /login?token=TOKEN, or send Authorization: Bearer TOKEN\n"
        };
    return (struct http_refusal){ 0, "" };
}

bool http_access_operates(const struct http_claims *c, const char *operators)
{
    const char *given = bearer_of(c);

    return given && operators && http_access_equal(given, operators);
}

struct http_refusal http_access_deed(const struct http_claims *c, const char *operators)
{
    struct http_claims all = *c;

    all.fetch_mode = NULL; /* a form of another site navigates */
    if (strcmp(c->method, "POST") != 0)
        return (struct http_refusal){ 405, "only POST is served here\n" };
    if (!operators)
        return (struct http_refusal){
            403, "nothing can be done from here: it was started without a token of operators\n"
        };
    if (is_from_elsewhere(&all))
        return (struct http_refusal){ 403, "pages of other sites are not served\n" };
    if (!http_access_operates(c, operators))
        return (struct http_refusal){
            401, "the token of operators is needed: send Authorization: Bearer TOKEN\n"
        };
    return (struct http_refusal){ 0, "" };
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t http_unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++) {
        int high = at[0] == '%' ? hex_digit(at[1]) : -1;
        int low = high < 0 ? -1 : hex_digit(at[2]);

        if (low < 0 || high + low == 0) {
            *to++ = *at;
            continue;
        }
        *to++ = (char)(high * 16 + low);
        at += 2;
    }
    *to = 0;
    return (size_t)(to - text);
}
