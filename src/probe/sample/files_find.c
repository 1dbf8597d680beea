/* What samplers of many small files find their things with, and read them with (files.h). */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/listing.h"
#include "probe/kernel/scan.h"
#include "probe/sample/files.h"
#include "probe/sample/table.h"

int sample_files_list(struct sample_files *s, const char *folder, struct str *out)
{
    const struct dirent *entry;
    DIR *dir;
    int rc = listing_open(sample_files_root(s), folder, 0, &dir);

    str_reset(out);
    if (!dir)
        return rc;
    while ((rc = listing_next(dir, &entry)) > 0)
        str_add_n(out, entry->d_name, strlen(entry->d_name) + 1);
    closedir(dir);
    return str_error(out) == -ENOMEM ? -ENOMEM : rc;
}

void sample_files_line(const struct sample_files *s, const char *prefix, const char *path,
                       char *buf, size_t size)
{
    struct kept k = { sample_open_below(sample_files_root(s), prefix, path) };
    ssize_t len = k.fd >= 0 ? pread(k.fd, buf, size - 1, 0) : 0;

    kept_close(&k);
    buf[len > 0 ? len : 0] = 0;
    buf[strcspn(buf, "\n")] = 0;
    for (size_t end = strlen(buf); end > 0 && (buf[end - 1] == ' ' || buf[end - 1] == '\t'); end--)
        buf[end - 1] = 0;
}

void sample_files_link(const struct sample_files *s, const char *path, char *buf, size_t size)
{
    ssize_t len = readlinkat(sample_files_root(s), path, buf, size);

    buf[len > 0 && (size_t)len < size ? len : 0] = 0;
}

void sample_files_sum(const struct signal_set *set, double *row, const double *values)
{
    for (size_t i = 0; i < set->n_defs; i++)
        sample_add(&row[i], values[i]);
}

void sample_read_keys(const struct sample_file *f, const char *text, double *values)
{
    const struct sample_key *keys = f->arg;

    for (size_t i = 0; i < f->n_args; i++)
        values[keys[i].value] = (double)NAN;
    do {
        for (size_t i = 0; i < f->n_args; i++)
            if (*text == *keys[i].key && scan_word(&text, keys[i].key)) {
                sample_add(&values[keys[i].value], scan_number(&text) * keys[i].scale);
                break;
            }
    } while (scan_line(&text));
}
