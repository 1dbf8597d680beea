/* The driver's library of NVIDIA, opened and asked for measurements again and again, by one thread
 * (the machine as it is found is nvml.h's). The parts:
 * nvml_api.c finds the functions, nvml_session.c opens and goes through the GPUs, nvml_asks.c
 * makes the calls of one answer, nvml_fields.c the batch of fields, nvml_gpm.c the counters of a
 * GPU's units, nvml_process.c its processes. */
#ifndef BRIM_PROBE_NVIDIA_NVML_SESSION_H
#define BRIM_PROBE_NVIDIA_NVML_SESSION_H
#include "model/machine/machine.h"
#include "probe/gpu/gpu_sample.h"
#include "probe/nvidia/nvml_api.h"
#include "probe/thread/watch.h"

enum { NVML_LIVE_GPUS = 64, NVML_LIVE_PROCESSES = 512 };

/* One GPU. Values are in the units of their sets, NaN when they are not known. */
struct nvml_live_gpu {
    unsigned index;
    bool lost; /* fell off the bus: only its facts are known */
    char facts[SIGNAL_FACTS][SIGNAL_THING];
    double gpu[GPU_VALUES];
    double throttle[GPU_THROTTLE_VALUES];
    double error[GPU_ERROR_VALUES];
};

struct nvml_live_process {
    unsigned gpu, pid;
    double values[GPU_PROCESS_VALUES];
};

struct nvml_live_reading {
    size_t n_gpus, n_processes;
    struct nvml_live_gpu gpus[NVML_LIVE_GPUS];
    struct nvml_live_process processes[NVML_LIVE_PROCESSES];
};

/* How often what does not change with every reading is asked. */
struct nvml_paces {
    int64_t slow_ns;        /* processes, errors, the PCIe link, video units */
    int64_t limit_ns;       /* the limit of power */
    int64_t unsupported_ns; /* what a GPU does not support */
    int64_t lost_ns;        /* a GPU that is lost */
    int64_t reload_ns;      /* a driver that was unloaded, or is not loaded yet */
};
extern const struct nvml_paces nvml_paces;

/* Calls with one number as their answer, by the shape of their arguments. */
enum nvml_shape { NVML_SHAPE_NUMBER, NVML_SHAPE_PAIR, NVML_SHAPE_KIND };
enum nvml_pace { NVML_EACH, NVML_SLOW, NVML_LIMIT, NVML_ONCE };

/* nvml_ask.value: a value of the set "gpu", or this. */
enum { NVML_ASK_SLOWDOWN = GPU_VALUES };

struct nvml_ask {
    const char *call;
    enum nvml_shape shape;
    enum nvml_pace pace;
    unsigned kind; /* the second argument of NVML_SHAPE_KIND */
    int value;
    double unit; /* of the answer, in that of the value */
};

enum { NVML_ASKS = 13 };
extern const struct nvml_ask nvml_asks[NVML_ASKS];

union nvml_ask_fn {
    nvml_number_fn *number;
    nvml_pair_fn *pair;
    nvml_clock_fn *kind;
};

/* What has a time of its own at which it is asked again. */
enum nvml_slot {
    NVML_SLOT_ASKS, /* and one for each of nvml_asks */
    NVML_SLOT_UTILIZATION = NVML_SLOT_ASKS + NVML_ASKS,
    NVML_SLOT_MEMORY,
    NVML_SLOT_MEMORY_V2,
    NVML_SLOT_MARGIN,
    NVML_SLOT_REASONS,
    NVML_SLOT_FIELDS,      /* all fields, to learn which there are */
    NVML_SLOT_FIELDS_SLOW, /* those that are not asked each time */
    NVML_SLOT_PROCESSES,
    NVML_SLOT_PROCESS_BUSY,
    NVML_SLOT_GPM,
    NVML_SLOTS
};

enum { NVML_FIELD_LINKS = 18, NVML_FIELDS_MAX = 160, NVML_GPU_PROCESSES = 64 };

/* A GPU and what is known of how to ask it. */
struct nvml_watched {
    nvml_device device; /* NULL: withheld from us, or lost */
    struct nvml_live_gpu now;
    int64_t next_ns[NVML_SLOTS];
    int64_t lost_ns; /* when a lost one is asked again */
    double slowdown_c;
    /* the fields that it has: those asked each time come first */
    size_t n_fields, n_fast;
    struct nvml_field fields[NVML_FIELDS_MAX];
    unsigned char field_defs[NVML_FIELDS_MAX];
    uint64_t by_field; /* bits: values of the set "gpu" that fields give */
    nvml_gpm_sample gpm[2];
    int64_t gpm_ns[2]; /* when each was taken; 0: not yet */
    int gpm_turn;
    unsigned long long busy_since; /* of the process utilisation, microseconds */
    size_t n_processes;
    struct nvml_live_process processes[NVML_GPU_PROCESSES];
};
static_assert(GPU_VALUES <= 64, "nvml_watched.by_field");

struct nvml_session {
    struct nvml_paces paces;
    struct watch_where *where;
    void *library;     /* NULL: not opened, or the driver is away */
    int64_t reload_ns; /* when it is tried again then */
    struct nvml_api api;
    union nvml_ask_fn asks[NVML_ASKS]; /* the functions of nvml_asks */
    bool inited;
    bool broken; /* the driver was unloaded or replaced */
    int64_t now_ns;
    unsigned n_gpus;
    struct nvml_watched gpus[NVML_LIVE_GPUS];
    struct nvml_gpm_request gpm; /* these three are for one call each */
    struct nvml_process list[NVML_LIVE_PROCESSES];
    struct nvml_process_busy busy[NVML_LIVE_PROCESSES];
};

/* Measure; opens the library when it is not open. Of a new session paces and where are set, the
 * rest is zero. A driver that is not loaded, finds no GPU or went away is waited for: the reading
 * has no GPUs. -ENOENT: there is no library. */
int nvml_session_read(struct nvml_session *s, struct nvml_live_reading *ret) CHECK_RESULT;
void nvml_session_close(struct nvml_session *s);

/* ---- for its parts (nvml_call.c) ---- */

/* Whether it is time for what a slot stands for. */
bool nvml_due(const struct nvml_session *s, const struct nvml_watched *g, unsigned slot);

/* Note that a call comes next. */
void nvml_calls(struct nvml_session *s, const struct nvml_watched *g, const char *call);

/* Whether a code says that asking again is of no use for now. */
bool nvml_unsupported(int code);

/* Take note of what a call answered: when its slot is due again, a GPU that is lost, a driver that
 * went away. True when it succeeded. */
bool nvml_answered(struct nvml_session *s, struct nvml_watched *g, unsigned slot,
                   enum nvml_pace pace, int code);

void nvml_read_fields(struct nvml_session *s, struct nvml_watched *g);
void nvml_read_asks(struct nvml_session *s, struct nvml_watched *g);
void nvml_read_gpm(struct nvml_session *s, struct nvml_watched *g);
void nvml_read_processes(struct nvml_session *s, struct nvml_watched *g);
void nvml_gpm_done(struct nvml_session *s, struct nvml_watched *g);

#endif
