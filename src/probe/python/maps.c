#include "probe/python/maps.h"

#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parse.h"

/* Skip blanks, or what is none. */
static const char *skip(const char *c, bool blanks)
{
    while (*c && *c != '\n' && (*c == ' ') == blanks)
        c++;
    return c;
}

/* "from-to rights offset device inode   path" of a file's begin. */
static bool parse_line(const char *line, struct python_map *ret)
{
    uint64_t offset;
    int digits = parse_digits(line, 16, 16, &ret->from);

    if (!digits || line[digits] != '-')
        return false;
    line += digits + 1;
    if (!parse_digits(line, 16, 16, &ret->to))
        return false;
    line = skip(skip(skip(line, false), true), false); /* the rights are behind */
    line = skip(line, true);
    if (!parse_digits(line, 16, 16, &offset) || offset)
        return false;
    for (int i = 0; i < 3; i++) /* offset, device, inode */
        line = skip(skip(line, false), true);
    ret->path = line;
    ret->path_len = strcspn(line, "\n");
    return *line == '/';
}

/* libpython3.11.so.1.0, or python3.11 where a loader was told to run it. */
static bool has_its_name(const struct python_map *map)
{
    static const char *const names[] = { "libpython", "python3" };
    const char *base = (const char *)memrchr(map->path, '/', map->path_len) + 1;
    size_t len = map->path_len - (size_t)(base - map->path);

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (len >= strlen(names[i]) && !strncmp(base, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool is_program(const struct python_map *map, const char *program)
{
    return map->path_len == strlen(program) && !strncmp(map->path, program, map->path_len);
}

static size_t add_those(const char *text, const char *program, struct python_map *ret, size_t most)
{
    size_t n = 0;

    while (*text && n < most) {
        struct python_map map;

        if (parse_line(text, &map) && (program ? is_program(&map, program) : has_its_name(&map)))
            ret[n++] = map;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return n;
}

size_t python_maps_find(const char *text, const char *program, struct python_map *ret, size_t most)
{
    size_t n = add_those(text, NULL, ret, most);

    return n + add_those(text, program, ret + n, MIN(most - n, (size_t)1));
}
