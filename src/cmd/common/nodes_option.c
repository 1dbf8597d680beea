#include "cmd/common/nodes_option.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cmd/common/token_file.h"
#include "daemon/http/access.h"

enum { FILE_MAX = 4 << 20 };

static bool is_file(const char *text)
{
    struct stat st;

    return !strcmp(text, "-") || strchr(text, '/') || (stat(text, &st) == 0 && S_ISREG(st.st_mode));
}

static int read_file(struct node_list *l, struct arena *a, const char *path, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    int rc = file_read_input(path, &text, e);

    if (rc == 0)
        rc = node_list_read(l, a, file_input_name(path), str_text(&text), text.len, e);
    if (rc == 0 && l->n == 0)
        rc = err_set(e, -EINVAL, "%s names no node", file_input_name(path));
    return rc;
}

int nodes_option_read(struct node_list *ret, struct arena *a, const char *text, struct err *e)
{
    struct node_list l = { .n = 0 };
    int rc;

    if (is_file(text)) {
        rc = read_file(&l, a, text, e);
    } else {
        rc = err_usage_of(node_list_add(&l, a, text, e));
        if (rc == ERR_USAGE)
            err_context(e, rc, "--nodes: ");
        else if (rc == 0 && l.n == 0)
            rc = err_usage(e, "--nodes names no node");
    }
    if (rc == 0)
        *ret = l;
    return rc;
}

int nodes_option_token(const char *path, struct str *token, struct err *e)
{
    int rc = token_file_read(path, token, e);

    if (rc == 0)
        rc = http_access_token(str_text(token), e);
    return rc;
}
