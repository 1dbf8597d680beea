#include "probe/sample/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"

/* A table of 200 NFS mounts with their statistics is 1 MiB; a line of any table is at most a page
 * of options and a path or two. */
enum { ROOM_FIRST = 32 << 10, ROOM_MAX = 4 << 20 };

struct sample_table {
    struct kept file;
    char *text;
    size_t room;
};

int sample_table_open(struct sample_table **ret, int root, const char *path, struct err *e)
{
    CLEANUP(sample_table_closep) struct sample_table *s = calloc(1, sizeof(*s));

    if (!s)
        return err_nomem(e);
    s->room = ROOM_FIRST;
    kept_open(&s->file, root, path);
    if (s->file.fd < 0)
        return err_set(e, -ENOENT, "%s: cannot be read", path);
    s->text = malloc(s->room);
    if (!s->text)
        return err_nomem(e);
    *ret = steal(&s);
    return 0;
}

void sample_table_close(struct sample_table *s)
{
    if (!s)
        return;
    kept_close(&s->file);
    free(s->text);
    free(s);
}

int sample_table_start(void **state, int root, const char *path, struct err *e)
{
    struct sample_table *s = NULL;
    int rc = sample_table_open(&s, root, path, e);

    if (rc == 0)
        *state = s;
    return rc;
}

void sample_table_stop(void *state)
{
    sample_table_close(state);
}

int sample_table_read(struct sample_table *s, char **ret)
{
    char *end;
    int len;

    /* A text that was cut may have been cut before a long line: only one that leaves half of the
     * room is surely whole. */
    while ((len = kept_read(&s->file, s->text, s->room)) >= (int)s->room / 2 &&
           s->room < ROOM_MAX) {
        char *more = realloc(s->text, 2 * s->room);

        if (!more)
            return -ENOMEM;
        s->text = more;
        s->room *= 2;
    }
    if (len < 0)
        s->text[0] = 0;
    end = strrchr(s->text, '\n');
    s->text[end ? end - s->text + 1 : 0] = 0;
    *ret = s->text;
    return 0;
}

size_t sample_word(const char **at, char end, const char **ret)
{
    const char *p;

    scan_blanks(at);
    *ret = p = *at;
    while (*p && *p != ' ' && *p != '\t' && *p != '\n' && *p != end)
        p++;
    *at = p;
    return (size_t)(p - *ret);
}

bool sample_name(const char **at, char end, char name[SIGNAL_THING])
{
    const char *word;
    size_t len = sample_word(at, end, &word);

    if (len == 0 || len >= SIGNAL_THING)
        return false;
    memcpy(name, word, len);
    name[len] = 0;
    return true;
}

/* The byte that "\040" stands for, -1 when text is no such escape. */
static int escaped(const char *text, size_t len)
{
    int value = 0;

    if (len < 4 || text[0] != '\\' || text[1] > '3')
        return -1;
    for (int i = 1; i < 4; i++) {
        if (text[i] < '0' || text[i] > '7')
            return -1;
        value = 8 * value + text[i] - '0';
    }
    return value > 0 ? value : -1;
}

int sample_mount_decode(const char *word, size_t len, char *out, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < len && n < size; n++) {
        int byte = escaped(word + i, len - i);

        if (byte < 0)
            out[n] = word[i];
        else
            out[n] = (char)byte;
        i += byte < 0 ? 1 : 4;
    }
    if (n >= size)
        return -ENAMETOOLONG;
    out[n] = 0;
    return 0;
}

void sample_mount_name(char out[SIGNAL_THING], const char *mount)
{
    const size_t room = SIGNAL_THING - sizeof("...");
    size_t len = strlen(mount);
    const char *end;

    if (len < SIGNAL_THING) {
        snprintf(out, SIGNAL_THING, "%s", mount);
        return;
    }
    end = mount + len - room;
    while (((unsigned char)*end & 0xc0) == 0x80) /* not in the middle of a character */
        end++;
    snprintf(out, SIGNAL_THING, "...%s", end);
}

void sample_table_values(const char *text, struct signal_row *row, const struct sample_key *keys,
                         size_t n)
{
    const char *at = text;

    do {
        for (size_t i = 0; i < n; i++) {
            double *value = &row->values[keys[i].value];

            /* most lines are told from most keys by their first letter */
            if (*at != *keys[i].key || !scan_word(&at, keys[i].key))
                continue;
            *value = (isnan(*value) ? 0 : *value) + scan_number(&at) * keys[i].scale;
            break;
        }
    } while (scan_line(&at));
}

int sample_table_row(struct sample_table *s, struct tick *t, const struct signal_set *set,
                     const struct sample_key *keys, size_t n)
{
    struct signal_row *row;
    char *text;
    int rc = sample_table_read(s, &text);

    if (rc < 0 || !*text)
        return rc;
    row = tick_add(t, set, "");
    if (!row)
        return -ENOMEM;
    sample_table_values(text, row, keys, n);
    return 0;
}
