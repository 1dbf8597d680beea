/* What NVIDIA's GPUs are sampled for: values, fields, counters, processes. The build runs this with
 * a folder of tests/fake in LD_LIBRARY_PATH: "now", and "old" for an old driver's. */
#include "probe/nvidia/sample_nvml.h"

#include "sampled_nvml.h"

/* ---- values ---- */

static void check_values(void)
{
    play("", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with two GPUs");
    is_int(sample(), 6, "two GPUs have a row of each set at once");
    for (size_t i = 0; i < 6; i++)
        ok(its.tick.rows[i].set == (i < 2   ? &gpu_set
                                    : i < 4 ? &gpu_throttle_set
                                            : &gpu_error_set),
           "row %zu stands with its set", i);
    is_str(signal_fact(&its.tick.rows[1], "uuid"), "GPU-1", "a row has the uuid of its GPU");
    is_str(signal_fact(&its.tick.rows[1], "model"), "H100", "a row has the model of its GPU");
    is_str(signal_fact(&its.tick.rows[1], "pci"), "0000:27:00.0",
           "a row has the address of its GPU");
    is_str(signal_fact(&its.tick.rows[1], "vendor"), "nvidia", "a row has the vendor nvidia");
    is_value(gpu_set, "1", GPU_BUSY, "0.93");
    is_value(gpu_set, "1", GPU_MEMORY_BUSY, "0.41");
    is_value(gpu_set, "1", GPU_ENCODER_BUSY, "0.03");
    is_value(gpu_set, "1", GPU_DECODER_BUSY, "0.12");
    is_value(gpu_set, "1", GPU_SM_CLOCK, "1755000000");
    is_value(gpu_set, "1", GPU_SM_CLOCK_MAX, "1980000000");
    is_value(gpu_set, "1", GPU_MEMORY_CLOCK, "2619000000");
    is_value(gpu_set, "1", GPU_POWER, "512.345");
    is_value(gpu_set, "1", GPU_POWER_LIMIT, "700");
    is_value(gpu_set, "1", GPU_ENERGY, "2.5");
    is_value(gpu_set, "1", GPU_TEMPERATURE, "61");
    is_value(gpu_set, "1", GPU_MEMORY_TEMPERATURE, "70");
    is_value(gpu_set, "1", GPU_TEMPERATURE_MARGIN, "24");
    is_value(gpu_set, "1", GPU_MEMORY_USED, "600");
    is_value(gpu_set, "1", GPU_MEMORY_FREE, "250");
    is_value(gpu_set, "1", GPU_MEMORY_RESERVED, "50");
    is_value(gpu_set, "1", GPU_MEMORY_TOTAL, "900");
    is_value(gpu_set, "1", GPU_PCIE_GEN, "4");
    is_value(gpu_set, "1", GPU_PCIE_GEN_MAX, "5");
    is_value(gpu_set, "1", GPU_PCIE_WIDTH, "8");
    is_value(gpu_set, "1", GPU_PCIE_WIDTH_MAX, "16");
    is_value(gpu_set, "1", GPU_PROCESSES, "0");
    is_value(gpu_set, "1", GPU_LOST, "0");
    is_value(gpu_set, "1", GPU_SM_ACTIVE, "absent");
    is_value(gpu_set, "1", GPU_PCIE_SENT, "absent");
    is_value(gpu_set, "1", GPU_LINK_SENT, "absent");
    is_value(gpu_throttle_set, "0", GPU_THROTTLE_POWER_SECONDS, "1.5");
    is_value(gpu_throttle_set, "0", GPU_THROTTLE_THERMAL_SECONDS, "1.5");
    is_value(gpu_throttle_set, "0", GPU_THROTTLE_BRAKE_SECONDS, "0");
    is_value(gpu_throttle_set, "0", GPU_THROTTLE_SYNC_SECONDS, "absent");
    is_value(gpu_error_set, "0", GPU_ECC_CORRECTED, "5");
    is_value(gpu_error_set, "0", GPU_ECC_UNCORRECTED, "absent");
    is_value(gpu_error_set, "0", GPU_PAGES_RETIRED, "5");
    is_value(gpu_error_set, "0", GPU_REMAP_PENDING, "1");
    is_value(gpu_error_set, "0", GPU_RECOVERY_ACTION, "2");
    is_int(its.tick.n_events, 0, "two GPUs that work make no event");
    end();
}

/* What a driver does not have is left out, and what is not as exact stands in for it. */
static void check_substitutes(void)
{
    play("nvmlDeviceGetMemoryInfo_v2 = not_supported\nnvmlDeviceGetUtilizationRates.1 = 999\n",
         "temperature = 61\nslowdown = 90\npower_mw = 1500\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens where calls are not supported");
    sample();
    is_value(gpu_set, "0", GPU_POWER, "1.5");
    is_value(gpu_set, "0", GPU_TEMPERATURE_MARGIN, "29");
    is_value(gpu_set, "0", GPU_MEMORY_USED, "250");
    is_value(gpu_set, "0", GPU_MEMORY_RESERVED, "absent");
    is_value(gpu_set, "0", GPU_MEMORY_TOTAL, "1000");
    is_value(gpu_set, "1", GPU_BUSY, "absent");
    is_value(gpu_set, "0", GPU_MEMORY_CLOCK, "absent");
    is_value(gpu_throttle_set, "0", GPU_THROTTLED_POWER, "absent");
    end();
}

static void check_reasons(void)
{
    static const struct {
        unsigned bits;
        const char *want; /* power, thermal, brake, sync, other */
    } cases[] = { { 0, "00000" },        { 0x1, "00000" },  { 0x4, "10000" },
                  { 0x8, "00001" },      { 0x48, "01000" }, { 0x88, "00100" },
                  { 0x20 | 8, "01001" }, { 0x10, "00010" }, { 0x104, "10000" } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char live[64], got[6] = "";

        snprintf(live, sizeof(live), "reasons = %u\n", cases[i].bits);
        play("", live);
        is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with reasons 0x%x",
               cases[i].bits);
        sample();
        for (size_t k = 0; k < 5; k++)
            got[k] = value(&gpu_throttle_set, "0", GPU_THROTTLED_POWER + k) > 0 ? '1' : '0';
        is_str(got, cases[i].want, "reasons 0x%x are told as what throttles", cases[i].bits);
        end();
    }
}

