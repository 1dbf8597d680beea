#include <errno.h>
#include <math.h>

#include "fuzz.h"
#include "gpus_csv.h"
#include "plan/cluster/cluster_read.h"

static void check_cluster(int rc, const struct cluster *c, const struct err *e)
{
    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e->text[0] == '\0'));
    if (rc < 0)
        return;
    check(cluster_check(c, NULL) == 0);
    check(strlen(c->assumed) < sizeof(c->assumed) - 1 && strlen(c->gpu.name) > 0);
    check(isfinite(c->nic_latency_s) && isfinite(c->link_latency_s) && isfinite(c->nic_rate));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gpus g; /* read once: it takes longer than all else here */
    CLEANUP(freep) char *text = malloc(size + 1);
    struct cluster c = { .nodes = 0 };
    struct err e = { "" };
    int rc;

    if (!g.n_rows)
        check(gpus_load(&g, data_gpus_csv, data_gpus_csv_len, NULL) == 0);
    check(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    rc = cluster_from_spec(&c, &g, text, &e);
    check_cluster(rc, &c, &e);
    e.text[0] = '\0';
    rc = cluster_from_ini(&c, &g, "f", text, size, &e);
    check_cluster(rc, &c, &e);
    if (rc < 0)
        check(strncmp(e.text, "f:", 2) == 0);
    return 0;
}
