/* Addresses to listen on. */
#ifndef BRIM_DAEMON_HTTP_ADDRESS_H
#define BRIM_DAEMON_HTTP_ADDRESS_H
#include <netinet/in.h>
#include <stdbool.h>

#include "base/err.h"

union http_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* "127.0.0.1:9410", "localhost:9410", "[::1]:9410". 0, or -EINVAL with a sentence. */
int http_address_parse(const char *text, union http_address *ret, struct err *e) CHECK_RESULT;

/* Whether only this machine can reach it. */
bool http_address_is_loopback(const union http_address *at);

/* Whether a client's address is of this machine's loopback, also as IPv6 writes one of IPv4. */
bool http_address_is_local(const struct sockaddr *from);

/* A socket that listens there, or a negative errno. */
int http_address_listen(const union http_address *at, int backlog) CHECK_RESULT;

/* The port that a listening socket has; 0 when it has none. */
unsigned http_address_port(int fd);

#endif
