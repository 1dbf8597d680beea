#include "probe/kernel/kmsg_rule.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parse.h"

void kmsg_say(char *out, size_t size, const char *text, const char *name)
{
    const char *at = strstr(text, "%s");

    if (at)
        snprintf(out, size, "%.*s%s%s", (int)(at - text), text, name, at + 2);
    else
        snprintf(out, size, "%s", text);
}

/* n hexadecimal digits at text. */
static bool is_hex(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

size_t kmsg_pci(const char *text, char out[EVENT_THING])
{
    static const size_t domain = 4, bus = 2, device = 2;
    size_t len = domain + 1 + bus + 1 + device;

    out[0] = 0;
    if (strnlen(text, len) < len || !is_hex(text, domain) || text[4] != ':' ||
        !is_hex(text + 5, bus) || text[7] != ':' || !is_hex(text + 8, device))
        return 0;
    if (text[len] == '.' && text[len + 1] >= '0' && text[len + 1] <= '7')
        len += 2;
    else if (isxdigit((unsigned char)text[len]))
        return 0;
    snprintf(out, EVENT_THING, "%.*s%s", (int)len, text, text[10] == '.' && len > 10 ? "" : ".0");
    for (char *p = out; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return len;
}

bool kmsg_find_pci(const char *text, char out[EVENT_THING])
{
    for (const char *p = text; *p; p++) {
        if (p > text && isxdigit((unsigned char)p[-1]))
            continue;
        if (kmsg_pci(p, out))
            return true;
    }
    return false;
}

/* The rule's sentence on the event's thing, and its action. */
static void say(const struct kmsg_line *l, struct event *e, const char *nameless)
{
    kmsg_say(e->text, sizeof(e->text), l->rule->text, *e->thing ? e->thing : nameless);
    snprintf(e->action, sizeof(e->action), "%s", l->rule->action);
}

bool kmsg_read_behind(const struct kmsg_line *l, struct event *e)
{
    size_t len = strcspn(l->at, " ,:();");

    if (!len)
        return false;
    snprintf(e->thing, sizeof(e->thing), "%.*s", (int)len, l->at);
    say(l, e, "");
    return true;
}

/* "mlx5_core 0000:17:00.0 ens1np0: Link down", "igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Up":
 * the last word in front but for "NIC". */
bool kmsg_read_before(const struct kmsg_line *l, struct event *e)
{
    const char *text = l->record->text, *end = l->at - strlen(l->rule->words), *start;

    if (end - text >= 4 && !memcmp(end - 4, " NIC", 4))
        end -= 4;
    while (end > text && (end[-1] == ' ' || end[-1] == ':'))
        end--;
    start = end;
    while (start > text && start[-1] != ' ')
        start--;
    if (start == end)
        return false;
    snprintf(e->thing, sizeof(e->thing), "%.*s", (int)(end - start), start);
    say(l, e, "");
    return true;
}

bool kmsg_read_cpu(const struct kmsg_line *l, struct event *e)
{
    const char *cpu = strstr(l->record->text, "CPU");
    uint64_t n;

    if (!parse_digits(l->at, 10, 6, &n) && (!cpu || !parse_digits(cpu + 3, 10, 6, &n)))
        return false;
    snprintf(e->thing, sizeof(e->thing), "cpu%d", (int)n);
    say(l, e, "");
    return true;
}

bool kmsg_read_device(const struct kmsg_line *l, struct event *e)
{
    if (!kmsg_find_pci(l->record->text, e->thing))
        (void)kmsg_find_pci(l->record->device, e->thing);
    say(l, e, "of this node");
    return true;
}

bool kmsg_read_host(const struct kmsg_line *l, struct event *e)
{
    say(l, e, "");
    return true;
}

/* "Connection to scratch-OST0001 (at 10.0.0.1@o2ib) was lost", "scratch-OST0001-osc-ffff9a:
 * Connection restored to 10.0.0.1@o2ib (at 10.0.0.1@o2ib)": some versions name only the address in
 * the second, so the target is taken from what stands in front of it, up to "-osc-" or "-mdc-". */
bool kmsg_read_lustre(const struct kmsg_line *l, struct event *e)
{
    const char *at = strstr(l->at, "onnection "), *name, *kind;
    size_t len;

    if (!at)
        return false;
    if (!l->rule->over) {
        name = at + strlen("onnection to ");
        len = strcspn(name, " :(,");
    } else {
        at = at - 1;
        while (at > l->at && (at[-1] == ' ' || at[-1] == ':'))
            at--;
        for (name = at; name > l->at && name[-1] != ' '; name--)
            ;
        len = (size_t)(at - name);
        kind = memmem(name, len, "-osc-", 5);
        kind = kind ? kind : memmem(name, len, "-mdc-", 5);
        len = kind ? (size_t)(kind - name) : len;
    }
    if (!len)
        return false;
    snprintf(e->thing, sizeof(e->thing), "%.*s", (int)len, name);
    say(l, e, "");
    return true;
}
