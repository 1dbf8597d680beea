/* Checks that like devices of one node carry like versions. */
#include <stdio.h>
#include <string.h>

#include "diagnose/audit/check.h"

static const char *vbios_of(const struct device *d)
{
    return d->kind == DEVICE_ACCELERATOR ? d->acc.vbios : NULL;
}

static const char *nic_firmware_of(const struct device *d)
{
    return d->kind == DEVICE_NIC ? d->nic.firmware : NULL;
}

static bool is_like(const struct device *a, const struct device *b)
{
    return a->product && b->product && !strcmp(a->product, b->product);
}

/* How many devices of d's product carry that text. */
static int count(const struct node *n, const struct device *d, const char *text,
                 const char *(*of)(const struct device *))
{
    int sum = 0;

    for (size_t i = 0; i < n->n_devices; i++) {
        const char *other = of(&n->devices[i]);

        sum += other && !strcmp(other, text) && is_like(&n->devices[i], d);
    }
    return sum;
}

/* The text that more of d's like carry than its own; NULL when there is none. */
static const char *more_usual(const struct node *n, const struct device *d, const char *own,
                              const char *(*of)(const struct device *))
{
    const char *usual = NULL;
    int most = 0;

    for (size_t i = 0; i < n->n_devices; i++) {
        const char *text = of(&n->devices[i]);
        int carriers;

        if (!text || !strcmp(text, own) || !is_like(&n->devices[i], d))
            continue;
        carriers = count(n, d, text, of);
        if (!most)
            most = count(n, d, own, of);
        if (carriers > most) {
            most = carriers;
            usual = text;
        }
    }
    return usual;
}

static bool versions(struct audit *a, const char *what, const char *action,
                     const char *(*of)(const struct device *))
{
    size_t seen = 0;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        const char *own = of(d), *usual;
        char label[LABEL_TEXT];
        struct finding *f;

        if (!own)
            continue;
        seen++;
        usual = more_usual(a->n, d, own, of);
        if (!usual)
            continue;
        f = check_add(a, SEVERITY_NOTE, "%s has another %s than its like",
                      check_label(a->n, (int)i, label), what);
        check_text(a, &f->evidence, "%s; %d others have %s", own, count(a->n, d, usual, of), usual);
        check_text(a, &f->effect,
                   "limits, clocks and fixes differ: it may be the slow or the failing one");
        check_text(a, &f->action, "%s", action);
    }
    return seen > 1;
}

static bool vbios_check(struct audit *a)
{
    return versions(a, "VBIOS", "ask the vendor for the matching VBIOS, or swap the board",
                    vbios_of);
}

static bool nic_firmware_check(struct audit *a)
{
    return versions(a, "firmware", "mlxfwmanager --online -u -d DEVICE, then reboot",
                    nic_firmware_of);
}

const struct check checks_same[] = {
    { "vbios", vbios_check },               /* like accelerators have one VBIOS */
    { "nic-firmware", nic_firmware_check }, /* like NICs have one firmware */
    { NULL, NULL },
};
