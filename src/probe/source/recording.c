#include "probe/source/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "probe/source/nccl_xml.h"

/* One sentence for all files that are there but cannot be read. */
static void note_denied(struct probe *p, const char *of)
{
    const char *path;
    int error;
    unsigned count = tree_denied(p->tree, &path, &error);

    if (!count)
        return;
    probe_trouble(p, "files", "%s%s/%s: %s%s; what they say is unknown here%s", of, *of ? ": " : "",
                  path, strerror(error), count > 1 ? " (and others)" : "",
                  error == EACCES || error == EPERM ? " (root may read them)" : "");
}

/* Probe through p->tree, which is closed afterwards. */
static int probe_tree(struct probe *p, const char *of, struct node **ret, struct err *e)
{
    int rc = probe_node(p, ret, e);

    if (rc == 0)
        note_denied(p, of);
    tree_close(p->tree);
    p->tree = NULL;
    return rc;
}

int recording_live(struct probe *p, struct node **ret, struct err *e)
{
    int rc = tree_open_dir(&p->tree, "/", e);

    return rc < 0 ? rc : probe_tree(p, "", ret, e);
}

int recording_make(struct probe *p, const char *dir, struct node **ret, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORDING_MAX);
    CLEANUP(node_freep) struct node *n = NULL;
    char path[PATH_MAX];
    int rc = tree_open_dir(&p->tree, "/", e), ended;

    if (rc < 0)
        return rc;
    tree_record(p->tree, &text);
    rc = probe_node(p, &n, e);
    ended = tree_record_end(p->tree);
    if (rc == 0)
        note_denied(p, "");
    tree_close(p->tree);
    p->tree = NULL;
    if (rc < 0)
        return rc;
    if (ended == -ENOMEM)
        return err_nomem(e);
    if (ended < 0)
        return err_set(e, ended, "%s: the recording would be larger than %d MiB", dir,
                       RECORDING_MAX >> 20);
    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return err_set(e, -errno, "%s: %s", dir, strerror(errno));
    if (snprintf(path, sizeof(path), "%s/%s", dir, RECORDING_FILE) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "%s: the name is too long", dir);
    rc = file_write(path, str_text(&text), text.len, e);
    if (rc < 0)
        return rc;
    *ret = steal(&n);
    return 0;
}

static int add_node(struct machine *m, struct node **n, struct err *e)
{
    if (machine_add(m, *n) < 0)
        return err_nomem(e);
    *n = NULL;
    return 0;
}

int recording_load_pack(struct probe *p, const char *path, struct str *text, struct node **ret,
                        struct err *e)
{
    int rc = file_read(path, text, e);

    if (rc == 0)
        rc = tree_open_pack(&p->tree, path, str_text(text), text->len, e);
    return rc < 0 ? rc : probe_tree(p, path, ret, e);
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
    int rc = tree_open_dir(&p->tree, path, e);

    if (rc == 0)
        rc = probe_tree(p, path, &n, e);
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