/* ---- fields ---- */

static void check_links(void)
{
    play("", "field 138 = 3\nfield 139 = 4\nfield 202 = 1000\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with sums of links");
    sample();
    is_value(gpu_set, "0", GPU_LINK_SENT, "3072");
    is_value(gpu_set, "0", GPU_LINK_RECEIVED, "4096");
    end();

    play("", "field 202.0 = 1000\nfield 202.17 = 10\nfield 204.2 = 7\nfield 163.1 = 2\n"
             "field 163.5 = 1\nfield 38 = 100\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with single links");
    sample();
    is_value(gpu_set, "0", GPU_LINK_SENT, "1010");
    is_value(gpu_set, "0", GPU_LINK_RECEIVED, "7");
    is_value(gpu_error_set, "0", GPU_LINK_CRC, "3");
    play("", "field 202.0 = 1001\nfield 204.2 = 8\n");
    its.reload();
    becomes(gpu_set, "0", GPU_LINK_RECEIVED, "8");
    is_value(gpu_set, "0", GPU_LINK_SENT, "absent");
    end();
}

/* One call for all fields, and each other question once. */
static void check_calls(void)
{
    static const unsigned absent[] = { 76, 77, 138, 139, 197, 198, 202, 204, 31, 161, 219 };
    unsigned all, fields, reasons, before;

    play("", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens to count its calls");
    readings(2);
    all = its.calls(NULL, 1);
    fields = its.calls("nvmlDeviceGetFieldValues", 1);
    before = its.asked(253);
    reasons = its.calls("nvmlDeviceGetCurrentClocksEventReasons", 1);
    readings(10);
    reasons = its.calls("nvmlDeviceGetCurrentClocksEventReasons", 1) - reasons;
    ok(reasons >= 10, "ten readings have been made or more");
    is_int(its.calls("nvmlDeviceGetFieldValues", 1) - fields, reasons,
           "a reading takes one call for fields");
    is_int(its.calls(NULL, 1) - all, 8 * reasons, "a reading takes eight calls in all");
    is_int(its.asked(253) - before, 2 * reasons,
           "a field is asked for once of each GPU that has it");
    before = its.asked(144);
    for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
        all = i == 0 ? its.asked(absent[i]) : all + its.asked(absent[i]);
    readings(5);
    is_int(its.asked(144) - before, 0, "a slow field is not asked for before it is due");
    for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
        all -= its.asked(absent[i]);
    is_int(all, 0, "fields that GPUs lack are not asked for");
    end();
}

/* After the back-off what is there now is found. */
static void check_again(void)
{
    unsigned before;

    play("", "temperature = 1\nreasons = 0\n");
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens where fields are missing");
    sample();
    is_value(gpu_set, "0", GPU_ENERGY, "absent");
    before = its.asked(76);
    readings(2);
    ok(its.asked(76) > before, "a field that was missing is asked for again");
    play("", USUAL);
    its.reload();
    becomes(gpu_set, "0", GPU_ENERGY, "2.5");
    becomes(gpu_set, "1", GPU_POWER_LIMIT, "700");
    becomes(gpu_error_set, "1", GPU_PAGES_RETIRED, "5");
    play("", USUAL "[live 1]\nfield 3 = 6\n");
    its.reload();
    becomes(gpu_error_set, "1", GPU_ECC_CORRECTED, "6");
    is_value(gpu_error_set, "0", GPU_ECC_CORRECTED, "5");
    end();
}

/* What is asked slowly is asked all the same when readings come fast. */
static void check_slow_fields(void)
{
    struct nvml_paces paces = seldom;

    paces.slow_ns = 200 * MS;
    play("", USUAL);
    is_int(open_with(&paces, 10000 * MS), 0, "the sampler opens with slow fields");
    play("", USUAL "[live 1]\nfield 3 = 6\n");
    its.reload();
    becomes(gpu_error_set, "1", GPU_ECC_CORRECTED, "6");
    end();
}

/* A driver says of each field of which type its value is. */
static void check_types(void)
{
    play("", "real = 186\nfield 186 = 312500.5\nsigned = 82\nfield 82 = -5\n"
             "signed_wide = 83\nfield 83 = 5000000000000\nnarrow = 4\nfield 4 = 4000000000\n"
             "field 3 = 9000000000\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with fields of all types");
    sample();
    becomes(gpu_set, "0", GPU_POWER, "312.5005");
    is_value(gpu_set, "0", GPU_MEMORY_TEMPERATURE, "-5");
    is_value(gpu_set, "0", GPU_ENERGY, "5000000000");
    is_value(gpu_error_set, "0", GPU_ECC_UNCORRECTED, "4000000000");
    is_value(gpu_error_set, "0", GPU_ECC_CORRECTED, "9000000000");
    end();
}

/* Each field is asked of the GPU itself (scope 0), and goes to its own value in its own unit. */
static void check_all_fields(void)
{
    static const struct {
        size_t value;
        const char *want;
    } errors[] = {
        { GPU_ECC_CORRECTED, "3" },       { GPU_ECC_UNCORRECTED, "4" },
        { GPU_ECC_CORRECTED_EVER, "5" },  { GPU_ECC_UNCORRECTED_EVER, "6" },
        { GPU_ROWS_CORRECTED, "142" },    { GPU_ROWS_UNCORRECTED, "143" },
        { GPU_REMAP_PENDING, "144" },     { GPU_REMAP_FAILED, "145" },
        { GPU_PAGES_RETIRED, "59" },      { GPU_PAGES_PENDING, "31" },
        { GPU_PCIE_REPLAYS, "94" },       { GPU_LINK_CRC, "83" },
        { GPU_LINK_REPLAYS, "52" },       { GPU_LINK_RECOVERIES, "59" },
        { GPU_RECOVERY_ACTION, "230" },
    }, seconds[] = {
        { GPU_THROTTLE_POWER_SECONDS, "74" }, { GPU_THROTTLE_THERMAL_SECONDS, "503" },
        { GPU_THROTTLE_BRAKE_SECONDS, "253" }, { GPU_THROTTLE_SYNC_SECONDS, "76" },
        { GPU_THROTTLE_OTHER_SECONDS, "77" },
    };
    static const int counts[] = { 3,  4,  5,  6,  142, 143, 144, 145, 29,
                                  30, 31, 94, 38, 45,  52,  59,  230 };
    static const int times[] = { 74, 251, 252, 253, 76, 77 };
    CLEANUP(str_done) struct str live = STR_INIT(8 << 10);

    str_add(&live, "field 186.0 = 186000\nfield 83.0 = 83000\nfield 82.0 = 82\n"
                   "field 197.0 = 197\nfield 198.0 = 198\n");
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
        str_addf(&live, "field %d.0 = %d\n", counts[i], counts[i]);
    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        str_addf(&live, "field %d.0 = %d000000000\n", times[i], times[i]);
    play("", str_text(&live));
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with all fields");
    sample();
    becomes(gpu_set, "0", GPU_POWER, "186");
    is_value(gpu_set, "0", GPU_ENERGY, "83");
    is_value(gpu_set, "0", GPU_MEMORY_TEMPERATURE, "82");
    is_value(gpu_set, "0", GPU_PCIE_SENT, "197");
    is_value(gpu_set, "0", GPU_PCIE_RECEIVED, "198");
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
        is_value(gpu_error_set, "0", errors[i].value, errors[i].want);
    for (size_t i = 0; i < ARRAY_SIZE(seconds); i++)
        is_value(gpu_throttle_set, "0", seconds[i].value, seconds[i].want);
    end();
}

/* Fields of each link are added up; of several for one value the first that a GPU has is taken. */
static void check_link_fields(void)
{
    static const struct {
        int fields[3], n; /* the better ones first */
        const struct signal_set *set;
        size_t value;
    } cases[] = {
        { { 202 }, 1, &gpu_set, GPU_LINK_SENT },
        { { 204 }, 1, &gpu_set, GPU_LINK_RECEIVED },
        { { 163, 38 }, 2, &gpu_error_set, GPU_LINK_CRC },
        { { 161, 52 }, 2, &gpu_error_set, GPU_LINK_REPLAYS },
        { { 162, 59, 215 }, 3, &gpu_error_set, GPU_LINK_RECOVERIES },
        { { 162, 215 }, 2, &gpu_error_set, GPU_LINK_RECOVERIES },
        { { 59, 215 }, 2, &gpu_error_set, GPU_LINK_RECOVERIES },
        { { 215 }, 1, &gpu_error_set, GPU_LINK_RECOVERIES },
        { { 219 }, 1, &gpu_error_set, GPU_LINK_EFFECTIVE },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str live = STR_INIT(8 << 10);
        bool one = cases[i].fields[0] < 100; /* of all links, which it names as link 0 */
        double want = 0;

        for (int k = 0; k < cases[i].n; k++)
            for (int link = 0; link < 18; link++)
                str_addf(&live, "field %d.%d = %d\n", cases[i].fields[k], link,
                         (k + 1) * (1 << link));
        for (int link = 0; link < (one ? 1 : 18); link++)
            want += 1 << link;
        play("", str_text(&live));
        is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with field %d of links",
               cases[i].fields[0]);
        sample();
        ok(value(cases[i].set, "0", cases[i].value) == want,
           "field %d of %d is the value, added up over its links: %g", cases[i].fields[0],
           cases[i].n, value(cases[i].set, "0", cases[i].value));
        end();
    }
}

