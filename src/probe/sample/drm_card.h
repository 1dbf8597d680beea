/* Accelerators as the kernel's graphics drivers show them: /sys/class/drm/cardN and below. */
#ifndef BRIM_PROBE_SAMPLE_DRM_CARD_H
#define BRIM_PROBE_SAMPLE_DRM_CARD_H
#include <stdbool.h>

#include "model/machine/pcie.h"
#include "probe/gpu/gpu_reading.h"
#include "probe/kernel/kept_file.h"
#include "probe/sample/sampler.h"

enum { DRM_CARDS = 64, DRM_FILES = 24, DRM_NAME = 32, DRM_PATH = 192 };

enum drm_where { DRM_CARD, DRM_DEVICE, DRM_HWMON };

/* A file that holds one number, read with each tick: the value of the set "gpu" that it is, times
 * scale. When several files are the same value, the first that has a number counts. */
struct drm_file {
    const char *path;
    enum drm_where where;
    unsigned value;
    double scale;
};

/* What one vendor's sampler looks for. */
struct drm_kind {
    const char *vendor;           /* in PCI, as uevent writes it: "1002" */
    const char *thing, *fact;     /* "amd" of amd0, and the vendor's name */
    bool needs_hwmon;             /* others are not accelerators */
    const struct drm_file *files; /* DRM_FILES at most */
    size_t n_files;
};

struct drm_card {
    struct pci_address at;
    char card[DRM_NAME], hwmon[DRM_NAME]; /* "card0", "hwmon3" or "" */
    bool present;
    bool fresh; /* new, or back again: for the sampler to read what does not change, and clear */
    bool seen;
    struct kept files[DRM_FILES];
    struct gpu_reading reading;
};

struct drm_cards {
    int root;
    const struct drm_kind *kind;
    int64_t looked_ns;
    int failed; /* while cards are looked for: a folder of one of them, -errno */
    size_t n;
    struct drm_card cards[DRM_CARDS]; /* in PCI order; those that come later behind them, so that
                                       * each keeps its number */
};

/* Find the cards. -ENOENT when there are none; another -errno when that cannot be told. */
int drm_cards_open(struct drm_cards *c, int root, const struct drm_kind *kind, struct err *e)
    CHECK_RESULT;
void drm_cards_close(struct drm_cards *c);

/* Look whether cards came or went, when the last look that came to its end is half a minute ago. */
void drm_cards_look(struct drm_cards *c, int64_t now_ns);

/* Read the files of a card into its reading; "lost" is 1 when every file answers that the device is
 * not there. False then. */
bool drm_card_read(struct drm_cards *c, struct drm_card *card);

/* Read a file once: a length, or a negative errno. */
int drm_card_text(const struct drm_cards *c, const struct drm_card *card, enum drm_where where,
                  const char *path, char *buf, size_t size) CHECK_RESULT;

/* Open root/path of a file of the card, to be kept. */
void drm_card_keep(const struct drm_cards *c, const struct drm_card *card, enum drm_where where,
                   const char *path, struct kept *ret);

/* The names in a folder of the card: call fn for each. 0 (also when there is none), or -errno:
 * there may be more. */
int drm_card_list(const struct drm_cards *c, const struct drm_card *card, enum drm_where where,
                  const char *path, void (*fn)(void *ctx, const char *name), void *ctx)
    CHECK_RESULT;

/* The number that a text starts with, times scale; NaN. */
double drm_number(const char *text, double scale);

/* Copy the first line of a text. */
void drm_line(char out[SIGNAL_THING], const char *text);

#endif
