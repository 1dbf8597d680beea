#include "slurm/library.h"

#include <dlfcn.h>
#include <errno.h>

/* The newest first. */
static const struct slurm_layout *const layouts[] = {
    &slurm_layout_26_05,
    &slurm_layout_24_11,
    &slurm_layout_22_05,
};

/* What Slurm's own commands use: it has the same functions, and is there where they are. */
static const char *const full[] = {
    "/usr/lib/x86_64-linux-gnu/slurm-wlm/libslurmfull.so",
    "/usr/lib/aarch64-linux-gnu/slurm-wlm/libslurmfull.so",
    "/usr/lib64/slurm/libslurmfull.so",
    "/usr/lib/slurm/libslurmfull.so",
    "/usr/local/lib/slurm/libslurmfull.so",
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
#define FLAGS (RTLD_NOW | RTLD_GLOBAL)
#else
#define FLAGS (RTLD_NOW | RTLD_GLOBAL | RTLD_DEEPBIND)
#endif

enum need { ALWAYS, MAYBE, BY_NUMBER, BY_STEP };

static const struct {
    const char *name;
    size_t offset;
    enum need need;
} symbols[] = {
    { "slurm_init", offsetof(struct slurm_api, init), ALWAYS },
    { "slurm_strerror", offsetof(struct slurm_api, error_text), ALWAYS },
    { "slurm_job_reason_string", offsetof(struct slurm_api, reason_text), MAYBE },
    { "slurm_load_jobs", offsetof(struct slurm_api, load_jobs), ALWAYS },
    { "slurm_load_node", offsetof(struct slurm_api, load_nodes), ALWAYS },
    { "slurm_load_topo", offsetof(struct slurm_api, load_topo), MAYBE },
    { "slurm_free_job_info_msg", offsetof(struct slurm_api, free_jobs), ALWAYS },
    { "slurm_free_node_info_msg", offsetof(struct slurm_api, free_nodes), ALWAYS },
    { "slurm_free_topo_info_msg", offsetof(struct slurm_api, free_topo), MAYBE },
    { "slurm_load_partitions", offsetof(struct slurm_api, load_parts), ALWAYS },
    { "slurm_free_partition_info_msg", offsetof(struct slurm_api, free_parts), ALWAYS },
    { "slurm_init_job_desc_msg", offsetof(struct slurm_api, init_job), ALWAYS },
    { "slurm_update_job", offsetof(struct slurm_api, update_job), ALWAYS },
    { "slurm_init_update_node_msg", offsetof(struct slurm_api, init_node), ALWAYS },
    { "slurm_update_node", offsetof(struct slurm_api, update_node), ALWAYS },
    { "slurm_requeue", offsetof(struct slurm_api, requeue), BY_NUMBER },
    { "slurm_suspend", offsetof(struct slurm_api, suspend), BY_NUMBER },
    { "slurm_resume", offsetof(struct slurm_api, resume), BY_NUMBER },
    { "slurm_kill_job", offsetof(struct slurm_api, kill), BY_NUMBER },
    { "slurm_notify_job", offsetof(struct slurm_api, notify), BY_NUMBER },
    { "slurm_requeue", offsetof(struct slurm_api, requeue_step), BY_STEP },
    { "slurm_suspend", offsetof(struct slurm_api, suspend_step), BY_STEP },
    { "slurm_resume", offsetof(struct slurm_api, resume_step), BY_STEP },
    { "slurm_kill_job", offsetof(struct slurm_api, kill_step), BY_STEP },
    { "slurm_notify_job", offsetof(struct slurm_api, notify_step), BY_STEP },
};

static void library_close(void *state)
{
    struct slurm_library *l = state;

    if (l->jobs)
        l->api.free_jobs(l->jobs);
    if (l->nodes)
        l->api.free_nodes(l->nodes);
    if (l->parts)
        l->api.free_parts(l->parts);
    if (l->handle)
        dlclose(l->handle);
    arena_done(&l->topo);
    free(l);
}

DEFINE_CLEANUP(void, library_close)

/* One by name. Its plugins look for its functions among those of the whole process: so it is opened
 * global. It has an error() of its own, and is not to take that of libc, which is there before it;
 * sanitizers do not let a library have its own. */
static bool load_one(struct slurm_library *l, const char *name)
{
    if (!l->handle)
        l->handle = dlopen(name, FLAGS);
    return l->handle;
}

static int load(struct slurm_library *l, const char *path, struct err *e)
{
    if (path)
        return load_one(l, path) ? 0 : err_set(e, -ENOENT, "%s", dlerror());
    for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
        if (load_one(l, layouts[i]->soname))
            return 0;
    for (size_t i = 0; i < ARRAY_SIZE(full); i++)
        if (load_one(l, full[i]))
            return 0;
    return err_set(e, -ENOENT, "there is no libslurm that is known");
}

static int choose(struct slurm_library *l, const char *path, struct str *how, struct err *e)
{
    const char *name = path ? path : "libslurm";
    unsigned long api;

    *(void **)&l->api.version = dlsym(l->handle, "slurm_api_version");
    if (!l->api.version)
        return err_set(e, -ENOTSUP, "%s lacks slurm_api_version", name);
    api = (unsigned long)l->api.version() >> 16;
    for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
        if (layouts[i]->api == api)
            l->layout = layouts[i];
    if (!l->layout)
        return err_set(e, -ENOTSUP, "%s with interface %lu is not known", name, api);
    str_addf(how, "libslurm %u.%02u", l->layout->major, l->layout->minor);
    return 0;
}

static int bind_all(struct slurm_library *l, struct err *e)
{
    enum need other = l->layout->by_step ? BY_NUMBER : BY_STEP;

    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
        void *found = dlsym(l->handle, symbols[i].name);

        if (symbols[i].need == other)
            continue;
        if (!found && symbols[i].need != MAYBE)
            return err_set(e, -ENOTSUP, "libslurm lacks %s", symbols[i].name);
        *(void **)(void *)((char *)&l->api + symbols[i].offset) = found;
    }
    return 0;
}

static int library_open(void **ret, const struct slurm_config *config, struct str *how,
                        struct err *e)
{
    struct slurm_library *l = calloc(1, sizeof(*l));
    CLEANUP(library_closep) void *owner = l;
    int rc;

    if (!l)
        return err_nomem(e);
    rc = load(l, config->library, e);
    if (rc == 0)
        rc = choose(l, config->library, how, e);
    if (rc == 0)
        rc = bind_all(l, e);
    if (rc < 0)
        return rc;
    l->api.init(config->conf);
    *ret = steal(&owner);
    return 0;
}

const struct slurm_backend slurm_by_library = {
    .open = library_open,
    .close = library_close,
    .read = slurm_library_read,
    .act = slurm_library_act,
};
