#include "control/used_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { PATH_MOST = 4096 };

/* Whether the file ends within a line: of a disk that was full. */
static bool is_torn(int fd, off_t size)
{
    char last = '\n';

    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

/* Keep the newer half of a file that has become long. */
static int shorten(const char *path, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(2 * USED_FILE_MOST);
    const char *from;
    int rc = file_read_regular(path, &text, e);

    if (rc < 0)
        return rc;
    from = text.len > USED_FILE_MOST / 2 ? str_text(&text) + text.len - USED_FILE_MOST / 2
                                         : str_text(&text);
    from = strchr(from, '\n');
    return file_write(path, from ? from + 1 : "", from ? strlen(from + 1) : 0, e);
}

int used_file_add(const char *folder, const struct str *lines, struct err *e)
{
    char path[PATH_MOST];
    struct stat st;
    int fd, rc = 0;

    if (lines->len == 0 || str_error(lines))
        return lines->len == 0 ? 0 : err_nomem(e);
    if (snprintf(path, sizeof(path), "%s/used.tsv", folder) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "%.100s...: the name is too long", folder);
    fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    errno = 0; /* of a write that is short it says nothing */
    if (fstat(fd, &st) < 0 || (is_torn(fd, st.st_size) && write(fd, "\n", 1) != 1) ||
        write(fd, str_text(lines), lines->len) != (ssize_t)lines->len)
        rc = err_set(e, errno ? -errno : -EIO, "%s: %s", path, strerror(errno ? errno : EIO));
    close(fd);
    return rc == 0 && st.st_size + (off_t)lines->len > USED_FILE_MOST ? shorten(path, e) : rc;
}
