#include "probe/recording_load.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "probe/fleet.h"
#include "probe/recording.h"
#include "probe/source/nccl_xml.h"

static int add_node(struct machine *m, struct node **n, struct err *e)
{
    if (machine_add(m, *n) < 0)
        return err_nomem(e);
    *n = NULL;
    return 0;
}

static int load_one(struct probe *p, const char *path, struct machine *m, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORDING_MAX);
    CLEANUP(node_freep) struct node *n = NULL;
    int rc = recording_load_pack(p, path, &text, &n, e);

    return rc < 0 ? rc : add_node(m, &n, e);
}

static int load_tree(struct probe *p, const char *path, struct machine *m, struct err *e)
{
    CLEANUP(node_freep) struct node *n = NULL;
    int rc = recording_load_tree(p, path, &n, e);

    return rc < 0 ? rc : add_node(m, &n, e);
}

static int load_xml(const struct probe *p, const char *path, struct machine *m, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORDING_MAX);
    CLEANUP(node_freep) struct node *n = NULL;
    int rc = file_read(path, &text, e);

    if (rc == 0)
        rc = nccl_xml_read(path, str_text(&text), text.len, p->catalogue, &n, e);
    return rc < 0 ? rc : add_node(m, &n, e);
}

/* 1 when dir has an entry of that name. */
static int has(const char *dir, const char *name, char path[PATH_MAX])
{
    struct stat st;

    return snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX && stat(path, &st) == 0;
}

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && !strcmp(text + len - end_len, end);
}

int recording_load(struct probe *p, const char *path, struct machine *ret, struct err *e)
{
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    char inside[PATH_MAX];
    struct stat st;
    int rc;

    if (stat(path, &st) < 0)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        rc = ends_in(path, ".xml") ? load_xml(p, path, &m, e) : load_one(p, path, &m, e);
    else if (has(path, RECORDING_FILE, inside))
        rc = load_one(p, inside, &m, e);
    else if (has(path, "sys", inside))
        rc = load_tree(p, path, &m, e);
    else
        rc = recording_load_fleet(p, path, &m, e);
    if (rc < 0)
        return rc;
    *ret = m;
    m = (struct machine){ .n_nodes = 0 };
    return 0;
}
