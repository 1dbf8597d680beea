"""brim agent --compat: its names, types, labels and values beside those of a real node_exporter."""

import re
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

# Metrics that the panels of Grafana's dashboard 1860 ("Node Exporter Full") ask for.
MEMORY = """Active Active_anon Active_file AnonHugePages AnonPages Bounce Buffers Cached CommitLimit
Committed_AS DirectMap1G DirectMap2M DirectMap4k Dirty HardwareCorrupted Hugepagesize Inactive
Inactive_anon Inactive_file KernelStack Mapped MemAvailable MemFree MemTotal Mlocked NFS_Unstable
PageTables Percpu SReclaimable SUnreclaim Shmem ShmemHugePages ShmemPmdMapped Slab SwapCached
SwapFree SwapTotal Unevictable VmallocChunk VmallocTotal VmallocUsed Writeback WritebackTmp"""
NETWORK = """carrier carrier_changes_total mtu_bytes receive_bytes_total receive_compressed_total
receive_drop_total receive_errs_total receive_fifo_total receive_frame_total
receive_multicast_total receive_packets_total speed_bytes transmit_bytes_total
transmit_carrier_total transmit_colls_total transmit_compressed_total transmit_drop_total
transmit_errs_total transmit_fifo_total transmit_packets_total transmit_queue_length up"""
DISK = """discard_time_seconds_total discards_completed_total discards_merged_total io_now
io_time_seconds_total io_time_weighted_seconds_total read_bytes_total read_time_seconds_total
reads_completed_total reads_merged_total write_time_seconds_total writes_completed_total
writes_merged_total written_bytes_total"""
NETSTAT = """Icmp_InErrors Icmp_InMsgs Icmp_OutMsgs IpExt_InOctets IpExt_OutOctets Ip_Forwarding
TcpExt_ListenDrops TcpExt_ListenOverflows TcpExt_SyncookiesFailed TcpExt_SyncookiesRecv
TcpExt_SyncookiesSent TcpExt_TCPSynRetrans Tcp_ActiveOpens Tcp_CurrEstab Tcp_InErrs Tcp_InSegs
Tcp_OutRsts Tcp_OutSegs Tcp_PassiveOpens Tcp_RetransSegs UdpLite_InErrors Udp_InDatagrams
Udp_InErrors Udp_NoPorts Udp_OutDatagrams Udp_RcvbufErrors Udp_SndbufErrors"""
SOCKSTAT = """FRAG_inuse FRAG_memory RAW_inuse TCP_alloc TCP_inuse TCP_mem TCP_mem_bytes TCP_orphan
TCP_tw UDPLITE_inuse UDP_inuse UDP_mem UDP_mem_bytes sockets_used"""
OTHERS = """arp_entries boot_time_seconds context_switches_total cooling_device_cur_state
cooling_device_max_state cpu_guest_seconds_total cpu_scaling_frequency_hertz
cpu_scaling_frequency_max_hertz cpu_scaling_frequency_min_hertz cpu_seconds_total
entropy_available_bits filefd_allocated filefd_maximum filesystem_avail_bytes
filesystem_device_error filesystem_files filesystem_files_free filesystem_free_bytes
filesystem_readonly filesystem_size_bytes forks_total hwmon_chip_names hwmon_temp_celsius
hwmon_temp_crit_celsius interrupts_total intr_total load1 load15 load5 memory_HugePages_Free
memory_HugePages_Rsvd memory_HugePages_Surp memory_HugePages_Total nf_conntrack_entries
nf_conntrack_entries_limit pressure_cpu_waiting_seconds_total pressure_io_stalled_seconds_total
pressure_io_waiting_seconds_total pressure_memory_stalled_seconds_total
pressure_memory_waiting_seconds_total procs_blocked procs_running power_supply_online
schedstat_running_seconds_total schedstat_timeslices_total schedstat_waiting_seconds_total
scrape_collector_duration_seconds scrape_collector_success softnet_dropped_total
softnet_processed_total softnet_times_squeezed_total time_seconds timex_estimated_error_seconds
timex_frequency_adjustment_ratio timex_loop_time_constant timex_maxerror_seconds
timex_offset_seconds timex_sync_status timex_tai_offset_seconds timex_tick_seconds uname_info
vmstat_oom_kill vmstat_pgfault vmstat_pgmajfault vmstat_pgpgin vmstat_pgpgout vmstat_pswpin
vmstat_pswpout"""
DASHBOARD = {
    "node_" + prefix + name + suffix
    for prefix, names, suffix in (
        ("memory_", MEMORY, "_bytes"), ("network_", NETWORK, ""), ("disk_", DISK, ""),
        ("netstat_", NETSTAT, ""), ("sockstat_", SOCKSTAT, ""), ("", OTHERS, ""))
    for name in names.split()
}
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:\\.|[^"\\])*)"')


def read(text):
    """{name: type}, and {name: {labels: value}}."""
    types, values = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:4]
            assert name not in types, "two heads of %s" % name
            types[name] = kind
        elif line and line[0] != "#":
            name, labels, value = SAMPLE.match(line).groups()
            values.setdefault(name, {})[tuple(sorted(LABEL.findall(labels or "")))] = float(value)
    return types, values


@pytest.fixture
def exporter():
    program = shutil.which("prometheus-node-exporter")
    if not program:
        pytest.skip("no node_exporter (Debian: prometheus-node-exporter)")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    where = "127.0.0.1:%d" % port
    process = subprocess.Popen([program, "--web.listen-address=" + where],
                               stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                with urllib.request.urlopen("http://%s/metrics" % where, timeout=10) as answer:
                    text = answer.read().decode()
                break
            except OSError:
                time.sleep(0.1)
        yield text
    finally:
        process.terminate()
        process.wait(timeout=10)


def near(mine, other, name):
    """Counters and gauges a moment later: a tenth, or what a busy second changes."""
    if name == "node_memory_Committed_AS_bytes":  # what others map and let go, in TB with ASan
        return mine > 1 << 20 and other > 1 << 20
    slack = 512 << 20 if name.endswith("_bytes") else 1e5 if "_total" in name else 5000
    return abs(mine - other) <= max(abs(other) * 0.1, slack)


# What Debian's exporter leaves out by itself, such as /run/netns.
LEFT_OUT = re.compile("/(dev|proc|run|sys|mnt|media)($|/)")


def test_it_is_what_node_exporter_has(brim, exporter):
    types, values = read(brim.out("agent", "--once", "--compat"))
    their_types, their_values = read(exporter)
    mine = {name for name in values if name.startswith("node_")}
    assert len(mine) > 100
    assert not mine - set(their_values), sorted(mine - set(their_values))
    for name in sorted(mine):
        assert types[name] == their_types[name], name
        for labels, value in values[name].items():
            theirs = their_values[name]
            assert {k for k, _ in labels} == {k for k, _ in next(iter(theirs))}, name
            if LEFT_OUT.match(dict(labels).get("mountpoint", "")):
                continue
            assert labels in theirs, (name, labels)
            assert near(value, theirs[labels], name), (name, labels, value, theirs[labels])
    here = DASHBOARD & set(their_values)
    share = len(here & mine) / len(here)
    print("1860: %d of %d metrics that node_exporter has here, %.0f %%; of all %d: %.0f %%"
          % (len(here & mine), len(here), share * 100, len(DASHBOARD),
             len(DASHBOARD & mine) / len(DASHBOARD) * 100))
    assert share >= 0.7


def test_no_names_of_others_without_it(brim):
    text = brim.out("agent", "--once")
    assert "\nnode_" not in text and "DCGM" not in text
