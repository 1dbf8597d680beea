#include "cmd/common/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/file.h"
#include "cmd/common/terminal_text.h"

int cmd_print(const struct str *out, const char *path, struct err *e)
{
    int rc;

    if (str_error(out) == -ENOMEM)
        return err_nomem(e);
    if (str_error(out))
        return err_set(e, -EFBIG, "the output would be larger than %zu MiB", out->max >> 20);
    if (path && strcmp(path, "-") != 0)
        return file_write(path, str_text(out), out->len, e);
    rc = say_lines(stdout, str_text(out), out->len, conf_colour(1));
    return rc < 0 ? err_set(e, rc, "standard output: %s", strerror(-rc)) : 0;
}
