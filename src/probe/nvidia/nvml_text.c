#include "probe/nvidia/nvml.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/parse.h"
#include "probe/gpu/fields.h"
#include "probe/nvidia/nvml_abi.h"

enum { WORD = 32 };

/* Copy the next word of *text into word, and move on. False at the end; too long a word is cut. */
static bool next_word(const char **text, char word[WORD])
{
    size_t len;

    *text += strspn(*text, " ");
    len = strcspn(*text, " ");
    snprintf(word, WORD, "%.*s", (int)len, *text);
    *text += len;
    return len > 0;
}

/* ---- compute capability: 90 is "9.0" ---- */

static void capability_clear(void *at, size_t size)
{
    field_int.clear(at, size);
}

static bool capability_present(const void *at, size_t size)
{
    return field_int.present(at, size);
}

static void capability_write(const void *at, size_t size, struct str *out)
{
    const int *v = at;

    (void)size;
    str_addf(out, "%d.%d", *v / 10, *v % 10);
}

static int capability_read(const char *text, void *at, size_t size)
{
    int *v = at;
    double number;

    (void)size;
    if (parse_double(text, &number) < 0 || number < 0 || number > 1000)
        return -EINVAL;
    *v = (int)(number * 10 + 0.5);
    return 0;
}

/* ---- a link: "up 6 switch 0000:05:00.0"; "-" for what is not known ---- */

static const struct {
    const char *word;
    int kind;
} remotes[] = {
    { "gpu", NVML_REMOTE_GPU },
    { "npu", NVML_REMOTE_NPU },
    { "switch", NVML_REMOTE_SWITCH },
    { "-", ABSENT },
};

static void link_clear(void *at, size_t size)
{
    struct nvml_link *l = at;

    (void)size;
    *l = (struct nvml_link){ .up = ABSENT, .version = ABSENT, .kind = ABSENT };
}

static bool link_present(const void *at, size_t size)
{
    const struct nvml_link *l = at;

    (void)size;
    return l->up >= 0;
}

static void link_write(const void *at, size_t size, struct str *out)
{
    const struct nvml_link *l = at;
    const char *remote = "-";

    (void)size;
    for (size_t i = 0; i < ARRAY_SIZE(remotes); i++)
        if (remotes[i].kind == l->kind)
            remote = remotes[i].word;
    str_add(out, l->up ? "up" : "down");
    if (l->version < 0 && l->kind < 0 && !l->bdf[0])
        return;
    if (l->version >= 0)
        str_addf(out, " %d", l->version);
    else
        str_add(out, " -");
    str_addf(out, " %s %s", remote, l->bdf[0] ? l->bdf : "-");
}

static int link_read_state(const char *word, struct nvml_link *l)
{
    if (strcmp(word, "up") != 0 && strcmp(word, "down") != 0)
        return -EINVAL;
    l->up = word[0] == 'u';
    return 0;
}

static int link_read_version(const char *word, struct nvml_link *l)
{
    return strcmp(word, "-") == 0 ? 0 : field_int.read(word, &l->version, sizeof(l->version));
}

static int link_read_remote(const char *word, struct nvml_link *l)
{
    for (size_t i = 0; i < ARRAY_SIZE(remotes); i++) {
        if (strcmp(word, remotes[i].word) == 0) {
            l->kind = remotes[i].kind;
            return 0;
        }
    }
    return -EINVAL;
}

static int link_read_bdf(const char *word, struct nvml_link *l)
{
    return strcmp(word, "-") == 0 ? 0 : field_pci.read(word, l->bdf, sizeof(l->bdf));
}

/* Later words may be missing, or be more than are known today. */
static int link_read(const char *text, void *at, size_t size)
{
    static int (*const readers[])(const char *,
                                  struct nvml_link *) = { link_read_state, link_read_version,
                                                          link_read_remote, link_read_bdf };
    struct nvml_link l;
    char word[WORD];

    link_clear(&l, sizeof(l));
    for (size_t i = 0; i < ARRAY_SIZE(readers) && next_word(&text, word); i++)
        if (readers[i](word, &l) < 0)
            return -EINVAL;
    if (l.up < 0)
        return -EINVAL;
    memcpy(at, &l, size);
    return 0;
}

/* ---- peers: a word for each GPU, "x ok ok cns"; words as nvidia-smi topo -p2p has them ---- */

static const struct {
    const char *word;
    uint8_t status;
} answers[] = {
    { "ok", NVML_P2P_OK },        { "cns", NVML_P2P_CHIPSET }, { "gns", NVML_P2P_GPU },
    { "tns", NVML_P2P_TOPOLOGY }, { "dr", NVML_P2P_DISABLED }, { "ns", NVML_P2P_NO },
    { "u", NVML_P2P_UNKNOWN },    { "x", NVML_PEER_SELF },     { "-", NVML_PEER_ABSENT },
};

static void peers_clear(void *at, size_t size)
{
    memset(at, NVML_PEER_ABSENT, size);
}

static size_t peers_count(const uint8_t *peers, size_t size)
{
    while (size > 0 && peers[size - 1] == NVML_PEER_ABSENT)
        size--;
    return size;
}

static bool peers_present(const void *at, size_t size)
{
    return peers_count(at, size) > 0;
}

static void peers_write(const void *at, size_t size, struct str *out)
{
    const uint8_t *peers = at;
    size_t n = peers_count(peers, size);

    for (size_t i = 0; i < n; i++) {
        const char *word = "u";

        for (size_t k = 0; k < ARRAY_SIZE(answers); k++)
            if (answers[k].status == peers[i])
                word = answers[k].word;
        str_addf(out, "%s%s", i ? " " : "", word);
    }
}

