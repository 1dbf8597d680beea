#include "probe/kernel/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

static const char magic[] = "brim-pack 1\n";

/* No file that a probe reads is larger; a larger length is damage. */
enum { ENTRY_MAX = 1 << 20, PATH_MAX_LEN = 511, ZERO_RUN = 4 };

struct pack {
    struct pack_entry *entries;
    size_t count;
    uint32_t *slots; /* entry number + 1; 0 is free */
    size_t mask;
};

static uint64_t hash(const char *text, size_t len)
{
    uint64_t h = len * 0x9e3779b97f4a7c15u;

    for (; len >= 8; text += 8, len -= 8) {
        uint64_t word;

        memcpy(&word, text, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    for (; len; text++, len--)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h ^ h >> 29;
}

/* The slot of a path: the one that holds it, else a free one. */
static uint32_t *slot_of(const struct pack *p, const char *path, size_t len)
{
    for (size_t i = hash(path, len) & p->mask;; i = (i + 1) & p->mask) {
        uint32_t *slot = &p->slots[i];

        if (!*slot)
            return slot;
        const struct pack_entry *at = &p->entries[*slot - 1];

        if (at->path_len == len && !memcmp(at->path, path, len))
            return slot;
    }
}

/* Digits at *text up to end; moves *text behind them. */
static int number(const char **text, const char *end, uint32_t *ret)
{
    uint64_t value = 0;
    const char *at = *text;

    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > ENTRY_MAX)
            return -ERANGE;
    }
    if (at == *text)
        return -EINVAL;
    *text = at;
    *ret = (uint32_t)value;
    return 0;
}

/* Read "TYPE LENGTH PATH\nDATA\n" at *text. */
static int entry(const char **text, const char *end, struct pack_entry *ret)
{
    const char *at = *text, *line_end;

    if (end - at < 2 || !at[0] || !strchr("fxlde", at[0]) || at[1] != ' ')
        return -EINVAL;
    ret->type = at[0];
    at += 2;
    if (number(&at, end, &ret->data_len) < 0 || at == end || *at++ != ' ')
        return -EINVAL;
    line_end = memchr(at, '\n', (size_t)(end - at));
    if (!line_end || line_end == at || line_end - at > PATH_MAX_LEN)
        return -EINVAL;
    ret->path = at;
    ret->path_len = (uint32_t)(line_end - at);
    ret->data = line_end + 1;
    if ((size_t)(end - ret->data) <= ret->data_len || ret->data[ret->data_len] != '\n')
        return -EINVAL;
    *text = ret->data + ret->data_len + 1;
    return 0;
}

/* The last line, "end COUNT", and the number of entries that it says. */
static int promised(const char *text, size_t len, const char **last, uint32_t *ret)
{
    const char *end = text + len, *at = end;

    if (len < sizeof(magic) || end[-1] != '\n')
        return -EINVAL;
    for (at--; at > text && at[-1] != '\n'; at--)
        ;
    if (end - at < 6 || memcmp(at, "end ", 4) != 0)
        return -EINVAL;
    *last = at;
    at += 4;
    if (number(&at, end, ret) < 0 || at != end - 1)
        return -EINVAL;
    return 0;
}

/* Whether an entry says no more than that its path is there. */
static bool is_bare(const struct pack_entry *at)
{
    return at->type == 'd' && !at->data_len;
}

static int index_entries(struct pack *p, const char *name, const char *text, const char *last,
                         struct err *e)
{
    const char *at = text + sizeof(magic) - 1;

    for (size_t i = 0; i < p->count; i++) {
        uint32_t *slot;

        if (entry(&at, last, &p->entries[i]) < 0)
            return err_set(e, -EINVAL,
                           "%s: damaged at byte %zd (entry %zu of %zu); record it again", name,
                           at - text, i + 1, p->count);
        slot = slot_of(p, p->entries[i].path, p->entries[i].path_len);
        if (!*slot || is_bare(&p->entries[*slot - 1]))
            *slot = (uint32_t)i + 1;
    }
    if (at != last)
        return err_set(e, -EINVAL,
                       "%s: has more entries than the %zu that its last line says; "
                       "record it again",
                       name, p->count);
    return 0;
}

