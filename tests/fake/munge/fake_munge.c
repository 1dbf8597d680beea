/* A library of MUNGE without a daemon: what is sealed is a text of hexadecimal digits behind the
 * user who did it and the one who may read it. In the environment, FAKE_MUNGE is "dead" (nobody
 * answers), "hangs" (nor says so) or "other" (another user has sealed). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { FAILED = 1, UID_RESTRICTION = 9, ANYBODY = -1 };

EXPORT void *munge_ctx_create(void);
EXPORT void munge_ctx_destroy(void *ctx);
EXPORT int munge_ctx_set(void *ctx, int option, ...);
EXPORT int munge_encode(char **text, void *ctx, const void *bytes, int len);
EXPORT int munge_decode(const char *text, void *ctx, void **bytes, int *len, uid_t *uid,
                        gid_t *gid);

static int is(const char *how)
{
    const char *said = getenv("FAKE_MUNGE");

    return said && !strcmp(said, how);
}

void *munge_ctx_create(void)
{
    int *reader = malloc(sizeof(*reader));

    if (reader)
        *reader = ANYBODY;
    return reader;
}

void munge_ctx_destroy(void *ctx)
{
    free(ctx);
}

int munge_ctx_set(void *ctx, int option, ...)
{
    va_list ap;

    if (option != UID_RESTRICTION)
        return FAILED;
    va_start(ap, option);
    *(int *)ctx = (int)va_arg(ap, uid_t);
    va_end(ap);
    return 0;
}

int munge_encode(char **text, void *ctx, const void *bytes, int len)
{
    size_t room = 64 + 2 * (size_t)len, at;
    int reader = ctx ? *(int *)ctx : ANYBODY;

    while (is("hangs"))
        pause();
    *text = is("dead") ? NULL : malloc(room);
    if (!*text)
        return FAILED;
    at = (size_t)snprintf(*text, room, "MUNGE:%d:%d:%d:", (int)geteuid(), reader, len);
    for (int i = 0; i < len; i++)
        at += (size_t)snprintf(*text + at, room - at, "%02x", ((const unsigned char *)bytes)[i]);
    return 0;
}

#ifndef NO_DECODE
int munge_decode(const char *text, void *ctx, void **bytes, int *len, uid_t *uid, gid_t *gid)
{
    int by, reader, n, at = 0;

    (void)ctx;
    *bytes = NULL;
    if (is("dead") || sscanf(text, "MUNGE:%d:%d:%d:%n", &by, &reader, &n, &at) != 3 || !at ||
        n < 0 || strlen(text + at) != 2 * (size_t)n ||
        (reader != ANYBODY && reader != (int)geteuid()))
        return FAILED;
    *bytes = malloc((size_t)n + 1);
    if (!*bytes)
        return FAILED;
    for (int i = 0; i < n; i++)
        if (sscanf(text + at + 2 * i, "%2hhx", (unsigned char *)*bytes + i) != 1)
            return FAILED;
    *len = n;
    *uid = (uid_t)(is("other") ? by + 1 : by);
    *gid = 0;
    return 0;
}
#endif
