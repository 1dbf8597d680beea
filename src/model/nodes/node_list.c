#include "model/nodes/node_list.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

enum { SLOTS = 1 << 15, DIGITS_MAX = 9, BRACKETS_MAX = 4 };

_Static_assert(SLOTS >= 2 * NODE_LIST_MAX, "slots are half empty at least");

static const char blanks[] = " \t\r\n";

/* ---- a list without doubles ---- */

/* FNV-1a */
static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325U;

    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3U;
    return h ^ h >> 32;
}

/* The slot that has this node, or the empty one where it belongs. */
static uint32_t *find_slot(const struct node_list *l, const char *text)
{
    size_t at = hash(text) & (SLOTS - 1);

    while (l->slots[at] && strcmp(l->nodes[l->slots[at] - 1].text, text) != 0)
        at = (at + 1) & (SLOTS - 1);
    return &l->slots[at];
}

/* Add one node, unless it is there. v6: name is an IPv6 address. */
static int add_node(struct node_list *l, struct arena *a, const char *name, unsigned port, bool v6,
                    struct err *e)
{
    char text[NODE_LIST_NAME + 16];
    struct node_list_node *node;
    uint32_t *slot;
    size_t len;

    if (!l->slots)
        l->slots = arena_alloc(a, SLOTS * sizeof(*l->slots));
    if (!l->slots)
        return err_nomem(e);
    len = (size_t)snprintf(text, sizeof(text), v6 ? "[%s]" : "%s", name);
    if (port != NODE_LIST_PORT)
        snprintf(text + len, sizeof(text) - len, ":%u", port);
    slot = find_slot(l, text);
    if (*slot)
        return 0;
    if (l->n == NODE_LIST_MAX)
        return err_set(e, -EINVAL, "more than %d nodes: ask fewer at a time", NODE_LIST_MAX);
    node = ARENA_PUSH(a, &l->nodes, &l->n);
    if (!node)
        return err_nomem(e);
    node->text = arena_strdup(a, text);
    node->name = arena_strdup(a, name);
    node->port = port;
    if (!node->text || !node->name) {
        l->n--;
        return err_nomem(e);
    }
    *slot = (uint32_t)l->n;
    return 0;
}

/* ---- one part: a name, an address, a range of names ---- */

/* A part of a list: what stands between two commas. */
struct part {
    struct node_list *list;
    struct arena *arena;
    const char *text; /* whole, for sentences */
    unsigned port;
    char name[NODE_LIST_NAME]; /* that is being made */
};

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static int add_name(struct part *p, size_t len, struct err *e)
{
    p->name[len] = '\0';
    if (len == 0 || !(isalnum((unsigned char)p->name[0]) || p->name[0] == '_'))
        return err_set(e, -EINVAL, "'%s' is no name of a node: names begin with a letter or digit",
                       p->text);
    return add_node(p->list, p->arena, p->name, p->port, false, e);
}

/* One range inside of brackets: "001-128" or "140". */
struct range {
    uint64_t first, last;
    int width;
};

/* Read a range at *at and go behind it. */
static bool read_range(const char **at, struct range *r)
{
    int len = parse_digits(*at, 10, DIGITS_MAX, &r->first);

    if (len <= 0)
        return false;
    r->width = len;
    r->last = r->first;
    *at += len;
    if (**at != '-')
        return true;
    len = parse_digits(*at + 1, 10, DIGITS_MAX, &r->last);
    *at += 1 + MAX(len, 0);
    return len > 0 && r->last >= r->first;
}

static int expand(struct part *p, const char *at, size_t len, unsigned depth, struct err *e);

/* The names of one bracket: at stands behind it. */
static int expand_ranges(struct part *p, const char *at, size_t len, unsigned depth, struct err *e)
{
    const char *end = strchr(at, ']');
    struct range r;
    int rc = 0;

    if (!end || depth == BRACKETS_MAX)
        return err_set(e, -EINVAL,
                       end ? "'%s' has too many brackets" : "'%s' lacks the bracket that ends it",
                       p->text);
    while (rc == 0) {
        if (!read_range(&at, &r) || (at != end && *at != ','))
            return err_set(e, -EINVAL, "'%s': in brackets stand numbers: n[001-128,140]", p->text);
        for (uint64_t i = r.first; i <= r.last && rc == 0; i++) {
            int digits = snprintf(p->name + len, sizeof(p->name) - len, "%0*u", r.width,
                                  (unsigned)i);

            if (digits < 0 || len + (size_t)digits >= sizeof(p->name))
                return err_set(e, -EINVAL, "a name of a node is too long: '%.60s...'", p->text);
            rc = expand(p, end + 1, len + (size_t)digits, depth + 1, e);
        }
        if (at++ == end)
            break;
    }
    return rc;
}

/* Add all names that begin with the 'len' characters of p->name and go on as 'at' says. */
static int expand(struct part *p, const char *at, size_t len, unsigned depth, struct err *e)
{
    for (; *at && *at != '['; at++) {
        if (!is_of_name(*at))
            return err_set(e, -EINVAL, "'%s' is no name of a node: letters, digits and -_. only",
                           p->text);
        if (len + 1 >= sizeof(p->name))
            return err_set(e, -EINVAL, "a name of a node is too long: '%.60s...'", p->text);
        p->name[len++] = *at;
    }
    return *at ? expand_ranges(p, at + 1, len, depth, e) : add_name(p, len, e);
}

