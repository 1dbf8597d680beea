/* What NVIDIA's drivers say:
 *
 *     NVRM: Xid (PCI:0000:05:00): 79, pid=1234, name=python, GPU has fallen off the bus.
 *     NVRM: Xid (PCI:0000:05:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x0 ...)
 *     nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parse.h"
#include "probe/kernel/kmsg_rule.h"

enum { XID_LINK_FIRST = 144, XID_LINK_LAST = 150, XID_RECOVERY = 154, NAME = 32, WHO = 64 };

/* "PCI:0000:05:00): 79, " at *at: address and number; *at then stands behind the comma. */
static bool take_head(const char **at, char pci[EVENT_THING], int *code)
{
    const char *p = *at;
    uint64_t n;
    size_t len;

    if (!strncmp(p, "PCI:", 4))
        p += 4;
    len = kmsg_pci(p, pci);
    p = strstr(p, "): ");
    if (!len || !p)
        return false;
    p += 3;
    len = (size_t)parse_digits(p, 10, 9, &n);
    if (!len)
        return false;
    p += len;
    p += strspn(p, ", ");
    *code = (int)n;
    *at = p;
    return true;
}

/* Write an action with the GPU's address in it. */
static void say_action(struct event *e, const char *action)
{
    static const char gpu[] = "-i GPU";
    const char *at = strstr(action, gpu);

    if (!at)
        snprintf(e->action, sizeof(e->action), "%s", action);
    else
        snprintf(e->action, sizeof(e->action), "%.*s-i %s%s", (int)(at - action), action, e->thing,
                 at + strlen(gpu));
}

/* The value of "key=value, " at *at, up to one of end; "" when the key is not there. */
static void take_value(const char **at, const char *key, const char *end, char value[NAME])
{
    const char *p = *at;
    size_t len = strlen(key);

    value[0] = 0;
    if (strncmp(p, key, len) != 0)
        return;
    p += len;
    len = MIN(strcspn(p, end), NAME - 1);
    memcpy(value, p, len);
    value[len] = 0;
    p += strcspn(p, ",");
    *at = p + strspn(p, ", ");
}

/* "pid=1234, name=python, " at *at, either of which may be absent or unknown: who it was,
 * " (python, pid 1234)" or "". */
static void take_process(const char **at, char who[WHO])
{
    char pid[NAME], name[NAME];

    take_value(at, "pid=", ", ", pid);
    take_value(at, "name=", ",", name);
    who[0] = 0;
    if (*name && *name != '<' && *pid && *pid != '\'')
        snprintf(who, WHO, " (%.24s, pid %.20s)", name, pid);
    else if (*pid && *pid != '\'')
        snprintf(who, WHO, " (pid %.20s)", pid);
}

/* The two words in parentheses behind an XID of NVLink 5. */
static bool find_words(const char *text, uint32_t *info, uint32_t *status)
{
    const char *p = strstr(text, "(0x");
    uint64_t first, second;
    size_t len = p ? (size_t)parse_digits(p + 3, 16, 8, &first) : 0;

    if (!len || strncmp(p + 3 + len, " 0x", 3) != 0 || !parse_digits(p + 6 + len, 16, 8, &second))
        return false;
    *info = (uint32_t)first;
    *status = (uint32_t)second;
    return true;
}

/* An XID of NVLink 5: the table decides what it means; where it has no rule, the driver's word. */
static void read_link(const struct kmsg_line *l, const char *rest, struct event *e)
{
    uint32_t info = 0, status = 0;
    bool words = find_words(rest, &info, &status);
    const struct fault_link *rule = words ? fault_link(l->faults, e->code, info, status) : NULL;
    const char *link = strstr(rest, "Link ");
    uint64_t n;

    if (!rule) {
        if (strstr(rest, " Fatal "))
            e->severity = SEVERITY_CRITICAL;
        return;
    }
    e->severity = rule->severity;
    if (link && parse_digits(link + 5, 10, 4, &n))
        snprintf(e->text, sizeof(e->text), "XID %d, NVLink %d: %s (%s, sub-code %u, status 0x%08x)",
                 e->code, (int)n, rule->meaning, rule->unit, rule->sub, status);
    else
        snprintf(e->text, sizeof(e->text), "XID %d: %s (%s, sub-code %u, status 0x%08x)", e->code,
                 rule->meaning, rule->unit, rule->sub, status);
    say_action(e, rule->action);
}

/* "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)": the driver's own
 * verdict; numbers are nvmlDeviceGpuRecoveryAction_t of nvml.h. */
static void read_recovery(const char *rest, struct event *e)
{
    static const char *const advice[] = {
        "no recovery is needed",
        "drain the node and reset the GPU: nvidia-smi --gpu-reset -i GPU",
        "drain and reboot the node",
        "stop what uses peer-to-peer on this GPU, then reset it: nvidia-smi --gpu-reset -i GPU",
        "let its programs end, then reset the GPU: nvidia-smi --gpu-reset -i GPU",
    };
    const char *to = strstr(rest, " to 0x");
    uint64_t n;

    if (!to || !parse_digits(to + 6, 16, 4, &n) || n >= ARRAY_SIZE(advice))
        return;
    e->severity = n ? SEVERITY_CRITICAL : SEVERITY_NOTE;
    e->over = n == 0;
    snprintf(e->text, sizeof(e->text), "XID %d: the driver's advice is now: %.*s", e->code,
             (int)strcspn(advice[n], ":"), advice[n]);
    say_action(e, n ? advice[n] : "");
}

bool kmsg_read_xid(const struct kmsg_line *l, struct event *e)
{
    const char *rest = l->at;
    const struct fault *f;
    char who[WHO];

    if (!take_head(&rest, e->thing, &e->code))
        return false;
    take_process(&rest, who);
    f = fault_xid(l->faults, e->code);
    if (!f) {
        snprintf(e->text, sizeof(e->text), "XID %d%s, which is newer than the table: %s", e->code,
                 who, rest);
        say_action(e, "look it up at docs.nvidia.com/deploy/xid-errors");
        return true;
    }
    e->severity = f->severity;
    snprintf(e->text, sizeof(e->text), "XID %d: %s%s%s%s", e->code, f->meaning, who,
             *rest ? "; the driver: " : "", rest);
    say_action(e, f->action);
    if (e->code >= XID_LINK_FIRST && e->code <= XID_LINK_LAST)
        read_link(l, rest, e);
    if (e->code == XID_RECOVERY)
        read_recovery(rest, e);
    return true;
}

bool kmsg_read_sxid(const struct kmsg_line *l, struct event *e)
{
    const char *rest = l->at;
    const struct fault *f;

    if (!take_head(&rest, e->thing, &e->code))
        return false;
    /* lines that follow the one that tells of it */
    if (!strncmp(rest, "Severity ", 9) || !strncmp(rest, "Data {", 6))
        return false;
    f = fault_sxid(l->faults, e->code);
    if (!f) {
        e->severity = strncmp(rest, "Fatal", 5) ? SEVERITY_WARNING : SEVERITY_CRITICAL;
        snprintf(e->text, sizeof(e->text), "SXID %d, which the table does not have: %s", e->code,
                 rest);
        say_action(e, "look it up in NVIDIA's fabric manager user guide");
        return true;
    }
    e->severity = f->severity;
    if (f->class == FAULT_MAYBE_FATAL && strncmp(rest, "Fatal", 5) != 0)
        e->severity = SEVERITY_WARNING;
    snprintf(e->text, sizeof(e->text), "SXID %d: %s%s%s", e->code, f->meaning,
             *rest ? "; the driver: " : "", rest);
    say_action(e, f->action);
    return true;
}
