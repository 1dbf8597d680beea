#include "cmd/common/find_shim.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { LEVELS_MAX = 8 };

/* A path below a folder when there is something; NULL. */
static const char *there(struct arena *a, const char *folder, const char *path)
{
    const char *whole = arena_printf(a, "%s/%s", folder, path);

    return whole && access(whole, R_OK) == 0 ? whole : NULL;
}

static bool take(struct arena *a, const char *folder, const char *path, struct shim *ret)
{
    const char *whole = arena_printf(a, "%s%s", folder, path);

    if (!whole || !there(a, whole, "sitecustomize.py"))
        return false;
    ret->folder = whole;
    return true;
}

/* The build folder comes before that of the source, on the way up. */
static void take_libraries(struct arena *a, const char *folder, struct shim *ret)
{
    if (!ret->libraries && there(a, folder, "plugins/torch/brim_mark.abi3.so"))
        ret->libraries = arena_printf(a, "%s/plugins/torch:%s/src/step", folder, folder);
}

struct shim find_shim(struct arena *a, const char *given)
{
    struct shim found = { NULL, NULL };
    char exe[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    if (given && *given && (take(a, given, "", &found) || take(a, given, "/torch", &found)))
        return found;
    exe[len > 0 ? len : 0] = 0;
    for (int i = 0; i < LEVELS_MAX && strrchr(exe, '/') && strrchr(exe, '/') != exe; i++) {
        *strrchr(exe, '/') = 0;
        take_libraries(a, exe, &found);
        if (take(a, exe, "/" BRIM_TORCH, &found) || take(a, exe, "/plugins/torch", &found))
            break;
    }
    return found;
}
