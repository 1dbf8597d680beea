#include "run/meet/meeting_key.h"

#include <errno.h>
#include <string.h>

#include "folder.h"
#include "tap.h"

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");

    folder_need(f && fputs(text, f) >= 0 && fclose(f) == 0 ? 0 : -1, path);
    folder_need(chmod(path, mode), path);
}

int main(void)
{
    static const char token[] = "0123456789abcdef", other[] = "0123456789abcdeF";
    char root[PATH_MAX], path[PATH_MAX + 8];
    struct meeting_key one, two;
    struct err e = { "" };

    folder_make(root);
    snprintf(path, sizeof(path), "%s/token", root);
    is_int(meeting_key_read(&one, NULL, NULL, &e), 0, "without a token there is no key");
    is_int(meeting_key_read(&one, "", NULL, &e), 0, "an empty variable is none");
    is_int(meeting_key_read(&one, "short", NULL, &e), -EINVAL, "a short token is refused");
    ok(strstr(e.text, "BRIM_TOKEN has a token of 5 letters, and needs 16"),
       "the sentence says how long it is to be: %s", e.text);
    is_int(meeting_key_read(&one, token, NULL, &e), 1, "a variable is the key");
    is_int(meeting_key_read(&one, NULL, path, &e), -ENOENT, "a file that is not there is told");
    write_file(path, " 0123456789abcdef\n", 0600);
    is_int(meeting_key_read(&two, NULL, path, &e), 1, "a file is the key");
    ok(!memcmp(&one, &two, sizeof(one)), "the same token makes the same key, blanks aside");
    is_int(meeting_key_read(&two, other, path, &e), 1, "both are given");
    ok(memcmp(&one, &two, sizeof(one)) != 0, "the variable counts before the file");
    write_file(path, token, 0640);
    is_int(meeting_key_read(&two, NULL, path, &e), -EPERM, "a file that others read is refused");
    ok(strstr(e.text, "chmod 600"), "the sentence names the way out: %s", e.text);
    folder_remove(root);
    return done();
}
