#include "daemon/exporters.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "probe/sample/node_exporter.h"
#include "render/node/exporters.h"

struct exporters {
    void *sampler;
    struct tick rest;
    struct utsname host;
};

int exporters_open(struct exporters **ret, const struct sampler_env *env, struct err *e)
{
    CLEANUP(exporters_closep) struct exporters *c = calloc(1, sizeof(*c));
    int rc;

    if (!c)
        return err_nomem(e);
    if (uname(&c->host) < 0)
        return err_set(e, -errno, "uname: %s", strerror(errno));
    rc = sampler_compat.open(&c->sampler, env, e);
    if (rc < 0)
        return rc;
    *ret = steal(&c);
    return 0;
}

void exporters_close(struct exporters *c)
{
    if (!c)
        return;
    tick_done(&c->rest); /* its rows' set is the sampler's */
    if (c->sampler)
        sampler_compat.close(c->sampler);
    free(c);
}

int exporters_add(struct exporters *c, const struct tick *t, struct str *out)
{
    int rc;

    tick_begin(&c->rest, t->wall_ns, t->monotonic_ns);
    rc = sampler_compat.sample(c->sampler, &c->rest);
    if (rc == 0)
        exporters_render(t, &c->rest, &c->host, out);
    return rc;
}
