/* Memory errors that the controllers corrected or could not: sys/devices/system/edac/mc
 * (Documentation/admin-guide/RAS/main.rst, Linux 6.12). The counts of a controller include those of
 * its DIMMs. */
#include "probe/sample/sampler.h"

#include <stdio.h>
#include <string.h>

#include "probe/sample/files.h"

enum { EDAC_CORRECTED, EDAC_UNCORRECTED, EDAC_VALUES };

static const struct signal_def defs[EDAC_VALUES] = {
    [EDAC_CORRECTED] = { "corrected_total", "memory errors corrected", SIGNAL_COUNTER },
    [EDAC_UNCORRECTED] = { "uncorrected_total", "memory errors that could not be corrected",
                           SIGNAL_COUNTER },
};

static const char *const facts[] = { "label", "location", NULL };
static const struct signal_set edac_set = { "edac", "part", defs, EDAC_VALUES, facts };

static const struct sample_file controller[] = {
    { "ce_count", EDAC_CORRECTED, true, 1, NULL, NULL, 0 },
    { "ue_count", EDAC_UNCORRECTED, true, 1, NULL, NULL, 0 },
};
static const struct sample_file dimm[] = {
    { "dimm_ce_count", EDAC_CORRECTED, true, 1, NULL, NULL, 0 },
    { "dimm_ue_count", EDAC_UNCORRECTED, true, 1, NULL, NULL, 0 },
};

static const char mc_folder[] = "sys/devices/system/edac/mc";

static int add_dimm(struct sample_files *s, const char *mc, const char *part)
{
    char prefix[2 * SAMPLE_PATH], name[2 * SAMPLE_PATH], text[SIGNAL_THING];
    int rc;

    snprintf(prefix, sizeof(prefix), "%s/%s/%s/", mc_folder, mc, part);
    snprintf(name, sizeof(name), "%s/%s", mc, part);
    rc = sample_files_add(s, name, prefix, dimm, ARRAY_SIZE(dimm));
    sample_files_line(s, prefix, "dimm_label", text, sizeof(text));
    sample_files_fact(s, 0, text);
    sample_files_line(s, prefix, "dimm_location", text, sizeof(text));
    sample_files_fact(s, 1, text);
    return rc;
}

static int add_controller(struct sample_files *s, const char *mc)
{
    CLEANUP(str_done) struct str parts = STR_INIT(SAMPLE_LIST);
    char folder[2 * SAMPLE_PATH], text[SIGNAL_THING];
    int rc;

    snprintf(folder, sizeof(folder), "%s/%s/", mc_folder, mc);
    rc = sample_files_add(s, mc, folder, controller, ARRAY_SIZE(controller));
    sample_files_line(s, folder, "mc_name", text, sizeof(text));
    sample_files_fact(s, 0, text);
    if (rc == 0)
        rc = sample_files_list(s, folder, &parts);
    SAMPLE_EACH(part, &parts)
    {
        /* "dimm3", or "rank3" where the kernel cannot tell DIMMs apart */
        if (rc == 0 && (!strncmp(part, "dimm", 4) || !strncmp(part, "rank", 4)))
            rc = add_dimm(s, mc, part);
    }
    return rc;
}

static int find(struct sample_files *s)
{
    CLEANUP(str_done) struct str controllers = STR_INIT(SAMPLE_LIST);
    int rc = sample_files_list(s, mc_folder, &controllers);

    SAMPLE_EACH(mc, &controllers)
    {
        if (rc == 0 && !strncmp(mc, "mc", 2))
            rc = add_controller(s, mc);
    }
    return rc;
}

static const char *const folders[] = { mc_folder, NULL };
static const struct sample_class edac_class = { &edac_set, EDAC_VALUES, folders, find, NULL };

static int edac_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &edac_class, e);
}

const struct sampler_ops sampler_edac = { "edac", &edac_set, edac_open, sample_files_sample,
                                          sample_files_close };
