#include "probe/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "probe/sources.h"

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

int recording_load_pack(struct probe *p, const char *path, struct str *text, struct node **ret,
                        struct err *e)
{
    int rc = file_read(path, text, e);

    if (rc == 0)
        rc = tree_open_pack(&p->tree, path, str_text(text), text->len, e);
    return rc < 0 ? rc : probe_tree(p, path, ret, e);
}

int recording_load_tree(struct probe *p, const char *path, struct node **ret, struct err *e)
{
    int rc = tree_open_dir(&p->tree, path, e);

    return rc < 0 ? rc : probe_tree(p, path, ret, e);
}
