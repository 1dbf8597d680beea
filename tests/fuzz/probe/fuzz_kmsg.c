/* A record of the kernel's log. */
#include "fuzz.h"
#include "nvlink5_csv.h"
#include "probe/kernel/kmsg.h"
#include "sxid_csv.h"
#include "xid_csv.h"

/* Loaded at the first input and kept. */
static struct faults faults;

static void load(void)
{
    const struct fault_text xid = { data_xid_csv, data_xid_csv_len };
    const struct fault_text nvlink5 = { data_nvlink5_csv, data_nvlink5_csv_len };
    const struct fault_text sxid = { data_sxid_csv, data_sxid_csv_len };

    check(faults_load(&faults, &xid, &nvlink5, &sxid, NULL) == 0);
}

static void check_event(const struct event *e)
{
    size_t i = 0;

    check(memchr(e->thing, 0, sizeof(e->thing)) && memchr(e->text, 0, sizeof(e->text)));
    check(memchr(e->action, 0, sizeof(e->action)) && e->text[0]);
    check(e->severity >= SEVERITY_NOTE && e->severity <= SEVERITY_CRITICAL && e->code >= -1);
    while (kmsg_kind(i) && strcmp(kmsg_kind(i), e->kind) != 0)
        i++;
    check(kmsg_kind(i) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *record = malloc(size + 1);
    struct event e;
    struct kmsg k;

    if (!faults.n_xids)
        load();
    check(record != NULL);
    memcpy(record, data, size);
    if (kmsg_parse(record, size, &k) == 0) {
        check(k.level >= 0 && k.level <= 7 && k.us >= 0 && !strchr(k.text, '\n'));
        check(memchr(k.device, 0, sizeof(k.device)) != NULL);
        k.facility = 0;
        if (kmsg_event(&k, &faults, &e))
            check_event(&e);
    }
    free(record);
    return 0;
}
