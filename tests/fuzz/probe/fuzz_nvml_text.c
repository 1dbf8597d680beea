#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "probe/nvidia/nvml.h"

static struct nvml_reading reading;

/* What is read is written, and reads and writes the same from there on. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(str_done) struct str first = STR_INIT(NVML_TEXT_MAX);
    CLEANUP(str_done) struct str second = STR_INIT(NVML_TEXT_MAX);
    struct err e = { "" };
    int rc = nvml_text_read("f.ini", (const char *)data, size, &reading, &e);

    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    check(reading.n_gpus <= NVML_GPUS);
    nvml_text_write(&reading, &first);
    check(str_error(&first) == 0);
    check(nvml_text_read("g.ini", str_text(&first), first.len, &reading, &e) == 0);
    nvml_text_write(&reading, &second);
    check(strcmp(str_text(&first), str_text(&second)) == 0);
    return 0;
}
