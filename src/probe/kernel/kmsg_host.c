/* Lines of the kernel itself that need more than a sentence: PCIe errors, machine checks, memory
 * controllers, the OOM killer, hung tasks. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/str.h"
#include "probe/kernel/kmsg_rule.h"

/* "AER: Corrected error received: 0000:01:00.0", "AER: Uncorrected (Fatal) error received: ...";
 * from 6.9 on "AER: Correctable error message received from ...". What stands in front of it is
 * the root port, which counts when the line names no device. */
bool kmsg_read_aer(const struct kmsg_line *l, struct event *e)
{
    static const struct {
        const char *words;
        enum severity severity;
        const char *text, *action;
    } levels[] = {
        { "(Non-Fatal)", SEVERITY_WARNING, "PCIe: a request of %s failed, the link stays",
          "look at the program and the device; check slot and riser if it comes again" },
        { "(Fatal)", SEVERITY_CRITICAL, "PCIe: the link of %s failed for good",
          "drain and reboot the node; reseat the device, check slot and riser if it comes again" },
        { "Correct", SEVERITY_NOTE, "PCIe: an error at %s was corrected by sending again",
          "count it; reseat the device, check slot and riser when it grows" },
    };
    const char *name;

    for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
        if (!strstr(l->at, levels[i].words))
            continue;
        e->severity = levels[i].severity;
        if (!kmsg_find_pci(l->at, e->thing) && !kmsg_find_pci(l->record->text, e->thing))
            (void)kmsg_find_pci(l->record->device, e->thing);
        name = *e->thing ? e->thing : "a device";
        kmsg_say(e->text, sizeof(e->text), levels[i].text, name);
        snprintf(e->action, sizeof(e->action), "%s", levels[i].action);
        return true;
    }
    return false;
}

/* "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 5: be00000000800400", and several lines more
 * of the same: they are one event as long as they name one CPU. */
bool kmsg_read_mce(const struct kmsg_line *l, struct event *e)
{
    static const char *const grave[] = { "ncorrected", "ncorrectable", "fatal", "Fatal",
                                         "Machine Check Exception" };
    const char *cpu = strstr(l->record->text, "CPU ");
    uint64_t n;

    if (!cpu)
        cpu = strstr(l->record->text, "CPU:");
    for (size_t i = 0; i < ARRAY_SIZE(grave); i++)
        if (strstr(l->record->text, grave[i]))
            e->severity = SEVERITY_CRITICAL;
    if (cpu && parse_digits(cpu + 4, 10, 6, &n))
        snprintf(e->thing, sizeof(e->thing), "cpu%d", (int)n);
    snprintf(e->text, sizeof(e->text), "the hardware reports an error%s%s: %s",
             *e->thing ? " on " : "", e->thing, l->at + strspn(l->at, ": "));
    snprintf(e->action, sizeof(e->action), "%s",
             e->severity == SEVERITY_CRITICAL
                 ? "drain the node and have CPU, memory and board checked: ras-mc-ctl --errors"
                 : "count it: ras-mc-ctl --summary; plan a check when it grows");
    return true;
}

/* "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0 ...)".
 * Other lines of EDAC tell of its start. */
bool kmsg_read_edac(const struct kmsg_line *l, struct event *e)
{
    const char *p = l->at, *on;
    uint64_t controller, count;
    size_t len;
    bool lost;

    if (strncmp(p, "MC", 2) != 0)
        return false;
    len = (size_t)parse_digits(p + 2, 10, 4, &controller);
    if (!len || strncmp(p + 2 + len, ": ", 2) != 0)
        return false;
    p += 4 + len;
    len = (size_t)parse_digits(p, 10, 9, &count);
    lost = len && !strncmp(p + len, " UE ", 4);
    if (!lost && (!len || strncmp(p + len, " CE ", 4) != 0))
        return false;
    on = strstr(p, " on ");
    on = on ? on + 4 : "";
    if (*on)
        snprintf(e->thing, sizeof(e->thing), "%.*s", (int)strcspn(on, " ("), on);
    else
        snprintf(e->thing, sizeof(e->thing), "mc%d", (int)controller);
    e->severity = lost ? SEVERITY_CRITICAL : SEVERITY_WARNING;
    snprintf(e->text, sizeof(e->text), "memory controller %d %s %d error%s at %s", (int)controller,
             lost ? "could not correct" : "corrected", (int)count, str_plural(count), e->thing);
    snprintf(e->action, sizeof(e->action), "%s",
             lost
                 ? "drain the node and have the DIMM replaced: ras-mc-ctl --errors"
                 : "watch the DIMM, plan to replace it when the count grows: ras-mc-ctl --summary");
    return true;
}

/* "1234 (python) total-vm:100kB, anon-rss:2048kB, ..." behind "Killed process "; within a cgroup
 * the line starts with "Memory cgroup". The limit of a cgroup is its owner's business. */
bool kmsg_read_oom(const struct kmsg_line *l, struct event *e)
{
    bool group = strstr(l->record->text, "Memory cgroup") || strstr(l->record->text, "memcg");
    const char *p = l->at, *close, *rss;
    uint64_t pid, kb;
    size_t len = (size_t)parse_digits(p, 10, 10, &pid);
    char size[48] = "";

    p += len;
    if (!len)
        return false;
    p += strspn(p, ", ");
    if (*p == '(') {
        close = strrchr(p, ')');
        rss = strstr(p, ") ");
        close = rss ? rss : close;
        if (close)
            snprintf(e->thing, sizeof(e->thing), "%.*s", (int)(close - p - 1), p + 1);
    }
    rss = strstr(p, "anon-rss:");
    if (rss && parse_digits(rss + 9, 10, 15, &kb))
        snprintf(size, sizeof(size), ", which held %.1f GiB", (double)kb / (1 << 20));
    e->severity = group ? SEVERITY_WARNING : SEVERITY_CRITICAL;
    snprintf(e->text, sizeof(e->text), "%s: the kernel killed %s (pid %llu)%s",
             group ? "a control group reached its memory limit" : "the node ran out of memory",
             *e->thing ? e->thing : "a process", (unsigned long long)pid, size);
    snprintf(e->action, sizeof(e->action), "%s",
             group ? "raise the job's memory limit or lower what it uses: data workers, caches, "
                     "pinned memory"
                   : "lower what jobs use of the node's memory, or give them limits");
    return true;
}

/* "python:1234 blocked for more than 120 seconds." behind "INFO: task "; names may have colons. */
bool kmsg_read_hung(const struct kmsg_line *l, struct event *e)
{
    const char *end = strstr(l->at, " blocked for more than "), *colon = end, *seconds;
    uint64_t pid, n;

    if (!end)
        return false;
    while (colon > l->at && *colon != ':')
        colon--;
    seconds = end + strlen(" blocked for more than ");
    if (colon == l->at || !parse_digits(colon + 1, 10, 10, &pid) ||
        !parse_digits(seconds, 10, 9, &n))
        return false;
    snprintf(e->thing, sizeof(e->thing), "%.*s", (int)(colon - l->at), l->at);
    snprintf(e->text, sizeof(e->text), "%s (pid %llu) has waited in the kernel for more than %d s",
             e->thing, (unsigned long long)pid, (int)n);
    snprintf(
        e->action, sizeof(e->action),
        "see what it waits for: cat /proc/%llu/stack; mostly a disk, an NFS server or a driver",
        (unsigned long long)pid);
    return true;
}