static int peer_read(const char *word, uint8_t *ret)
{
    for (size_t k = 0; k < ARRAY_SIZE(answers); k++) {
        if (strcmp(word, answers[k].word) == 0) {
            *ret = answers[k].status;
            return 0;
        }
    }
    return -EINVAL;
}

static int peers_read(const char *text, void *at, size_t size)
{
    uint8_t *peers = at;
    char word[WORD];

    peers_clear(peers, size);
    for (size_t i = 0; next_word(&text, word); i++)
        if (i >= size || peer_read(word, &peers[i]) < 0)
            return -EINVAL;
    return 0;
}

/* ---- the tables ---- */

static const struct field_kind kind_link = {
    "'up' or 'down', NVLink version, 'gpu', 'npu' or 'switch', PCI address", link_clear,
    link_present, link_write, link_read
};
static const struct field_kind kind_peers = {
    "a word for each GPU (ok, cns, gns, tns, dr, ns, u, x)", peers_clear, peers_present,
    peers_write, peers_read
};

static const struct field_kind kind_capability = { "a version such as 9.0", capability_clear,
                                                   capability_present, capability_write,
                                                   capability_read };

#define READING(member) FIELD_AT(struct nvml_reading, member)
#define GPU(member) FIELD_AT(struct nvml_gpu, member)

static const struct field reading_fields[] = {
    { "driver", &field_text, READING(driver), 0 },
    { "library", &field_text, READING(library), 0 },
    { "cuda", &field_int, READING(cuda), 0 },
    { "count", &field_int, READING(count), 0 },
};

static const struct field gpu_fields[] = {
    { "bdf", &field_pci, GPU(bdf), 0 },
    { "name", &field_text, GPU(name), 0 },
    { "uuid", &field_text, GPU(uuid), 0 },
    { "vbios", &field_text, GPU(vbios), 0 },
    { "memory_b", &field_int64, GPU(memory_b), 0 },
    { "minor", &field_int, GPU(minor), 0 },
    { "capability", &kind_capability, GPU(capability), 0 },
    { "pcie_gen", &field_int, GPU(pcie_gen), 0 },
    { "pcie_width", &field_int, GPU(pcie_width), 0 },
    { "pcie_gen_max", &field_int, GPU(pcie_gen_max), 0 },
    { "pcie_width_max", &field_int, GPU(pcie_width_max), 0 },
    { "gpu_gen_max", &field_int, GPU(gpu_gen_max), 0 },
    { "persistence", &field_int, GPU(persistence), 0 },
    { "ecc", &field_int, GPU(ecc), 0 },
    { "ecc_pending", &field_int, GPU(ecc_pending), 0 },
    { "mig", &field_int, GPU(mig), 0 },
    { "power_limit_mw", &field_int, GPU(power_limit_mw), 0 },
    { "power_default_mw", &field_int, GPU(power_default_mw), 0 },
    { "sm_clock_mhz", &field_int, GPU(sm_clock_mhz), 0 },
    { "sm_clock_max_mhz", &field_int, GPU(sm_clock_max_mhz), 0 },
    { "app_clock_mhz", &field_int, GPU(app_clock_mhz), 0 },
    { "app_clock_default_mhz", &field_int, GPU(app_clock_default_mhz), 0 },
    { "fabric", &field_int, GPU(fabric), 0 },
    { "fabric_status", &field_int, GPU(fabric_status), 0 },
    { "c2c_links", &field_int, GPU(c2c_links), 0 },
    { "c2c_mbps", &field_int, GPU(c2c_mbps), 0 },
    { "lost", &field_yes, GPU(lost), 0 },
    { "error", &field_int, GPU(error), 0 },
    { "link", &kind_link, GPU(links[0]), NVML_LINKS },
    { "peers", &kind_peers, GPU(peers), 0 },
};

void nvml_reading_init(struct nvml_reading *r)
{
    memset(r, 0, sizeof(*r));
    fields_clear(reading_fields, ARRAY_SIZE(reading_fields), r);
    for (unsigned i = 0; i < NVML_GPUS; i++)
        fields_clear(gpu_fields, ARRAY_SIZE(gpu_fields), &r->gpus[i]);
}

void nvml_text_write(const struct nvml_reading *r, struct str *out)
{
    str_add(out, "[nvml]\n");
    fields_write(reading_fields, ARRAY_SIZE(reading_fields), r, out);
    for (unsigned i = 0; i < r->n_gpus; i++) {
        str_addf(out, "\n[gpu %u]\n", i);
        fields_write(gpu_fields, ARRAY_SIZE(gpu_fields), &r->gpus[i], out);
    }
}

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct nvml_reading *r = ctx;
    unsigned nth;
    int rc = fields_section(at, "gpu ", NVML_GPUS, &nth, e);

    if (rc < 0)
        return rc;
    if (rc > 0) {
        r->n_gpus = MAX(r->n_gpus, nth + 1);
        return at->key ? fields_read(gpu_fields, ARRAY_SIZE(gpu_fields), &r->gpus[nth], at, e) : 0;
    }
    if (at->key && strcmp(at->section, "nvml") == 0)
        return fields_read(reading_fields, ARRAY_SIZE(reading_fields), r, at, e);
    return 0;
}

int nvml_text_read(const char *name, const char *text, size_t len, struct nvml_reading *r,
                   struct err *e)
{
    nvml_reading_init(r);
    return ini_parse(name, text, len, read_entry, r, e);
}
