#include "run/job/environ.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

const char *environ_get(char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; *env; env++)
        if (!strncmp(*env, name, len) && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

int environ_number(char *const *env, const char *name)
{
    const char *text = environ_get(env, name);
    uint64_t value;

    if (!text || parse_u64(text, &value) < 0 || value > INT32_MAX)
        return -1;
    return (int)value;
}

char **environ_copy(struct arena *a, char *const *env, size_t more)
{
    size_t n = 0;
    char **copy;

    while (env[n])
        n++;
    copy = arena_alloc(a, (n + more + 1) * sizeof(*copy));
    if (copy && n)
        memcpy(copy, env, n * sizeof(*copy));
    return copy;
}

int environ_set(struct arena *a, char **env, const char *name, const char *value)
{
    size_t len = strlen(name), n = 0;
    char *text = arena_printf(a, "%s=%s", name, value);

    if (!text)
        return -ENOMEM;
    while (env[n] && (strncmp(env[n], name, len) != 0 || env[n][len] != '='))
        n++;
    env[n] = text;
    return 0;
}

const char *environ_gpus(char *const *env)
{
    const char *list = environ_get(env, "CUDA_VISIBLE_DEVICES");

    return list && *list && strspn(list, "0123456789,") == strlen(list) ? list : NULL;
}

bool environ_has_gpu(const void *list, const char *gpu)
{
    size_t len = strlen(gpu);

    for (const char *at = list; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strcspn(at, ",") == len && !strncmp(at, gpu, len))
            return true;
    }
    return false;
}
