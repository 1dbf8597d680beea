#include "probe/kernel/kparse.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"

/* The decimal number that text starts with. */
static double leading_number(const char *text)
{
    char word[32];
    double value;

    snprintf(word, sizeof(word), "%.*s", (int)strspn(text, "0123456789."), text);
    return parse_double(word, &value) < 0 ? -1 : value;
}

double kparse_gts(const char *text)
{
    return strstr(text, "GT/s") ? leading_number(text) : -1;
}

double kparse_gbps(const char *text)
{
    return strstr(text, "Gb/sec") ? leading_number(text) : -1;
}

/* The start of the next line, or NULL at the end of the text. */
static const char *next_line(const char *at)
{
    at = strchr(at, '\n');
    return at && at[1] ? at + 1 : NULL;
}

/* The 64-bit number at text after blanks, -1 when there is none. */
static int64_t number_at(const char *text)
{
    char word[32];
    int64_t value;

    text += strspn(text, " \t");
    snprintf(word, sizeof(word), "%.*s", (int)strspn(text, "0123456789"), text);
    return parse_i64(word, &value) < 0 ? -1 : value;
}

/* kB to bytes, without overflow. */
static int64_t kilobytes(int64_t kb)
{
    return kb < 0 || kb > INT64_MAX / 1024 ? -1 : kb * 1024;
}

int64_t kparse_meminfo(const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *at = text; at; at = next_line(at)) {
        const char *word = at;

        if (!strncmp(word, "Node ", 5)) {
            word += 5 + strspn(word + 5, "0123456789");
            word += strspn(word, " ");
        }
        if (!strncmp(word, key, len) && word[len] == ':')
            return kilobytes(number_at(word + len + 1));
    }
    return -1;
}

int64_t kparse_limit(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = text; at; at = next_line(at)) {
        if (strncmp(at, name, len) != 0)
            continue;
        at += len;
        at += strspn(at, " ");
        return !strncmp(at, "unlimited", 9) ? INT64_MAX : number_at(at);
    }
    return -1;
}

/* "8g", "65536k", "67108864", "50%" of the memory: the sizes of tmpfs(5). */
static int64_t tmpfs_size(const char *text, int64_t memory_b)
{
    int64_t value = number_at(text);
    char unit = text[strspn(text, "0123456789")];
    int shift = (unit | 32) == 'k' ? 10 : (unit | 32) == 'm' ? 20 : (unit | 32) == 'g' ? 30 : 0;

    if (value < 0)
        return -1;
    if (unit == '%' && (memory_b < 0 || value > 1000))
        return -1;
    if (unit == '%')
        return memory_b > INT64_MAX / 1000 ? INT64_MAX : memory_b * value / 100;
    return value > INT64_MAX >> shift ? INT64_MAX : value << shift;
}

int64_t kparse_tmpfs(const char *mounts, const char *at, int64_t memory_b)
{
    char options[512], where[256], type[32];
    int64_t size = -1;

    for (const char *line = mounts; line; line = next_line(line)) {
        const char *option;

        if (sscanf(line, "%*s %255s %31s %511s", where, type, options) != 3 ||
            strcmp(where, at) != 0)
            continue;
        option = strstr(options, "size=");
        if (option && (option == options || option[-1] == ','))
            size = tmpfs_size(option + 5, memory_b);
        else
            size = strcmp(type, "tmpfs") || memory_b < 0 ? -1 : memory_b / 2;
    }
    return size; /* the last mount on a place hides the others */
}

int64_t kparse_swaps(const char *text)
{
    int64_t sum = 0;
    char size[32];

    for (const char *at = next_line(text); at; at = next_line(at)) {
        int64_t kb;

        if (sscanf(at, "%*s %*s %31s", size) != 1)
            continue;
        kb = kilobytes(number_at(size));
        if (kb > 0 && sum < INT64_MAX - kb)
            sum += kb;
    }
    return sum;
}

void kparse_choice(const char *text, char *buf, size_t size)
{
    const char *open = strchr(text, '[');
    const char *from = open ? open + 1 : text;

    snprintf(buf, size, "%.*s", (int)strcspn(from, "]\n"), from);
}

/* The text behind "KEY\t: " on its line; NULL when there is none. */
static const char *field(const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *at = text; at; at = next_line(at)) {
        const char *value = at + len;

        if (strncmp(at, key, len) != 0)
            continue;
        value += strspn(value, " \t");
        if (*value == ':')
            return value + 1 + strspn(value + 1, " \t");
    }
    return NULL;
}

int kparse_field(const char *text, const char *key, char *buf, size_t size)
{
    const char *value = field(text, key);
    int len;

    if (!value)
        return 0;
    len = (int)strcspn(value, "\n");
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        len--;
    snprintf(buf, size, "%.*s", len, value);
    return 1;
}

bool kparse_has_flag(const char *text, const char *key, const char *word)
{
    const char *at = field(text, key);
    size_t len = strlen(word);

    while (at && *at && *at != '\n') {
        size_t here = strcspn(at, " \n");

        if (here == len && !memcmp(at, word, len))
            return true;
        at += here;
        at += strspn(at, " ");
    }
    return false;
}

int64_t kparse_property(const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *at = text; at; at = next_line(at))
        if (!strncmp(at, key, len) && at[len] == ' ')
            return number_at(at + len);
    return -1;
}
