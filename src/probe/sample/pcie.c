/* PCIe links of accelerators, network adapters, NVMe drives and the ports above them: what they run
 * at, and the errors that they reported (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats,
 * Linux 6.12). A link's errors may be counted at either of its ends. */
#include "probe/sample/sampler.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "probe/kernel/kparse.h"
#include "probe/kernel/scan.h"
#include "probe/sample/files.h"
#include "probe/sample/table.h"

enum {
    PCIE_SPEED,
    PCIE_SPEED_MAX,
    PCIE_WIDTH,
    PCIE_WIDTH_MAX,
    PCIE_CORRECTABLE,
    PCIE_NONFATAL,
    PCIE_FATAL,
    PCIE_RECEIVER,
    PCIE_BAD_TLP,
    PCIE_BAD_DLLP,
    PCIE_ROLLOVER,
    PCIE_TIMEOUT,
    PCIE_ADVISORY,
    PCIE_VALUES
};

#define ERRORS(kind) \
    { \
        "errors_total", "errors that the device reported", SIGNAL_COUNTER, kind \
    }
#define DETAIL(type) \
    { \
        "correctable_errors_total", "correctable errors by type", SIGNAL_COUNTER, type \
    }

static const struct signal_def defs[PCIE_VALUES] = {
    [PCIE_SPEED] = { "speed_gts", "gigatransfers a second of each lane", SIGNAL_GAUGE },
    [PCIE_SPEED_MAX] = { "speed_max_gts", "the most that the device can", SIGNAL_GAUGE },
    [PCIE_WIDTH] = { "width_lanes", "lanes in use", SIGNAL_GAUGE },
    [PCIE_WIDTH_MAX] = { "width_max_lanes", "lanes of the device", SIGNAL_GAUGE },
    [PCIE_CORRECTABLE] = ERRORS("kind=\"correctable\""),
    [PCIE_NONFATAL] = ERRORS("kind=\"nonfatal\""),
    [PCIE_FATAL] = ERRORS("kind=\"fatal\""),
    [PCIE_RECEIVER] = DETAIL("type=\"receiver\""),
    [PCIE_BAD_TLP] = DETAIL("type=\"bad_tlp\""),
    [PCIE_BAD_DLLP] = DETAIL("type=\"bad_dllp\""),
    [PCIE_ROLLOVER] = DETAIL("type=\"rollover\""),
    [PCIE_TIMEOUT] = DETAIL("type=\"timeout\""),
    [PCIE_ADVISORY] = DETAIL("type=\"advisory_nonfatal\""),
};

static const char *const facts[] = { "class", "parent", NULL };
static const struct signal_set pcie_set = { "pcie", "device", defs, PCIE_VALUES, facts };

/* The long names are those of Linux 4.19 to 5.2. */
static const struct sample_key correctable[] = {
    { "TOTAL_ERR_COR", PCIE_CORRECTABLE, 1 },
    { "RxErr", PCIE_RECEIVER, 1 },
    { "Receiver Error", PCIE_RECEIVER, 1 },
    { "BadTLP", PCIE_BAD_TLP, 1 },
    { "Bad TLP", PCIE_BAD_TLP, 1 },
    { "BadDLLP", PCIE_BAD_DLLP, 1 },
    { "Bad DLLP", PCIE_BAD_DLLP, 1 },
    { "Rollover", PCIE_ROLLOVER, 1 },
    { "RELAY_NUM Rollover", PCIE_ROLLOVER, 1 },
    { "Timeout", PCIE_TIMEOUT, 1 },
    { "Replay Timer Timeout", PCIE_TIMEOUT, 1 },
    { "NonFatalErr", PCIE_ADVISORY, 1 },
    { "Advisory Non-Fatal", PCIE_ADVISORY, 1 },
};
static const struct sample_key nonfatal[] = { { "TOTAL_ERR_NONFATAL", PCIE_NONFATAL, 1 } };
static const struct sample_key fatal[] = { { "TOTAL_ERR_FATAL", PCIE_FATAL, 1 } };

/* "32.0 GT/s PCIe"; "Unknown" while the device sleeps. */
static void read_speed(const struct sample_file *f, const char *text, double *values)
{
    double gts = kparse_gts(text);

    values[f->value] = gts > 0 ? gts : (double)NAN;
}

/* 0 and 255 are what a device answers that is off or has no link. */
static void read_width(const struct sample_file *f, const char *text, double *values)
{
    double lanes = scan_number(&text);

    values[f->value] = lanes > 0 && lanes <= 32 ? lanes : (double)NAN;
}