/* "fd00::7", "fe80::1%eth0" */
static bool is_v6(const char *text)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr binary;
    size_t len = strcspn(text, "%");

    if (len >= sizeof(address))
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    for (const char *zone = text + len + 1; text[len] && *zone; zone++)
        if (!is_of_name(*zone))
            return false;
    return inet_pton(AF_INET6, address, &binary) == 1;
}

/* Take the port off the end of a part; behind brackets that begin it, or behind a name. */
static int take_port(struct part *p, char *text, struct err *e)
{
    char *colon = strrchr(text, ':'), *bracket = strrchr(text, ']');
    uint64_t port = 0;

    p->port = NODE_LIST_PORT;
    if (!colon || (bracket ? colon < bracket : text[0] == '['))
        return 0;
    if (colon != strchr(text, ':') && text[0] != '[')
        return err_set(e, -EINVAL, "'%s' has two colons: an address of IPv6 stands in brackets",
                       p->text);
    if (parse_digits(colon + 1, 10, 5, &port) != (int)strlen(colon + 1) || port < 1 ||
        port > UINT16_MAX)
        return err_set(e, -EINVAL, "'%s': a port is a number from 1 to 65535", p->text);
    p->port = (unsigned)port;
    *colon = '\0';
    return 0;
}

static int add_part(struct node_list *l, struct arena *a, char *text, const char *whole,
                    struct err *e)
{
    struct part p = { .list = l, .arena = a, .text = whole };
    size_t len;
    int rc = take_port(&p, text, e);

    if (rc < 0)
        return rc;
    if (text[0] != '[')
        return expand(&p, text, 0, 0, e);
    len = strlen(text);
    if (text[len - 1] == ']')
        text[len - 1] = '\0';
    if (len < 2 || text[len - 1] || !is_v6(text + 1))
        return err_set(e, -EINVAL, "'%s' is no address of IPv6", whole);
    return add_node(l, a, text + 1, p.port, true, e);
}

/* Where a part ends: at a comma or blank that stands in no bracket. */
static size_t part_length(const char *text)
{
    bool inside = false;
    size_t len = 0;

    for (; text[len]; len++) {
        if (text[len] == '[' || text[len] == ']')
            inside = text[len] == '[';
        else if (strchr(blanks, text[len]) || (text[len] == ',' && !inside))
            break;
    }
    return len;
}

int node_list_add(struct node_list *l, struct arena *a, const char *line, struct err *e)
{
    int rc = 0;

    for (const char *at = line; rc == 0; at += *at == ',') {
        char *part, *whole;
        size_t len;

        at += strspn(at, blanks);
        if (!*at || *at == '#')
            break;
        len = part_length(at);
        part = arena_strndup(a, at, len);
        whole = arena_strndup(a, at, len);
        if (!part || !whole)
            return err_nomem(e);
        if (len == 0)
            return err_set(e, -EINVAL, "a list of nodes has nothing before a comma");
        rc = add_part(l, a, part, whole, e);
        at += len;
        at += strspn(at, blanks);
    }
    return rc;
}

int node_list_read(struct node_list *l, struct arena *a, const char *file, const char *text,
                   size_t len, struct err *e)
{
    const char *end = text + len;
    int rc = 0;

    for (unsigned number = 1; text < end && rc == 0; number++) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        char *line = arena_strndup(a, text, (size_t)((next ? next : end) - text));

        if (!line)
            return err_nomem(e);
        rc = node_list_add(l, a, line, e);
        if (rc == -EINVAL)
            err_context(e, rc, "%s:%u: ", file, number);
        text = next ? next + 1 : end;
    }
    return rc;
}

/* ---- their order ---- */

static size_t digits_at(const char *text)
{
    size_t n = 0;

    while (isdigit((unsigned char)text[n]))
        n++;
    return n;
}

/* Of two texts that both have digits here, by the value; the pointers go behind them. */
static int compare_numbers(const char **a, const char **b)
{
    size_t n, m;
    int order;

    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    n = digits_at(*a);
    m = digits_at(*b);
    order = n != m ? COMPARE(n, m) : strncmp(*a, *b, n);
    *a += n;
    *b += m;
    return order;
}

static int compare_names(const char *a, const char *b)
{
    const char *x = a, *y = b;
    int order = 0;

    while (*x && *y && !order) {
        if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
            order = compare_numbers(&x, &y);
        } else {
            order = COMPARE((unsigned char)*x, (unsigned char)*y);
            x++;
            y++;
        }
    }
    if (!order)
        order = COMPARE((unsigned char)*x, (unsigned char)*y);
    return order ? order : strcmp(a, b); /* "n1" and "n01" */
}

int node_list_compare(const struct node_list_node *a, const struct node_list_node *b)
{
    int order = compare_names(a->name, b->name);

    return order ? order : COMPARE(a->port, b->port);
}
