#include "cmd/common/token_file.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

int token_file_read(const char *path, struct str *token, struct err *e)
{
    static const char blanks[] = " \t\r\n";
    int rc = file_read(path, token, e);
    size_t begin, len;

    if (rc < 0)
        return rc;
    begin = strspn(str_text(token), blanks);
    len = strcspn(str_text(token) + begin, blanks);
    if (len == 0)
        return err_set(e, -EINVAL, "%s has no token in it", path);
    memmove(token->data, token->data + begin, len);
    token->data[len] = 0;
    token->len = len;
    return 0;
}
