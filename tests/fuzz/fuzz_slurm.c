/* What brim reads of Slurm: the wire of its library's process, JSON of its commands, lists of
 * nodes, texts of GPUs. */
#include <errno.h>

#include "fuzz.h"
#include "slurm/commands.h"
#include "slurm/gres.h"
#include "slurm/hosts.h"
#include "slurm/take.h"
#include "slurm/wire.h"

/* Parts lie on nodes that there are, and all can be written again. */
static void check_site(const struct site *s)
{
    CLEANUP(str_done) struct str again = STR_INIT(64 << 20);

    for (size_t i = 0; i < s->n_jobs; i++) {
        check(s->jobs[i].state <= SITE_ENDED && s->jobs[i].name && s->jobs[i].user);
        check(s->jobs[i].devices >= 0 && s->jobs[i].nodes >= 0);
        for (size_t k = 0; k < s->jobs[i].n_parts; k++)
            check(s->jobs[i].parts[k].node < s->n_nodes && s->jobs[i].parts[k].count >= 0);
    }
    slurm_wire_add_site(&again, s);
    check(str_error(&again) == 0);
}

static void try_json(const char *text, size_t len)
{
    struct site s = { .time_ms = 1 };
    int rc = slurm_json_nodes(&s, text, len, NULL);

    check(rc == 0 || rc == -EINVAL || rc == -ENODATA);
    check(site_index(&s) == 0);
    rc = slurm_json_jobs(&s, text, len, NULL);
    check(rc == 0 || rc == -EINVAL || rc == -ENODATA);
    check(slurm_take_end(&s) == 0);
    check_site(&s);
    site_done(&s);
}

static int each(const char *name, void *arg)
{
    size_t *n = arg;

    check(*name && strlen(name) < SLURM_HOST_NAME);
    return ++*n < 1000 ? 0 : 1;
}

static void try_texts(const char *bytes, size_t len)
{
    char *text = strndup(bytes, len);
    struct slurm_gres g;
    size_t n = 0;
    int rc;

    check(text != NULL);
    slurm_gres_read(text, &g);
    check(g.count >= 0 && memchr(g.kind, 0, sizeof(g.kind)));
    rc = slurm_hosts_each(text, each, &n);
    check(rc == 0 || rc == 1 || rc == -EINVAL);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct site s = { .time_ms = 0 };
    int rc = slurm_wire_site(&s, data, size);

    check(rc == 0 || rc == -EPROTO);
    if (rc == 0)
        check_site(&s);
    site_done(&s);
    try_json((const char *)data, size);
    try_texts((const char *)data, size);
    return 0;
}
