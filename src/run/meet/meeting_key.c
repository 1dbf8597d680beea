#include "run/meet/meeting_key.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* A text of chance has so many letters; short ones are guessed. */
enum { TOKEN_LEAST = 16, TOKEN_MOST = 4096 };

static const char blanks[] = " \t\r\n";

static int take(struct meeting_key *ret, const char *text, const char *of, struct err *e)
{
    size_t begin = strspn(text, blanks), len = strlen(text + begin);
    struct sha256 s;

    ret->by_munge = false;
    while (len && strchr(blanks, text[begin + len - 1]))
        len--;

    if (len < TOKEN_LEAST)
        return err_set(e, -EINVAL,
                       "%s has a token of %zu letters, and needs %d: 'openssl rand -hex 16' makes "
                       "one",
                       of, len, TOKEN_LEAST);
    sha256_begin(&s);
    sha256_add(&s, text + begin, len);
    sha256_end(&s, ret->bytes);
    return 1;
}

int meeting_key_read(struct meeting_key *ret, const char *token, const char *file, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(TOKEN_MOST);
    struct stat st;
    int rc;

    if (token && *token)
        return take(ret, token, "BRIM_TOKEN", e);
    if (!file)
        return 0;
    rc = file_read(file, &text, e);
    if (rc < 0)
        return rc;
    if (stat(file, &st) == 0 && (st.st_mode & (S_IRWXG | S_IRWXO)))
        return err_set(e, -EPERM, "%s: others may read the token in it: chmod 600 %s", file, file);
    return take(ret, str_text(&text), file, e);
}
