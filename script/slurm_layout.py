#!/usr/bin/env python3
"""Make src/slurm/layout_RELEASE.c from the headers of a release of Slurm.

    script/slurm_layout.py INCLUDE SONAME > src/slurm/layout_24_11.c

INCLUDE is the folder that holds slurm/slurm.h, as of Debian's libslurm-dev unpacked with
dpkg-deb -x. A compiler tells the offsets: of the headers nothing is copied."""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {
    "JOBS": "job_info_msg_t",
    "JOB": "job_info_t",
    "NODES": "node_info_msg_t",
    "NODE": "node_info_t",
    "PARTS": "partition_info_msg_t",
    "PART": "partition_info_t",
    "TOPO": "topo_info_response_msg_t",
    "SWITCH": "topo_info_t",
    "DESC": "job_desc_msg_t",
    "UPDATE": "update_node_msg_t",
}
# What it is called there; several names: the first that the release has.
FIELDS = """
JOBS_UPDATED last_update
JOBS_COUNT record_count
JOBS_RECORDS job_array
JOB_ID job_id step_id.job_id
JOB_ACCOUNT account
JOB_NOTE admin_comment
JOB_ARRAY array_job_id
JOB_TASK array_task_id
JOB_TASKS array_task_str
JOB_BATCH batch_flag
JOB_COMMENT comment
JOB_DEPENDENCY dependency
JOB_ELIGIBLE eligible_time
JOB_END end_time
JOB_AVOIDED exc_nodes
JOB_FEATURES features
JOB_DETAILS gres_detail_cnt
JOB_DETAIL gres_detail_str
JOB_STATE job_state
JOB_NODES_MOST max_nodes
JOB_NAME name
JOB_PLACES node_inx
JOB_CPUS num_cpus
JOB_NODES num_nodes
JOB_PROCESSES num_tasks
JOB_PARTITION partition
JOB_MEMORY pn_min_memory
JOB_PRIORITY priority
JOB_QOS qos
JOB_WANTED req_nodes
JOB_REQUEUE requeue
JOB_RESTARTS restart_cnt
JOB_SHARED shared
JOB_START start_time
JOB_REASON state_reason
JOB_SUBMIT submit_time
JOB_LIMIT time_limit
JOB_PER_JOB tres_per_job
JOB_PER_NODE tres_per_node
JOB_PER_TASK tres_per_task
JOB_TRES_ASKED tres_req_str
JOB_TRES tres_alloc_str
JOB_UID user_id
JOB_USER user_name
JOB_CLUSTER cluster
NODES_UPDATED last_update
NODES_COUNT record_count
NODES_RECORDS node_array
NODE_CPUS cpus
NODE_FEATURES features
NODE_FEATURES_NOW features_act
NODE_GRES gres
NODE_NAME name
NODE_ADDRESS node_addr
NODE_STATE node_state
NODE_MEMORY real_memory
NODE_REASON reason
NODE_REASON_UID reason_uid
PARTS_UPDATED last_update
PARTS_COUNT record_count
PARTS_RECORDS partition_array
PART_NAME name
PART_PLACES node_inx
TOPO_COUNT record_count
TOPO_RECORDS topo_array
SWITCH_NAME name
SWITCH_NODES nodes
SWITCH_SWITCHES switches
DESC_ID job_id step_id.job_id
DESC_NOTE admin_comment
DESC_COMMENT comment
DESC_AVOIDED exc_nodes
DESC_WANTED req_nodes
DESC_PRIORITY priority
DESC_NODES min_nodes
UPDATE_FEATURES_NOW features_act
UPDATE_NODES node_names
UPDATE_STATE node_state
UPDATE_REASON reason
UPDATE_REASON_UID reason_uid
"""
SIZES = {
    "job": "JOB", "node": "NODE", "part": "PART", "switch": "SWITCH", "desc": "DESC",
    "update": "UPDATE",
}


def compile_run(include, expressions):
    """The values of constant expressions, or None when they do not compile."""
    text = "#include <stddef.h>\n#include <stdio.h>\n#include <slurm/slurm.h>\nint main(void)\n{\n"
    text += "".join(f'    printf("%ld\\n", (long)({e}));\n' for e in expressions)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "a.c")
        source.write_text(text + "    return 0;\n}\n")
        made = subprocess.run(
            ["cc", f"-I{include}", source, "-o", f"{folder}/a"], capture_output=True, check=False
        )
        if made.returncode:
            return None
        done = subprocess.run([f"{folder}/a"], capture_output=True, check=True, text=True)
    return [int(line) for line in done.stdout.split()]


def field(include, name, members):
    kind = TYPES[name.split("_")[0]]
    for member in members:
        found = compile_run(
            include, [f"offsetof({kind}, {member})", f"sizeof((({kind} *)0)->{member})"]
        )
        if found:
            return found
    return None


def main():
    include, soname = sys.argv[1:]
    header = pathlib.Path(include, "slurm/slurm_version.h").read_text(encoding="utf-8")
    number = int(re.search(r"SLURM_VERSION_NUMBER\s+(0x[0-9a-fA-F]+)", header)[1], 16)
    major, minor = number >> 16, number >> 8 & 255
    by_step = (major, minor) >= (26, 5)
    print(f"/* Slurm {major}.{minor:02}: made by script/slurm_layout.py. */")
    print('#include "slurm/layout.h"\n')
    print(f"const struct slurm_layout slurm_layout_{major}_{minor:02} = {{")
    print(f'    .soname = "{soname}",')
    print(f"    .api = {soname.rsplit('.', 1)[1]},")
    print(f"    .major = {major},\n    .minor = {minor},\n    .by_step = {str(by_step).lower()},")
    for name, kind in SIZES.items():
        print(f"    .{name}_size = {compile_run(include, [f'sizeof({TYPES[kind]})'])[0]},")
    print("    .fields = {")
    for line in FIELDS.split("\n"):
        name, *members = line.split() or [""]
        at = field(include, name, members) if members else None
        if at:
            print(f"        [{name}] = {{ {at[0]}, {at[1]} }},")
    print("    },\n};")


if __name__ == "__main__":
    main()
