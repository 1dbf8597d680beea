#include "cmd/common/load_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/conf.h"
#include "run/archive/archive.h"

/* For the ends of other observers. */
#define END_LOOK_NS (NS_PER_S / 10)
enum { PATH_BYTES = 4096, LIST_MAX = 8 << 20, END_LOOKS = 20 };

int load_run(const char *which, struct run *out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str folder = STR_INIT(PATH_BYTES);
    const char *runs = conf_state(&a, "runs");
    int rc = runs ? runs_find(runs, which ? which : "last", &folder, e) : err_nomem(e);

    return rc < 0 ? rc : run_load(str_text(&folder), out, e);
}

/* The folder of the youngest earlier run of the same job into 'found'; empty when there is none. */
static int find_earlier(const struct run *r, const char *runs, struct str *found, struct err *e)
{
    CLEANUP(str_done) struct str list = STR_INIT(LIST_MAX);
    int rc = runs_list(runs, &list, e);

    for (const char *id = str_text(&list); rc == 0 && id < str_text(&list) + list.len;
         id += strlen(id) + 1) {
        CLEANUP(run_done) struct run o = { .id = NULL };
        char path[PATH_BYTES];
        int len = snprintf(path, sizeof(path), "%s/%s", runs, id);

        int loaded = len < 0 || len >= (int)sizeof(path) ? -ENAMETOOLONG
                                                         : run_load_about(path, &o, NULL);

        if (loaded == -ENOMEM)
            return err_nomem(e);
        if (loaded < 0 || !run_is_earlier(r, &o))
            continue; /* what cannot be read is nothing to compare with */
        str_reset(found);
        str_add(found, path);
    }
    return rc == 0 && str_error(found) ? err_nomem(e) : rc;
}

bool load_run_at_end(const char *folder, struct run *out)
{
    bool read = run_load(folder, out, NULL) == 0;

    for (int i = 0; read && out->end == RUN_RUNNING && i < END_LOOKS; i++) {
        const struct timespec t = { .tv_nsec = END_LOOK_NS };

        (void)nanosleep(&t, NULL);
        run_done(out);
        read = run_load(folder, out, NULL) == 0;
    }
    return read;
}

int load_run_earlier(const struct run *r, struct run *out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str found = STR_INIT(PATH_BYTES);
    const char *runs = conf_state(&a, "runs");
    int rc = runs ? find_earlier(r, runs, &found, e) : err_nomem(e);

    return rc < 0 || !found.len ? rc : run_load(str_text(&found), out, e);
}
