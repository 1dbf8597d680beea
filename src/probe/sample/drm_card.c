#include "probe/sample/drm_card.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "probe/kernel/kept_file.h"
#include "probe/kernel/listing.h"
#include "probe/kernel/scan.h"

static const char class_dir[] = "sys/class/drm";

#define LOOK_NS (30 * NS_PER_S)

double drm_number(const char *text, double scale)
{
    return scan_number(&text) * scale;
}

void drm_line(char out[SIGNAL_THING], const char *text)
{
    snprintf(out, SIGNAL_THING, "%.*s", (int)strcspn(text, "\n"), text);
}

/* The path of a file of a card below the root; false when it is too long, or the card has no such
 * folder. */
static bool path_of(const struct drm_card *card, enum drm_where where, const char *path,
                    char out[DRM_PATH])
{
    char folder[DRM_NAME + 16] = "";

    if (where == DRM_HWMON && !card->hwmon[0])
        return false;
    if (where == DRM_HWMON)
        snprintf(folder, sizeof(folder), "device/hwmon/%s/", card->hwmon);
    else if (where == DRM_DEVICE)
        snprintf(folder, sizeof(folder), "device/");
    return snprintf(out, DRM_PATH, "%s/%s/%s%s", class_dir, card->card, folder, path) < DRM_PATH;
}

void drm_card_keep(const struct drm_cards *c, const struct drm_card *card, enum drm_where where,
                   const char *path, struct kept *ret)
{
    char full[DRM_PATH];

    ret->fd = -1;
    if (path_of(card, where, path, full))
        kept_open(ret, c->root, full);
}

int drm_card_text(const struct drm_cards *c, const struct drm_card *card, enum drm_where where,
                  const char *path, char *buf, size_t size)
{
    struct kept file;
    int len;

    drm_card_keep(c, card, where, path, &file);
    len = kept_read(&file, buf, size);
    kept_close(&file);
    return len;
}

/* Call fn for each name in root/path: 0, or -errno when there may be more. */
static int list(int root, const char *path, void (*fn)(void *ctx, const char *name), void *ctx)
{
    const struct dirent *entry;
    DIR *dir;
    int rc = listing_open(root, path, 0, &dir);

    if (!dir)
        return rc;
    while ((rc = listing_next(dir, &entry)) > 0)
        fn(ctx, entry->d_name);
    closedir(dir);
    return rc;
}

int drm_card_list(const struct drm_cards *c, const struct drm_card *card, enum drm_where where,
                  const char *path, void (*fn)(void *ctx, const char *name), void *ctx)
{
    char full[DRM_PATH];

    return path_of(card, where, path, full) ? list(c->root, full, fn, ctx) : 0;
}

/* The value of a line "KEY=VALUE", cut to size. */
static bool property(const char *text, const char *key, char *out, size_t size)
{
    size_t len = strlen(key);

    do {
        if (!strncmp(text, key, len) && text[len] == '=') {
            snprintf(out, size, "%.*s", (int)strcspn(text + len + 1, "\n"), text + len + 1);
            return true;
        }
    } while (scan_line(&text));
    return false;
}

struct hwmon_search {
    const struct drm_cards *cards;
    struct drm_card *card;
    char driver[DRM_NAME];
};

/* A driver has several: that of the card is called as the driver is (i915, not i915_gt0). */
static void try_hwmon(void *ctx, const char *name)
{
    const struct hwmon_search *s = ctx;
    struct drm_card *card = s->card, probe = { .at = card->at };
    char text[DRM_NAME];

    if (card->hwmon[0] || strncmp(name, "hwmon", 5) != 0 || strlen(name) >= sizeof(probe.hwmon))
        return;
    memcpy(probe.card, card->card, sizeof(probe.card));
    snprintf(probe.hwmon, sizeof(probe.hwmon), "%s", name);
    if (drm_card_text(s->cards, &probe, DRM_HWMON, "name", text, sizeof(text)) < 0)
        return;
    text[strcspn(text, "\n")] = 0;
    if (!strcmp(text, s->driver))
        memcpy(card->hwmon, probe.hwmon, sizeof(card->hwmon));
}

/* Whether card/device is of our vendor: fill card, at and hwmon. */
static bool identify(struct drm_cards *c, const char *name, struct drm_card *card)
{
    char text[2048], id[DRM_NAME], slot[DRM_NAME];
    struct hwmon_search s = { c, card, "" };
    size_t len = strlen(c->kind->vendor);

    *card = (struct drm_card){ .present = true };
    snprintf(card->card, sizeof(card->card), "%s", name);
    if (drm_card_text(c, card, DRM_DEVICE, "uevent", text, sizeof(text)) < 0 ||
        !property(text, "PCI_ID", id, sizeof(id)) || strncmp(id, c->kind->vendor, len) != 0 ||
        id[len] != ':' || !property(text, "PCI_SLOT_NAME", slot, sizeof(slot)) ||
        pci_address_parse(slot, &card->at) < 0)
        return false;
    if (property(text, "DRIVER", s.driver, sizeof(s.driver)))
        c->failed = c->failed ? c->failed
                              : drm_card_list(c, card, DRM_DEVICE, "hwmon", try_hwmon, &s);
    return card->hwmon[0] || !c->kind->needs_hwmon;
}