/* ---- the counters of a GPU's units ---- */

#define GPM \
    "gpm = 1\ngpm 2 = 80\ngpm 3 = 40\ngpm 5 = 55\ngpm 10 = 30\ngpm 12 = 10\ngpm 20 = 100\n" \
    "gpm 21 = 200\ngpm 60 = 10\n"

static void check_gpm(void)
{
    double first;

    play("", GPM
         "gpm 11 = 20\ngpm 13 = 5\nfield 139 = 9\nnarrow = 197\nfield 197 = 77\nfield 198 = 123\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with counters of units");
    sample();
    is_value(gpu_set, "0", GPU_SM_ACTIVE, "absent");
    becomes(gpu_set, "0", GPU_SM_ACTIVE, "0.8");
    is_value(gpu_set, "0", GPU_SM_OCCUPANCY, "0.4");
    is_value(gpu_set, "0", GPU_TENSOR_ACTIVE, "0.55");
    is_value(gpu_set, "0", GPU_DRAM_ACTIVE, "0.3");
    is_value(gpu_set, "0", GPU_FP32_ACTIVE, "0.1");
    is_value(gpu_set, "0", GPU_FP64_ACTIVE, "0.2");
    is_value(gpu_set, "0", GPU_FP16_ACTIVE, "0.05");
    is_value(gpu_set, "0", GPU_PCIE_RECEIVED, "123");
    is_value(gpu_set, "0", GPU_LINK_RECEIVED, "9216");
    is_value(gpu_set, "0", GPU_LINK_SENT, "absent");
    first = value(&gpu_set, "0", GPU_PCIE_SENT);
    ok(first >= 100 * 1048576 * 0.09 && first < 100 * 1048576 * 5.0,
       "a rate of PCIe is added up: %g", first);
    for (int k = 0; k < 200 && value(&gpu_set, "0", GPU_PCIE_SENT) <= first; k++) {
        sleep_ms(20);
        sample();
    }
    ok(value(&gpu_set, "0", GPU_PCIE_SENT) > first, "a rate of PCIe is added up further");
    play("nvmlGpmMetricsGet = 999\n", GPM);
    its.reload();
    becomes(gpu_set, "0", GPU_SM_ACTIVE, "absent");
    end();
}

