#include "run/meet/munge.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY "libmunge.so.2"

/* Of munge.h, of 0.5.15. */
enum { SUCCESS = 0, UID_RESTRICTION = 9 };

/* A job's start waits for no longer. */
enum { ANSWER_MS = 500 };

struct library {
    void *handle;
    void *(*ctx_create)(void);
    void (*ctx_destroy)(void *ctx);
    int (*ctx_set)(void *ctx, int option, ...);
    int (*encode)(char **text, void *ctx, const void *bytes, int len);
    int (*decode)(const char *text, void *ctx, void **bytes, int *len, uid_t *uid, gid_t *gid);
};

static void done(struct library *l)
{
    if (l->handle)
        dlclose(l->handle);
}

static bool load(struct library *l)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {
        { "munge_ctx_create", &l->ctx_create }, { "munge_ctx_destroy", &l->ctx_destroy },
        { "munge_ctx_set", &l->ctx_set },       { "munge_encode", &l->encode },
        { "munge_decode", &l->decode },
    };

    *l = (struct library){ .handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
    for (size_t i = 0; l->handle && i < ARRAY_SIZE(functions); i++) {
        void *found = dlsym(l->handle, functions[i].name);

        if (!found)
            return false;
        memcpy(functions[i].to, &found, sizeof(found));
    }
    return l->handle;
}

/* The text is freed by the caller; NULL: munged did not make one. */
static char *encode(const struct library *l, const void *bytes, size_t len)
{
    void *ctx = l->ctx_create();
    char *text = NULL;

    if (!ctx)
        return NULL;
    if (l->ctx_set(ctx, UID_RESTRICTION, geteuid()) != SUCCESS ||
        l->encode(&text, ctx, bytes, (int)len) != SUCCESS) {
        free(text);
        text = NULL;
    }
    l->ctx_destroy(ctx);
    return text;
}

int munge_seal(const void *bytes, size_t len, char ret[MUNGE_TEXT])
{
    CLEANUP(freep) char *text = NULL;
    struct library l;
    int rc = -ENOENT;

    if (load(&l)) {
        text = encode(&l, bytes, len);
        rc = text && strlen(text) < MUNGE_TEXT ? 0 : -EIO;
    }
    done(&l);
    memset(ret, 0, MUNGE_TEXT);
    if (rc == 0)
        memcpy(ret, text, strlen(text));
    return rc;
}

int munge_unseal(const char text[MUNGE_TEXT], void *ret, size_t len)
{
    void *bytes = NULL;
    int n = 0, rc = -ENOENT;
    struct library l;
    uid_t uid = (uid_t)-1;
    gid_t gid;

    if (load(&l)) {
        rc = -EACCES;
        if (!text[MUNGE_TEXT - 1] && l.decode(text, NULL, &bytes, &n, &uid, &gid) == SUCCESS &&
            uid == geteuid() && n == (int)len) {
            memcpy(ret, bytes, len);
            rc = 0;
        }
    }
    free(bytes);
    done(&l);
    return rc;
}

/* In a child: the library asks a daemon that is dead for 2 s, and one that hangs for 10. */
static void ask(void)
{
    char text[MUNGE_TEXT];

    _exit(munge_seal("brim", 4, text) == 0 ? 0 : 1);
}

bool munge_answers(void)
{
    CLEANUP(closep) int end = -1;
    struct pollfd until = { .events = POLLIN };
    int pipes[2], status = -1;
    pid_t child;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return false;
    end = pipes[0];
    child = fork();
    if (child == 0)
        ask();
    close(pipes[1]); /* the child's is closed when it ends */
    if (child < 0)
        return false;
    until.fd = end;
    if (poll(&until, 1, ANSWER_MS) <= 0)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
