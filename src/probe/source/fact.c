#include "probe/source/fact.h"

#include <errno.h>
#include <string.h>

int fact_path(char buf[TREE_PATH], const char *dir, const char *file)
{
    size_t dir_len = strlen(dir), file_len = strlen(file);

    /* not snprintf: this runs a thousand times for each node of a fleet */
    if (dir_len + file_len + 2 > TREE_PATH)
        return -ENAMETOOLONG;
    memcpy(buf, dir, dir_len + 1);
    buf[dir_len] = '/';
    memcpy(buf + dir_len + 1, file, file_len + 1);
    return 0;
}

int fact_text(struct probe *p, struct node *n, const char *dir, const char *file, const char **to)
{
    char path[TREE_PATH], text[512];
    const char *copy;

    if (fact_path(path, dir, file) < 0 || tree_line(p->tree, path, text, sizeof(text)) <= 0)
        return 0;
    copy = arena_strdup(&n->arena, text);
    if (!copy)
        return -ENOMEM;
    *to = copy;
    return 0;
}

long long fact_number(struct probe *p, const char *dir, const char *file)
{
    char path[TREE_PATH];

    return fact_path(path, dir, file) < 0 ? ABSENT : tree_number(p->tree, path);
}

int fact_list(struct probe *p, const char *dir, struct str *out)
{
    return tree_list(p->tree, dir, out) == -ENOMEM ? -ENOMEM : 0;
}

char *fact_next(char **at)
{
    char *line = *at, *end;

    if (!line || !*line)
        return NULL;
    end = strchr(line, '\n');
    *at = end ? end + 1 : line + strlen(line);
    if (end)
        *end = 0;
    return line;
}
