/* Memory domains of a machine: which names of folders are numbers of one. */
#include "base/str.h"
#include "probe/kernel/pack.h"
#include "probe/kernel/tree.h"
#include "probe/sources.h"
#include "tap.h"

#define FOLDER "sys/devices/system/node"

static const struct catalogue no_catalogue = { .n_products = 0 };

/* The domains of a machine with these folders, a line each. */
static struct node *node_with(const char *folders)
{
    CLEANUP(str_done) struct str pack = STR_INIT(4096);
    struct probe p = { .catalogue = &no_catalogue };
    struct node *n = NULL;
    struct err e;

    str_addf(&pack, "brim-pack 1\nd %zu " FOLDER "\n%s\nend 1\n", strlen(folders), folders);
    if (tree_open_pack(&p.tree, "made", str_text(&pack), pack.len, &e) != 0 ||
        probe_node(&p, &n, &e) != 0)
        printf("# %s\n", e.text);
    tree_close(p.tree);
    return n;
}

static void test_names(void)
{
    CLEANUP(node_freep)
    struct node *n = node_with(
        "node2\nnode0\nnode65535\nnode65536\nnode\nnode1x\nnod1\npossible\n");

    if (!ok(n != NULL, "a machine with odd names of domains is read"))
        return;
    is_int((long long)n->n_numas, 3, "what is no number below 65,536 is no domain");
    ok(n->n_numas == 3 && n->numas[0].id == 0 && n->numas[1].id == 2 && n->numas[2].id == 65535,
       "domains are in the order of their numbers");
}

int main(void)
{
    test_names();
    return done();
}
