/* What the lines of a kernel's log mean, and what is made of each when it is cut: behind each of
 * its words, and before them.
 *
 *     t_probe_kernel_kmsg_lines LINES FILE */
#include "base/str.h"
#include "golden.h"
#include "nvlink5_csv.h"
#include "probe/kernel/kmsg.h"
#include "sxid_csv.h"
#include "xid_csv.h"

enum { ROOM = 4 << 20, LINE = 512, TOLD = 2048 };

static struct faults faults;

static void tell(const char *line, char told[TOLD])
{
    const struct kmsg k = { .text = line };
    struct event e = { .kind = "" };

    if (!kmsg_event(&k, &faults, &e))
        snprintf(told, TOLD, "nothing");
    else
        snprintf(told, TOLD, "%s %s %d%s [%s] %s | %s", e.kind, severity_text(e.severity), e.code,
                 e.over ? " over" : "", e.thing, e.text, e.action);
}

/* A part of the line, where it is told otherwise than the part before it. */
static void add_part(struct str *out, const char *part, char before[TOLD])
{
    char told[TOLD];

    tell(part, told);
    if (strcmp(told, before) != 0)
        str_addf(out, "  %s\n    %s\n", part, told);
    memcpy(before, told, TOLD);
}

static void add_line(struct str *out, const char *line)
{
    char told[TOLD], before[TOLD], part[LINE];

    tell(line, told);
    str_addf(out, "%s\n    %s\n", line, told);
    memcpy(before, told, TOLD);
    for (size_t len = strlen(line); len > 0; len--) {
        if (line[len - 1] != ' ' && line[len - 1] != ':' && line[len - 1] != ',')
            continue;
        snprintf(part, sizeof(part), "%.*s", (int)len - 1, line);
        add_part(out, part, before);
    }
    memcpy(before, told, TOLD);
    for (const char *at = strchr(line, ' '); at; at = strchr(at + 1, ' '))
        add_part(out, at + 1, before);
}

int main(int argc, char **argv)
{
    const struct fault_text x = { data_xid_csv, data_xid_csv_len };
    const struct fault_text l = { data_nvlink5_csv, data_nvlink5_csv_len };
    const struct fault_text s = { data_sxid_csv, data_sxid_csv_len };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    char *text, *at, *line;

    if (argc < 3 || faults_load(&faults, &x, &l, &s, NULL) < 0)
        return 1;
    at = text = golden_read(argv[1]);
    while (at && (line = strsep(&at, "\n")) && *line)
        add_line(&out, line);
    free(text);
    faults_done(&faults);
    is_int(str_error(&out), 0, "the text of all lines has room");
    golden(argv[2], str_text(&out));
    return done();
}
