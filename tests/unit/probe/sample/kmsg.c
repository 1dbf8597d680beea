#include "sampled.h"

extern const struct sampler_ops sampler_kmsg;

#define KMSG "dev/kmsg"
#define STAT "cpu 1 2 3\nbtime 1700000000\n"
#define XID "NVRM: Xid (PCI:0000:05:00): "

/* Make the log anew. */
static void log_is(struct sampled *s, const char *text)
{
    folder_text(s->folder, KMSG, text);
}

/* Append to it, as the kernel does. */
static void log_more(struct sampled *s, const char *text)
{
    int fd = openat(s->root, KMSG, O_WRONLY | O_APPEND | O_CLOEXEC);

    folder_need(fd, KMSG);
    folder_need(write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1, KMSG);
    close(fd);
}

static void test_backlog(struct sampled *s)
{
    const struct event *e;

    folder_text(s->folder, "proc/stat", STAT);
    log_is(s, "6,0,1000000,-;Linux version 6.1\n"
              "3,1,2000000,-;" XID "79, pid=1, name=x, GPU has fallen off the bus.\n"
              " SUBSYSTEM=pci\n DEVICE=+pci:0000:05:00.0\n"
              "not a record\n"
              "3,2,3000000,-;I/O error, dev sda, sector 1\n"
              "3,3,4000000,-;pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0\n"
              "3,4,5000000,-;pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received\n");
    is_int(sampled_open(s), 0, "the sampler opens with a log");
    is_int(sampled_at(s, 100), 2, "the counters and one XID have rows");
    is_int((int)s->tick.n_events, 2, "an XID and a failed link of the past are told");
    e = &s->tick.events[0];
    is_str(e->kind, "xid", "the first event is the XID");
    ok(e->wall_ns == 1700000002000000000, "the XID has its own time: %lld", (long long)e->wall_ns);
    is_str(s->tick.events[1].kind, "aer", "the second event is the link that failed");
    is_labelled(s, "", "events_total", "kind=\"xid\"", "1");
    is_labelled(s, "", "events_total", "kind=\"disk\"", "1");
    is_labelled(s, "", "events_total", "kind=\"aer\"", "2");
    is_labelled(s, "", "events_total", "kind=\"oom\"", "0");
    is_value(s, "", "records_total", "5");
    is_value(s, "", "lost_records_total", "0");
}

static void test_rows(struct sampled *s)
{
    const struct signal_row *row;
    size_t n;

    log_more(s, "3,5,101000000,-;" XID "79, pid=1, name=x, again\n"
                "3,6,101000000,-;" XID "31, pid=1, name=x, Ch 1\n");
    is_int(sampled_at(s, 101), 3, "two XIDs of one GPU have rows beside the counters");
    row = tick_set(&s->tick, "xid", &n);
    is_int((int)n, 2, "each XID of a GPU has a row");
    is_str(row->thing, "0000:05:00.0/79", "the row of an XID names GPU and code");
    is_str(s->ops->more[0]->name, "xid", "the sampler says that it has rows of XIDs, too");
    is_int((int)row->set->n_defs, 2, "the row of an XID has two values");
    is_str(row->set->defs[0].name, "events_total", "the first value is the count");
    is_str(signal_fact(row, "pci"), "0000:05:00.0", "the row of an XID has the GPU's address");
    is_str(signal_fact(row, "code"), "79", "the row of an XID has its code");
    is_str(signal_fact(row, "name"), "GPU_HAS_FALLEN_OFF_THE_BUS",
           "the row of an XID has its name");
    ok(row->values[0] > 1.9 && row->values[0] < 2.1, "the row of an XID has its count");
    ok(row->values[1] > 1700000100.9 && row->values[1] < 1700000101.1,
       "the row of an XID has its last time");
}

static void test_growth(struct sampled *s)
{
    is_int(sampled_at(s, 101), 3, "the rows stay when the log has not grown");
    is_int((int)s->tick.n_events, 0, "a log that has not grown has no event");
    log_more(s, "3,7,102000000,-;I/O error, dev sdb, se");
    is_int(sampled_at(s, 102), 3, "the rows stay with half a record");
    is_int((int)s->tick.n_events, 0, "half a record makes no event");
    log_more(s, "ctor 1\n3,9,102000000,-;nfs: server x OK\n");
    is_int(sampled_at(s, 102), 3, "the rows stay with the rest of a record");
    is_int((int)s->tick.n_events, 2, "new records make events of every kind");
    is_value(s, "", "lost_records_total", "1");
    log_more(s, "3,10,102000000,-;amdgpu: GPU reset begin!\n SUBSYSTEM=pci\n"
                " DEVICE=+pci:0000:0c:00.0\n");
    is_int(sampled_at(s, 102), 3, "the rows stay with a record of several lines");
    is_str(s->tick.events[0].thing, "0000:0c:00.0", "a record of several lines is read whole");
}

