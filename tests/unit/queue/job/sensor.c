/* What rows of accelerators say of a queue's slots; and the process that reads them. */
#include "queue/job/sensor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "folder.h"
#include "probe/gpu/gpu_sample.h"
#include "tap.h"

enum { SLOTS = 4, PATIENCE_MS = 10000 };

static void make(struct queue_pool *p, struct queue_slot slots[SLOTS], bool has_pci)
{
    for (int i = 0; i < SLOTS; i++)
        slots[i] = (struct queue_slot){
            .name = "GPU", .index = i, .has_pci = has_pci, .pci = { .bus = (uint8_t)(16 + i) }
        };
    *p = (struct queue_pool){ .slots = slots, .n_slots = SLOTS };
}

static void add(struct tick *t, const char *thing, const char *pci, double busy, double active)
{
    struct signal_row *row = tick_add(t, &gpu_set, thing);

    row->values[GPU_BUSY] = busy;
    row->values[GPU_SM_ACTIVE] = active;
    tick_fact(row, GPU_PCI, pci);
}

static void test_rows(void)
{
    struct queue_slot slots[SLOTS];
    struct tick t = { .n_rows = 0 };
    struct queue_sensed s;
    struct queue_pool p;

    make(&p, slots, true);
    tick_begin(&t, 0, 0);
    add(&t, "2", "00000000:10:00.0", 0.25, (double)NAN);
    add(&t, "1", "0000:11:00.0", (double)NAN, (double)NAN);
    add(&t, "0", "0000:12:00.0", 0, 0.6);
    queue_sensor_map(&p, &t, &s);
    is_int(s.milli[0], 250, "a device is found by its address");
    is_int(s.milli[1], -1, "one that does not tell");
    is_int(s.milli[2], 600, "units at work count where no kernel was seen");
    is_int(s.milli[3], -1, "one that is not there");
    is_int(s.milli[SLOTS], -1, "a slot beyond the last one has no share");
    is_int(s.memory[0], -1, "a device that tells of no memory has no share of it in use");
    t.rows[0].values[GPU_MEMORY_USED] = 20e9;
    t.rows[0].values[GPU_MEMORY_TOTAL] = 80e9;
    queue_sensor_map(&p, &t, &s);
    is_int(s.memory[0], 250, "the share of a device's memory that is in use is told");
    make(&p, slots, false);
    queue_sensor_map(&p, &t, &s);
    ok(s.milli[0] == 600 && s.milli[2] == 250, "by its number where there is no address");
    tick_begin(&t, 0, 0);
    add(&t, "0", "", 1, 1);
    t.rows[0].values[GPU_LOST] = 1;
    queue_sensor_map(&p, &t, &s);
    is_int(s.milli[0], -1, "one that is lost tells nothing");
    tick_done(&t);
}