/* ---- processes ---- */

static void check_processes(void)
{
    play("", "process 12 = 1000 0.5\nprocess 7 = -1 0\n[live 1]\nprocesses = 600\n");
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens with processes");
    is_int(sample(), 8, "two processes make two rows more");
    ok(its.tick.rows[6].set == &gpu_process_set, "rows of processes come last");
    is_value(gpu_process_set, "0:12", GPU_PROCESS_MEMORY, "1000");
    is_value(gpu_process_set, "0:12", GPU_PROCESS_BUSY, "0.5");
    is_value(gpu_process_set, "0:7", GPU_PROCESS_MEMORY, "absent");
    is_value(gpu_process_set, "0:7", GPU_PROCESS_BUSY, "0");
    is_value(gpu_set, "0", GPU_PROCESSES, "2");
    is_value(gpu_set, "1", GPU_PROCESSES, "600");
    play("nvmlDeviceGetProcessUtilization = not_supported\n", "process 13 = 5 1\n");
    its.reload();
    becomes(gpu_process_set, "1:13", GPU_PROCESS_MEMORY, "5");
    is_value(gpu_process_set, "1:13", GPU_PROCESS_BUSY, "absent");
    play("", "process 14 = 5 0\n");
    its.reload();
    becomes(gpu_process_set, "1:14", GPU_PROCESS_BUSY, "0");
    is_value(gpu_process_set, "0:12", GPU_PROCESS_BUSY, "no row");
    end();
}

