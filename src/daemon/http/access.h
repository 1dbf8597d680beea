/* Who is served: decided from what a request says of itself, before anything else is looked at. */
#ifndef BRIM_DAEMON_HTTP_ACCESS_H
#define BRIM_DAEMON_HTTP_ACCESS_H
#include <stdbool.h>

#include "base/err.h"
#include <stddef.h>

/* What a request's headers say; NULL where they do not. */
struct http_claims {
    const char *method;
    const char *host;          /* "127.0.0.1:9410" */
    const char *origin;        /* "http://127.0.0.1:9410": sent with requests of pages */
    const char *fetch_site;    /* Sec-Fetch-Site: "same-origin", "cross-site", ... */
    const char *fetch_mode;    /* Sec-Fetch-Mode: "navigate" when a person follows a link */
    const char *authorization; /* "Bearer TOKEN" */
    const char *cookie;        /* the token, as the cookie that http_access_cookie() names */
};

struct http_refusal {
    unsigned status;      /* 0: served */
    const char *sentence; /* ends with a newline */
};

/* token NULL: none is needed. open: the page needs none. */
struct http_refusal http_access(const struct http_claims *c, const char *token, bool open);

/* The same of a request to do something, a POST. operators: the token of those who may; NULL:
 * nobody may. It must be in the header Authorization: a cookie, which a browser sends by itself, is
 * none. */
struct http_refusal http_access_deed(const struct http_claims *c, const char *operators);

/* Whether it has that token in its header. */
bool http_access_operates(const struct http_claims *c, const char *operators);

/* Compare in a time that does not tell where they differ. */
bool http_access_equal(const char *given, const char *token);

/* Whether a token is one: 16 to 128 letters and signs that fit into a cookie. 0, or -EINVAL with a
 * sentence. */
int http_access_token(const char *token, struct err *e) CHECK_RESULT;

#define HTTP_COOKIE "brim_token"

/* Replace each %XX of a path or a parameter in place; the new length. "%00" stays as it is: a text
 * with a NUL in it would be taken for the part before. So does what is no such escape. */
size_t http_unescape(char *text);

#endif
