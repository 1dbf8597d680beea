/* The samplers of small files on files of any content; the first byte says which file. They open
 * slow files anew for each reading, so the files stay until the end. */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "probe/sample/sampler.h"

extern const struct sampler_ops sampler_softnet, sampler_infiniband, sampler_pcie, sampler_sensors,
    sampler_rapl, sampler_edac, sampler_cpufreq, sampler_lustre, sampler_ceph;

#define CEPH "sys/kernel/debug/ceph/0c93a60d-5645-4c46-8568-4c8f63db4c7f.client42"

static const struct {
    const struct sampler_ops *ops;
    const char *path;
} files[] = {
    { &sampler_softnet, "proc/net/softnet_stat" },
    { &sampler_softnet, "proc/net/snmp" },
    { &sampler_softnet, "proc/net/netstat" },
    { &sampler_softnet, "proc/net/sockstat" },
    { &sampler_infiniband, "sys/class/infiniband/mlx5_0/ports/1/rate" },
    { &sampler_infiniband, "sys/class/infiniband/mlx5_0/ports/1/state" },
    { &sampler_infiniband, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data" },
    { &sampler_pcie, "sys/bus/pci/devices/0000:01:00.0/class" },
    { &sampler_pcie, "sys/bus/pci/devices/0000:01:00.0/current_link_speed" },
    { &sampler_pcie, "sys/bus/pci/devices/0000:01:00.0/current_link_width" },
    { &sampler_pcie, "sys/bus/pci/devices/0000:01:00.0/aer_dev_correctable" },
    { &sampler_sensors, "sys/class/hwmon/hwmon0/name" },
    { &sampler_sensors, "sys/class/hwmon/hwmon0/temp1_label" },
    { &sampler_sensors, "sys/class/hwmon/hwmon0/temp1_input" },
    { &sampler_rapl, "sys/class/powercap/intel-rapl:0/energy_uj" },
    { &sampler_rapl, "sys/class/powercap/intel-rapl:0/name" },
    { &sampler_edac, "sys/devices/system/edac/mc/mc0/dimm0/dimm_label" },
    { &sampler_cpufreq, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq" },
    { &sampler_lustre, "proc/fs/lustre/llite/scratch-ff/stats" },
    { &sampler_lustre, "proc/fs/lustre/osc/scratch-OST0000-osc-ff/stats" },
    { &sampler_lustre, "proc/fs/lustre/osc/scratch-OST0000-osc-ff/import" },
    { &sampler_ceph, CEPH "/metrics" },
    { &sampler_ceph, CEPH "/osdc" },
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

/* Made at the first input. Time goes on by 60 s with each, so that all is due. */
static char folder[] = "/tmp/brim-fuzz-XXXXXX";
static int root = -1;
static struct tick rows;
static int64_t now_ns;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void remove_folder(void)
{
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const uint8_t *data, size_t size)
{
    int fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void start(void)
{
    check(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check(root >= 0);
    for (int i = 0; i < FILES; i++) {
        char path[256];

        snprintf(path, sizeof(path), "%s", files[i].path);
        for (char *at = path; (at = strchr(at, '/')) != NULL; *at++ = '/') {
            *at = 0;
            (void)mkdirat(root, path, 0700); /* it may be there */
        }
        put(path, NULL, 0);
    }
    check(mkdirat(root, "sys/devices/system/cpu/cpufreq", 0700) == 0);
    put("sys/bus/pci/devices/0000:01:00.0/class", (const uint8_t *)"0x030200\n", 9);
}

static void check_row(const struct signal_row *row)
{
    check(memchr(row->thing, 0, sizeof(row->thing)) != NULL);
    for (size_t i = 0; i < row->set->n_defs; i++)
        if (row->set->defs[i].kind == SIGNAL_COUNTER)
            check(isnan(row->values[i]) || (row->values[i] >= 0 && isfinite(row->values[i])));
        else
            check(isnan(row->values[i]) || isfinite(row->values[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sampler_env env = { 0 };
    void *state = NULL;
    int which;

    if (!size)
        return 0;
    if (root < 0)
        start();
    which = data[0] % FILES;
    env.root = root;
    put(files[which].path, data + 1, size - 1);
    check(files[which].ops->open(&state, &env, NULL) == 0);
    for (int i = 0; i < 2; i++) { /* the second time on half of it */
        now_ns += (int64_t)60 * 1000 * 1000 * 1000;
        tick_begin(&rows, 0, now_ns);
        check(files[which].ops->sample(state, &rows) == 0);
        for (size_t k = 0; k < rows.n_rows; k++)
            check_row(&rows.rows[k]);
        put(files[which].path, data + 1, (size - 1) / 2);
    }
    files[which].ops->close(state);
    return 0;
}