static void check_old(void)
{
    play("", USUAL "process 12 = 1000 0.5\nprocess 13 = 2000 0.5\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with an old driver");
    is_int(sample(), 10, "an old driver has ten rows");
    is_value(gpu_set, "1", GPU_BUSY, "0.93");
    is_value(gpu_set, "1", GPU_POWER, "1");
    is_value(gpu_set, "1", GPU_MEMORY_USED, "250");
    is_value(gpu_set, "1", GPU_TEMPERATURE_MARGIN, "29");
    is_value(gpu_set, "1", GPU_ENERGY, "absent");
    is_value(gpu_throttle_set, "1", GPU_THROTTLED_POWER, "1");
    is_value(gpu_process_set, "1:12", GPU_PROCESS_MEMORY, "1000");
    is_value(gpu_process_set, "1:13", GPU_PROCESS_MEMORY, "2000");
    is_value(gpu_process_set, "1:13", GPU_PROCESS_BUSY, "absent");
    end();
}

static void check_now(void)
{
    check_values();
    check_substitutes();
    check_reasons();
    check_links();
    check_calls();
    check_again();
    check_slow_fields();
    check_types();
    check_all_fields();
    check_link_fields();
    check_gpm();
    check_processes();
}

int main(int argc, char **argv)
{
    load_fake();
    if (argc > 1 && !strcmp(argv[1], "old"))
        check_old();
    else
        check_now();
    fixture_done();
    return done();
}