/* Rows at the edges of what they may say. */
static void test_edges(void)
{
    struct queue_slot slots[SLOTS];
    struct tick t = { .n_rows = 0 };
    struct queue_sensed s;
    struct queue_pool p;

    make(&p, slots, true);
    tick_begin(&t, 0, 0);
    add(&t, "fake1", "", 1.7, (double)NAN);
    add(&t, "1", "", 0.1, 0.1);
    add(&t, "2", "no address", -0.5, (double)NAN);
    add(&t, "3", "0000:10:00.0", 0.0006, (double)NAN);
    t.rows[0].values[GPU_MEMORY_USED] = 90e9;
    t.rows[0].values[GPU_MEMORY_TOTAL] = 80e9;
    t.rows[2].values[GPU_MEMORY_USED] = 0;
    t.rows[2].values[GPU_MEMORY_TOTAL] = 80e9;
    t.rows[3].values[GPU_MEMORY_USED] = 5;
    t.rows[3].values[GPU_MEMORY_TOTAL] = 0;
    queue_sensor_map(&p, &t, &s);
    is_int(s.milli[1], 1000, "a device without an address is found by the number of its name");
    is_int(s.memory[1], 1000, "no device has more of its memory in use than all");
    is_int(s.milli[2], -1, "a share below zero is not known");
    is_int(s.memory[2], 0, "a device may have none of its memory in use");
    is_int(s.milli[0], 1, "a share is rounded to thousandths");
    is_int(s.memory[0], -1, "a device without memory has no share of it in use");
    is_int(s.milli[3], -1, "a device with the address of another slot is not found by its number");
    t.rows[0].values[GPU_LOST] = 1;
    queue_sensor_map(&p, &t, &s);
    is_int(s.memory[1], -1, "of a device that is lost the memory in use is not known");
    t.rows[0].values[GPU_LOST] = 0;
    queue_sensor_map(&p, &t, &s);
    is_int(s.memory[1], 1000, "a device that is not lost tells of its memory");
    make(&p, slots, false);
    slots[0].index = QUEUE_SENSED;
    slots[1].index = QUEUE_SENSED - 1;
    tick_begin(&t, 0, 0);
    add(&t, "512", "", 0.5, 0.5);
    add(&t, "511", "", 0.25, 0.25);
    queue_sensor_map(&p, &t, &s);
    is_int(QUEUE_SENSED, 512, "as many slots are read as the test says");
    ok(s.milli[0] == -1 && s.milli[1] == 250, "a number beyond the last slot is none");
    tick_done(&t);
}

/* Of several readings the last one counts, also when nobody writes any more. */
static void test_read(void)
{
    struct queue_sensed s = { { 0 } }, one = { { 11 } }, two = { { 22 } };
    int ends[2];

    folder_need(pipe2(ends, O_NONBLOCK | O_CLOEXEC), "pipe");
    is_int(queue_sensor_read(ends[0], &s), 0, "a reading may not be there yet");
    folder_need((int)write(ends[1], &one, sizeof(one)), "write");
    folder_need((int)write(ends[1], &two, sizeof(two)), "write");
    is_int(queue_sensor_read(ends[0], &s), 1, "two readings are read at once");
    is_int(s.milli[0], 22, "the last reading counts");
    is_int(queue_sensor_read(ends[0], &s), 0, "a reading is read once");
    folder_need((int)write(ends[1], &one, sizeof(one)), "write");
    close(ends[1]);
    is_int(queue_sensor_read(ends[0], &s), 1, "a reading is read after its writer has gone");
    is_int(queue_sensor_read(ends[0], &s), -EPIPE, "a writer that has gone writes no more");
    close(ends[0]);
}

/* The next reading; -1: it ended. */
static int next(int fd, struct queue_sensed *s)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    int rc = poll(&p, 1, PATIENCE_MS) == 1 ? queue_sensor_read(fd, s) : -ETIMEDOUT;

    return rc;
}

static void test_process(const char *root)
{
    struct queue_slot slots[SLOTS];
    struct queue_sensed s = { { 0 } };
    struct queue_pool p;
    char script[PATH_MAX];
    int fd;

    make(&p, slots, false);
    folder_text(root, "script",
                "[fake]\ncount = 2\n[gpu 0]\nbusy_ratio = 0.5\n[gpu 1]\n"
                "busy_ratio = 0\n");
    folder_path(root, "script", script);
    fd = queue_sensor_start(&p, script, 10);
    ok(fd >= 0, "a process that reads");
    for (int i = 0; i < 3; i++)
        is_int(next(fd, &s), 1, "the sensor's process writes again and again");
    ok(s.milli[0] == 500 && s.milli[1] == 0 && s.milli[2] == -1, "what the script says");
    close(fd);
    ok(waitpid(-1, NULL, 0) > 0, "the sensor's process ends when nobody reads");
    fd = queue_sensor_start(&p, "/nonexistent", 10);
    is_int(next(fd, &s), -EPIPE, "one that cannot read ends by itself");
    close(fd);
    (void)waitpid(-1, NULL, 0);
}

int main(void)
{
    char root[PATH_MAX];

    folder_make(root);
    test_rows();
    test_edges();
    test_read();
    test_process(root);
    folder_remove(root);
    return done();
}