static void close_files(struct drm_card *card)
{
    for (size_t i = 0; i < DRM_FILES; i++)
        kept_close(&card->files[i]);
}

/* A card that was found: new, back again, or as before. One that was lost is opened anew: it may
 * have come back in the meantime. */
static void found(struct drm_cards *c, const struct drm_card *now)
{
    struct drm_card *card = NULL;

    for (size_t i = 0; i < c->n && !card; i++)
        if (!pci_address_cmp(c->cards[i].at, now->at))
            card = &c->cards[i];
    if (card && card->present && !card->seen && !strcmp(card->card, now->card) &&
        !strcmp(card->hwmon, now->hwmon) && card->reading.gpu[GPU_LOST] != 1) {
        card->seen = true;
        return;
    }
    if (card && card->seen)
        return;
    if (!card && c->n == DRM_CARDS)
        return;
    if (card)
        close_files(card);
    else
        card = &c->cards[c->n++];
    *card = *now;
    card->fresh = card->seen = true;
    gpu_reading_clear(&card->reading);
    for (size_t i = 0; i < DRM_FILES; i++)
        card->files[i].fd = -1;
}

static void try_card(void *ctx, const char *name)
{
    struct drm_cards *c = ctx;
    struct drm_card card;

    /* "card0-DP-1" is a connector */
    if (!strncmp(name, "card", 4) && name[4] && !name[4 + strspn(name + 4, "0123456789")] &&
        strlen(name) < DRM_NAME && identify(c, name, &card))
        found(c, &card);
}

static void name_card(struct drm_cards *c, size_t i)
{
    struct drm_card *card = &c->cards[i];
    char address[PCI_ADDRESS_TEXT];
    struct gpu_reading *r = &card->reading;

    snprintf(r->thing, sizeof(r->thing), "%s%zu", c->kind->thing, i);
    snprintf(r->facts[GPU_PCI], sizeof(r->facts[0]), "%s", pci_address_text(card->at, address));
    snprintf(r->facts[GPU_VENDOR], sizeof(r->facts[0]), "%s", c->kind->fact);
    for (size_t f = 0; f < c->kind->n_files; f++)
        drm_card_keep(c, card, c->kind->files[f].where, c->kind->files[f].path, &card->files[f]);
}

static int by_address(const void *a, const void *b)
{
    return pci_address_cmp(((const struct drm_card *)a)->at, ((const struct drm_card *)b)->at);
}

/* 0, or -errno: a look that did not come to its end tells neither which cards are new, since each
 * gets its number by its place among them, nor which are gone. */
static int look(struct drm_cards *c)
{
    size_t before = c->n;
    int rc;

    for (size_t i = 0; i < c->n; i++)
        c->cards[i].seen = false;
    c->failed = 0;
    rc = list(c->root, class_dir, try_card, c);
    if (rc == 0)
        rc = c->failed;
    if (rc < 0)
        c->n = before;
    if (c->n > before)
        qsort(&c->cards[before], c->n - before, sizeof(c->cards[0]), by_address);
    for (size_t i = 0; i < c->n; i++) {
        struct drm_card *card = &c->cards[i];

        if (card->fresh)
            name_card(c, i);
        if (card->seen || rc < 0)
            continue;
        close_files(card);
        card->present = false;
        card->reading.thing[0] = 0;
    }
    return rc;
}

int drm_cards_open(struct drm_cards *c, int root, const struct drm_kind *kind, struct err *e)
{
    int rc;

    c->kind = kind;
    c->n = 0;
    c->root = fcntl(root, F_DUPFD_CLOEXEC, 0);
    if (c->root < 0)
        return err_set(e, -errno, "%s: %m", class_dir);
    rc = look(c);
    c->looked_ns = INT64_MIN;
    if (rc == 0 && c->n)
        return 0;
    drm_cards_close(c);
    if (rc < 0)
        return err_set(e, rc, "%s: %s", class_dir, strerror(-rc));
    return err_set(e, -ENOENT, "%s: no card of vendor %s", class_dir, kind->vendor);
}

void drm_cards_close(struct drm_cards *c)
{
    for (size_t i = 0; i < c->n; i++)
        close_files(&c->cards[i]);
    closep(&c->root);
    c->root = -1;
    c->n = 0;
}

void drm_cards_look(struct drm_cards *c, int64_t now_ns)
{
    if (c->looked_ns == INT64_MIN) /* it was just opened */
        c->looked_ns = now_ns;
    if (now_ns - c->looked_ns < LOOK_NS)
        return;
    if (look(c) == 0) /* else the next tick looks again */
        c->looked_ns = now_ns;
}

bool drm_card_read(struct drm_cards *c, struct drm_card *card)
{
    struct gpu_reading *r = &card->reading;
    bool lost = false, answers = false;

    gpu_reading_clear(r);
    for (size_t f = 0; f < c->kind->n_files; f++) {
        const struct drm_file *file = &c->kind->files[f];
        char text[64];
        int len = kept_read(&card->files[f], text, sizeof(text));

        lost = lost || len == -ENODEV || len == -EIO;
        answers = answers || len >= 0;
        if (len > 0 && isnan(r->gpu[file->value]))
            r->gpu[file->value] = drm_number(text, file->scale);
    }
    lost = lost && !answers;
    r->gpu[GPU_LOST] = lost;
    return !lost;
}