#define KEYS(path, keys) \
    { \
        path, 0, true, 1, sample_read_keys, keys, ARRAY_SIZE(keys) \
    }

static const struct sample_file files[] = {
    { "current_link_speed", PCIE_SPEED, true, 1, read_speed, NULL, 0 },
    { "max_link_speed", PCIE_SPEED_MAX, true, 1, read_speed, NULL, 0 },
    { "current_link_width", PCIE_WIDTH, true, 1, read_width, NULL, 0 },
    { "max_link_width", PCIE_WIDTH_MAX, true, 1, read_width, NULL, 0 },
    KEYS("aer_dev_correctable", correctable),
    KEYS("aer_dev_nonfatal", nonfatal),
    KEYS("aer_dev_fatal", fatal),
};

static const char bus[] = "sys/bus/pci/devices";

/* By the first two bytes of the class; 0 of the second: any (PCI Code and ID Assignment 1.15). */
static const struct {
    unsigned base, sub;
    const char *name;
} wanted[] = {
    { 0x03, 0, "accelerator" }, { 0x12, 0, "accelerator" }, { 0x02, 0x07, "infiniband" },
    { 0x02, 0, "network" },     { 0x01, 0x08, "nvme" },
};

/* What kind of device it is, NULL when its link does not matter. */
static const char *class_of(const struct sample_files *s, const char *prefix)
{
    char text[16];
    uint64_t code;

    sample_files_line(s, prefix, "class", text, sizeof(text));
    if (parse_hex(text, &code) < 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
        if (code >> 16 == wanted[i].base && (!wanted[i].sub || (code >> 8 & 0xff) == wanted[i].sub))
            return wanted[i].name;
    return NULL;
}

static int add(struct sample_files *s, const char *address, const char *class, const char *parent)
{
    char prefix[2 * SAMPLE_PATH];
    int rc;

    snprintf(prefix, sizeof(prefix), "%s/%s/", bus, address);
    rc = sample_files_add(s, address, prefix, files, ARRAY_SIZE(files));
    sample_files_fact(s, 0, class);
    sample_files_fact(s, 1, parent);
    return rc;
}

/* Cut the last part off a path "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0" and return
 * the address before it, "" when that is none. */
static const char *cut_parent(char *path)
{
    char *slash = strrchr(path, '/');
    const char *parent;

    if (!slash)
        return "";
    *slash = 0;
    parent = strrchr(path, '/');
    parent = parent ? parent + 1 : path;
    return strspn(parent, "0123456789abcdef:.") == strlen(parent) && strchr(parent, ':') ? parent
                                                                                         : "";
}

/* A device, and the ports between it and its root. */
static int add_chain(struct sample_files *s, const char *address, const char *class)
{
    char path[2 * SAMPLE_PATH], link[2 * SAMPLE_PATH], here[SIGNAL_THING];
    int rc;

    snprintf(path, sizeof(path), "%s/%s", bus, address);
    sample_files_link(s, path, link, sizeof(link));
    snprintf(here, sizeof(here), "%s", address);
    do {
        const char *parent = cut_parent(link);

        rc = add(s, here, class, parent);
        snprintf(here, sizeof(here), "%s", parent);
        class = "port";
    } while (rc == 0 && here[0]);
    return rc;
}

static int find(struct sample_files *s)
{
    CLEANUP(str_done) struct str devices = STR_INIT(SAMPLE_LIST);
    char prefix[2 * SAMPLE_PATH], path[2 * SAMPLE_PATH], function[SAMPLE_PATH];
    int rc = sample_files_list(s, bus, &devices);

    if (rc < 0)
        return rc;
    SAMPLE_EACH(address, &devices)
    {
        const char *class;

        snprintf(prefix, sizeof(prefix), "%s/%s/", bus, address);
        class = class_of(s, prefix);
        snprintf(path, sizeof(path), "%s/%s/physfn", bus, address);
        sample_files_link(s, path, function, sizeof(function));
        if (!class || function[0]) /* virtual functions share the link of theirs */
            continue;
        rc = add_chain(s, address, class);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static const char *const folders[] = { bus, NULL };
static const struct sample_class pcie_class = { &pcie_set, PCIE_VALUES, folders, find, NULL };

static int pcie_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &pcie_class, e);
}

const struct sampler_ops sampler_pcie = { "pcie", &pcie_set, pcie_open, sample_files_sample,
                                          sample_files_close };
