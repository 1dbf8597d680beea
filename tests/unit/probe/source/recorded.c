/* Recorded machines in which one file says something else, cannot be read or is gone: what is known
 * of the machine, where that is not what was known before.
 *
 *     t_probe_source_recorded FILE PACK... */
#include <ctype.h>

#include "golden.h"
#include "new_lines.h"
#include "probe/kernel/tree.h"
#include "probe/sources.h"
#include "render/machine/render.h"

enum { ROOM = 16 << 20, PATHS = 1024, PATH = 256 };

/* An entry of a pack: where it begins, where its bytes are, where the next one begins. */
struct entry {
    const char *at, *data, *next;
    char path[PATH];
    size_t len;
    char type;
};

static const struct catalogue no_catalogue = { .n_products = 0 };

/* The entry that begins there. Whether it is one. */
static bool entry_read(const char *at, struct entry *ret)
{
    int used = 0;

    *ret = (struct entry){ .at = at };
    if (sscanf(at, "%c %zu %255[^\n]%n", &ret->type, &ret->len, ret->path, &used) < 3)
        return false;
    ret->data = at + used + 1;
    ret->next = ret->data + ret->len + 1;
    return true;
}

static void tell(const char *name, const struct str *pack, struct str *out)
{
    struct probe p = { .catalogue = &no_catalogue };
    CLEANUP(node_freep) struct node *n = NULL;
    struct err e = { "" };

    str_reset(out);
    if (tree_open_pack(&p.tree, name, str_text(pack), pack->len, &e) != 0 ||
        probe_node(&p, &n, &e) != 0)
        str_addf(out, "%s\n", e.text);
    for (size_t i = 0; i < p.n_troubles && i < TROUBLES_MAX; i++)
        str_addf(out, "trouble: %s\n", p.troubles[i].text);
    tree_close(p.tree);
    if (n && machine_renderer_find("json")->render(
                 &(struct machine_view){ .machine = &(struct machine){ .nodes = &n, .n_nodes = 1 },
                                         .catalogue = &no_catalogue },
                 out) != 0)
        abort();
}

/* Paths that differ in numbers alone are of one kind. */
static bool is_new(char (*kinds)[PATH], size_t *n, const char *path)
{
    char kind[PATH];
    size_t len = 0;

    for (; *path && len < PATH - 1; path++)
        if (!isxdigit(*path) || !len || kind[len - 1] != '0')
            kind[len++] = isxdigit(*path) ? '0' : *path;
    kind[len] = 0;
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(kinds[i], kind))
            return false;
    if (*n == PATHS)
        abort();
    memcpy(kinds[(*n)++], kind, len + 1);
    return true;
}

/* The pack with another entry in that place, told where it is not what was told before. */
static void change(const char *name, const char *text, const struct entry *of,
                   const struct entry *by, const char *what, const struct str *before,
                   struct str *out)
{
    static struct str pack = STR_INIT(ROOM), now = STR_INIT(ROOM);

    str_reset(&pack);
    str_add_n(&pack, text, (size_t)(of->at - text));
    str_addf(&pack, "%c %zu %s\n", by->type, by->len, of->path);
    str_add_n(&pack, by->data, by->len);
    str_add(&pack, "\n");
    str_add(&pack, of->next);
    tell(name, &pack, &now);
    if (strcmp(str_text(&now), str_text(before)) == 0)
        return;
    str_addf(out, "%s %s\n", of->path, what);
    new_lines(out, str_text(&now), str_text(before));
}

/* A file whose lines are keys and values: each key's value in turn, where it stands first. */
static void change_lines(const char *name, const char *text, const struct entry *of,
                         const struct str *before, struct str *out)
{
    static char keys[PATHS][PATH];
    size_t n_keys = 0;

    static const char *const values[] = { "", "0", "1", "-1", "2", "x", "65536" };

    for (const char *line = of->data; line < of->data + of->len; line += strcspn(line, "\n") + 1) {
        size_t len = strcspn(line, "\n"), key = strcspn(line, "=:\n");

        char word[PATH];

        snprintf(word, sizeof(word), "%.*s", (int)key, line);
        if (key == len || !is_new(keys, &n_keys, word))
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
            CLEANUP(str_done) struct str data = STR_INIT(ROOM), what = STR_INIT(PATH);

            str_add_n(&data, of->data, (size_t)(line - of->data) + key + 1);
            str_addf(&data, " %s", values[i]);
            str_add_n(&data, line + len, (size_t)(of->data + of->len - line) - len);
            str_addf(&what, "%.*s= %s", (int)MIN(key, (size_t)40), line, values[i]);
            change(name, text, of,
                   &(struct entry){ .type = 'f', .data = str_text(&data), .len = data.len },
                   str_text(&what), before, out);
        }
    }
}

static void change_whole(const char *name, const char *text, const struct entry *of,
                         const struct str *before, struct str *out)
{
    static const struct {
        char type;
        const char *data;
    } values[] = { { 'e', "2" },     { 'e', "13" },     { 'f', "" },      { 'f', "0\n" },
                   { 'f', "1\n" },   { 'f', "-1\n" },   { 'f', "2\n" },   { 'f', "x y\n" },
                   { 'f', "65536" }, { 'f', "0x1g\n" }, { 'f', ":::\n" }, { 'f', "0-1,3\n" } };

    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        char what[32];

        if (of->type != 'f' && values[i].type == 'f' && values[i].data[0])
            continue;
        snprintf(what, sizeof(what), "%c '%s", values[i].type, values[i].data);
        what[strcspn(what, "\n")] = 0;
        change(name, text, of,
               &(struct entry){ .type = values[i].type == 'f' ? of->type : 'e',
                                .data = values[i].data,
                                .len = strlen(values[i].data) },
               what, before, out);
    }
}

static void sweep(const char *path, struct str *out)
{
    static char kinds[PATHS][PATH];
    CLEANUP(str_done) struct str before = STR_INIT(ROOM), pack = STR_INIT(ROOM);
    CLEANUP(freep) char *text = golden_read(path);
    struct entry one;
    size_t n = 0;

    str_add(&pack, text);
    tell("m", &pack, &before);
    str_addf(out, "== %s\n", strstr(path, "machines/"));
    for (const char *at = text + strcspn(text, "\n") + 1; entry_read(at, &one); at = one.next) {
        if (!is_new(kinds, &n, one.path))
            continue;
        change_whole("m", text, &one, &before, out);
        if (one.type == 'f' && memchr(one.data, '\n', one.len ? one.len - 1 : 0))
            change_lines("m", text, &one, &before, out);
    }
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 3)
        return 1;
    for (int i = 2; i < argc; i++)
        sweep(argv[i], &out);
    is_int(str_error(&out), 0, "the text of all machines has room");
    golden(argv[1], str_text(&out));
    return done();
}
