/* What the readers of lines of the kernel's log share (kmsg.c has their table). */
#ifndef BRIM_PROBE_KERNEL_KMSG_RULE_H
#define BRIM_PROBE_KERNEL_KMSG_RULE_H
#include "probe/kernel/kmsg.h"

struct kmsg_rule;

/* A line that a rule fits. */
struct kmsg_line {
    const struct kmsg *record;
    const char *at; /* behind the rule's words */
    const struct kmsg_rule *rule;
    const struct faults *faults;
};

struct kmsg_rule {
    const char *words; /* the line has them */
    const char *also;  /* and these, anywhere; NULL */
    const char *kind;
    enum severity severity;
    bool over;
    /* Make an event of the line: kind, severity, code and over are set as the rule has them. False
     * when it is none after all. */
    bool (*read)(const struct kmsg_line *l, struct event *e);
    const char *text;   /* for readers that have no sentence of their own */
    const char *action; /* "" */
};

/* NVIDIA's XIDs and SXIDs. */
bool kmsg_read_xid(const struct kmsg_line *l, struct event *e);
bool kmsg_read_sxid(const struct kmsg_line *l, struct event *e);

/* Lines of PCIe, memory and CPUs. */
bool kmsg_read_aer(const struct kmsg_line *l, struct event *e);
bool kmsg_read_mce(const struct kmsg_line *l, struct event *e);
bool kmsg_read_edac(const struct kmsg_line *l, struct event *e);

/* Lines of processes. */
bool kmsg_read_oom(const struct kmsg_line *l, struct event *e);
bool kmsg_read_hung(const struct kmsg_line *l, struct event *e);

/* Lines whose thing stands behind the words, up to a blank or one of ":,()" ("dev sda,"); or in
 * front of them ("eth0: NIC" Link is Down); or is a CPU, whose number stands behind the words or
 * behind "CPU" (thing "cpu3"); or is the PCI address in the line, or the device of the record; or
 * is none. The text is the rule's, with the thing in place of its %s. */
bool kmsg_read_behind(const struct kmsg_line *l, struct event *e);
bool kmsg_read_before(const struct kmsg_line *l, struct event *e);
bool kmsg_read_cpu(const struct kmsg_line *l, struct event *e);
bool kmsg_read_device(const struct kmsg_line *l, struct event *e);
bool kmsg_read_host(const struct kmsg_line *l, struct event *e);
bool kmsg_read_lustre(const struct kmsg_line *l, struct event *e); /* the target */

/* Write text, in which the first "%s" stands for name. What does not fit is cut. */
void kmsg_say(char *out, size_t size, const char *text, const char *name);

/* A PCI address at text, with or without domain's digits in capitals and with or without function
 * ("0000:C1:00"), as "0000:c1:00.0": how many characters it took, 0 when there is none. */
size_t kmsg_pci(const char *text, char out[EVENT_THING]);

/* The first PCI address anywhere in text; false when there is none. */
bool kmsg_find_pci(const char *text, char out[EVENT_THING]);

#endif