int pack_open(struct pack **ret, const char *name, const char *text, size_t len, struct err *e)
{
    CLEANUP(pack_closep) struct pack *p = NULL;
    const char *last;
    uint32_t count;
    size_t slots = 16;
    int rc;

    if (len < sizeof(magic) - 1 || memcmp(text, magic, sizeof(magic) - 1) != 0)
        return err_set(e, -EINVAL, "%s: is no recording (the first line is not 'brim-pack 1')",
                       name);
    if (promised(text, len, &last, &count) < 0)
        return err_set(e, -EINVAL,
                       "%s: is cut off (the last line is not 'end COUNT'); record it again", name);
    if (count > len / 6) /* an entry has at least six bytes */
        return err_set(e, -EINVAL, "%s: is cut off (%u entries are promised); record it again",
                       name, count);
    while (slots < (size_t)count * 2)
        slots *= 2;
    p = calloc(1, sizeof(*p));
    if (!p)
        return err_nomem(e);
    p->count = count;
    p->mask = slots - 1;
    p->entries = calloc(count + 1, sizeof(*p->entries));
    p->slots = calloc(slots, sizeof(*p->slots));
    if (!p->entries || !p->slots)
        return err_nomem(e);
    rc = index_entries(p, name, text, last, e);
    if (rc < 0)
        return rc;
    *ret = steal(&p);
    return 0;
}

void pack_close(struct pack *p)
{
    if (!p)
        return;
    free(p->entries);
    free(p->slots);
    free(p);
}

const struct pack_entry *pack_find(const struct pack *p, const char *path)
{
    uint32_t slot = *slot_of(p, path, strlen(path));

    return slot ? &p->entries[slot - 1] : NULL;
}

size_t pack_count(const struct pack *p)
{
    return p->count;
}

/* Text that a person can read and a line editor keeps as it is. */
static bool is_text(const unsigned char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((data[i] < ' ' && data[i] != '\n' && data[i] != '\t') || data[i] == 0x7f)
            return false;
    return true;
}

static void add_hex(struct str *out, const unsigned char *data, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t run = 0;

        while (i + run < len && !data[i + run])
            run++;
        if (run >= ZERO_RUN) {
            str_addf(out, "(%zu)", run);
            i += run;
        } else {
            str_addf(out, "%02x", data[i++]);
        }
    }
}

void pack_begin(struct str *out)
{
    str_add(out, magic);
}

void pack_add(struct str *out, char type, const char *path, const void *data, size_t len)
{
    CLEANUP(str_done) struct str hex = STR_INIT(ENTRY_MAX);

    if (type == 'f' && !is_text(data, len)) {
        add_hex(&hex, data, len);
        str_fail(out, str_error(&hex));
        type = 'x';
        data = str_text(&hex);
        len = hex.len;
    }
    if (len > ENTRY_MAX)
        str_fail(out, -EFBIG);
    str_addf(out, "%c %zu %s\n", type, len, path);
    str_add_n(out, data, len);
    str_add_char(out, '\n');
}

void pack_end(struct str *out, size_t count)
{
    str_addf(out, "end %zu\n", count);
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

long pack_unhex(const struct pack_entry *at, void *buf, size_t size)
{
    const char *text = at->data, *end = text + at->data_len;
    unsigned char *to = buf;
    size_t len = 0;

    while (text < end && len < size) {
        uint32_t run;
        int high, low;

        if (*text == '(') {
            text++;
            if (number(&text, end, &run) < 0 || text == end || *text++ != ')')
                return -EINVAL;
            run = (uint32_t)MIN((size_t)run, size - len);
            memset(to + len, 0, run);
            len += run;
            continue;
        }
        high = nibble(*text++);
        low = text < end ? nibble(*text++) : -1;
        if (high < 0 || low < 0)
            return -EINVAL;
        to[len++] = (unsigned char)(high << 4 | low);
    }
    return (long)len;
}