/* A record whose end is where a longer one had a blank before it. */
static void test_short(struct sampled *s)
{
    char text[128];
    int len;

    log_is(s, "");
    sampled_close(s);
    is_int(sampled_open(s), 0, "the sampler opens with an empty log");
    is_int(sampled_at(s, 110), 1, "an empty log has its counters alone");
    memset(text, ' ', sizeof(text));
    len = snprintf(text, sizeof(text), "6,1,110000000,-;x");
    text[len] = ' ';
    snprintf(text + 100, 28, "\n");
    log_more(s, text);
    is_int(sampled_at(s, 111), 1, "a record of blanks is read");
    is_value(s, "", "records_total", "1");
    log_more(s, "6,2,111000000,-;y\n");
    is_int(sampled_at(s, 112), 1, "a shorter record is read");
    is_value(s, "", "records_total", "2");
}

static void test_storm(struct sampled *s)
{
    int events = 0;

    for (int i = 0; i < 1000; i++) {
        char line[80];

        snprintf(line, sizeof(line), "3,%d,%d,-;I/O error, dev sdc, sector 1\n", 11 + i,
                 103000000 + i);
        log_more(s, line);
    }
    is_int(sampled_at(s, 103), 3, "the rows stay in a storm of records");
    is_int((int)s->tick.n_events, 1, "a storm of one thing is one event");
    is_labelled(s, "", "events_total", "kind=\"disk\"", "66");
    for (int i = 0; i < 20; i++) {
        is_int(sampled_at(s, 104 + i), 3, "the rows stay in second %d of a storm", i);
        events += (int)s->tick.n_events;
    }
    is_int(events, 0, "a storm makes no second event");
    is_labelled(s, "", "events_total", "kind=\"disk\"", "1002");
    log_more(s, "3,1011,163000001,-;I/O error, dev sdc, sector 1\n");
    is_int(sampled_at(s, 170), 3, "the rows stay a minute after a storm");
    ok(s->tick.n_events == 1 && strstr(s->tick.events[0].text, "(999 more since"),
       "the next event counts the storm: %s", s->tick.events[0].text);
}

static void test_many(struct sampled *s)
{
    char line[128];
    size_t told = 0;

    log_is(s, "");
    sampled_close(s);
    for (int i = 0; i < 600; i++) {
        snprintf(line, sizeof(line), "3,%d,1000000,-;NVRM: Xid (PCI:0000:%02x:00): %d, x\n", i,
                 i % 256, 1 + i / 256);
        log_more(s, line);
    }
    is_int(sampled_open(s), 0, "the sampler opens with 600 XIDs");
    is_int(sampled_at(s, 100), 129, "128 XIDs at most have rows beside the counters");
    for (int i = 0; i < 3; i++) {
        ok(s->tick.n_events < EVENTS_MAX, "a tick has less than the maximum of events: %d",
           (int)s->tick.n_events);
        told += s->tick.n_events;
        is_int(sampled_at(s, 101 + i), 129, "the rows stay in tick %d of 600 XIDs", i);
    }
    told += s->tick.n_events;
    is_int((int)told, 600, "all 600 XIDs are told in the end");
    is_labelled(s, "", "events_total", "kind=\"xid\"", "600");
}

static void test_hostile(struct sampled *s)
{
    char *big = malloc(20001);

    folder_need(big ? 0 : -1, "memory");
    memset(big, 'x', 20000);
    memcpy(big, "3,1,1000000,-;", 14);
    big[19999] = '\n';
    big[20000] = 0;
    sampled_close(s);
    folder_text(s->folder, "proc/stat", "no time of boot\n");
    log_is(s, big);
    log_more(s, "3,2,2000000,-;" XID "79, x\n3,3,99999999999999999999,-;" XID "79, x\n"
                "3,4,999999999999999999,-;" XID "79, x\n\n\n;\n");
    free(big);
    is_int(sampled_open(s), 0, "the sampler opens with a record that is too long");
    s->tick.wall_ns = 0;
    is_int(sampled_at(s, 50), 2, "a record that is too long is passed over");
    is_int((int)s->tick.n_events, 1, "records whose time is too large are passed over");
    ok(s->tick.events[0].wall_ns == (2 - 50) * 1000000000LL,
       "without a time of boot the tick's time counts: %lld", (long long)s->tick.events[0].wall_ns);
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_kmsg);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without a log");
    test_backlog(&s);
    test_rows(&s);
    test_growth(&s);
    test_storm(&s);
    test_many(&s);
    test_short(&s);
    test_hostile(&s);
    folder_text(s.folder, "proc/stat", STAT);
    log_is(&s, "3,1,2000000,-;" XID "79, x\n3,1,2000000,-;" XID "31, x\n");
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
