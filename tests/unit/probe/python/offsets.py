"""The table of src/probe/python/offsets.c against the headers of CPython: for each include folder
that is given (default: those of this machine, if any), a C compiler says where the fields lie.

    python3 tests/unit/probe/python/offsets.py [/usr/include/python3.11 ...]
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../..")
TABLE = os.path.join(ROOT, "src/probe/python/offsets.c")

HEADERS = """
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stdio.h>
#include <stddef.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#define at(name, type, field) printf(name " %zu\\n", offsetof(type, field))
"""

# Our name, the struct, its field.
FIELDS = """
interpreters _PyRuntimeState interpreters.head
next_interpreter PyInterpreterState next
threads PyInterpreterState threads.head
thread.previous PyThreadState prev
thread.next PyThreadState next
thread.interpreter PyThreadState interp
thread.native_id PyThreadState native_thread_id
thread.frame PyThreadState cframe
holder_frame _PyCFrame current_frame
frame.code _PyInterpreterFrame f_code
frame.instruction _PyInterpreterFrame prev_instr
frame.previous _PyInterpreterFrame previous
frame.owner _PyInterpreterFrame owner
frame.locals _PyInterpreterFrame localsplus
code.stack PyCodeObject co_stacksize
code.variables PyCodeObject co_nlocalsplus
generator PyGenObject gi_iframe
tuple PyTupleObject ob_item
code.file PyCodeObject co_filename
code.qualified_name PyCodeObject co_qualname
code.lines PyCodeObject co_linetable
code.first_line PyCodeObject co_firstlineno
code.instructions PyCodeObject co_code_adaptive
type PyObject ob_type
type_name PyTypeObject tp_name
size PyVarObject ob_size
bytes PyBytesObject ob_sval
text.length PyASCIIObject length
text.state PyASCIIObject state
"""


def program():
    lines = [f'at("{name}", {struct}, {field});'
             for name, struct, field in map(str.split, FIELDS.strip().splitlines())]
    lines.append('printf("text.ascii %zu\\n", sizeof(PyASCIIObject));')
    lines.append('printf("text.compact %zu\\n", sizeof(PyCompactUnicodeObject));')
    return HEADERS + "int main(void) {" + "\n".join(lines) + "return 0; }"


def by_compiler(include):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "a.c"), os.path.join(folder, "a")
        with open(source, "w", encoding="utf-8") as f:
            f.write(program())
        subprocess.run(
            ["cc", "-w", "-I", include, "-I", include + "/internal", "-o", binary, source],
            check=True,
        )
        said = subprocess.run([binary], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return {name: int(value) for name, value in map(str.split, said.stdout.splitlines())}


def by_table(version):
    """{name: offset} of one version, out of the C text."""
    with open(TABLE, encoding="utf-8") as f:
        text = f.read()
    text = text.split(f"of_{version.replace('.', '_')} = {{", 1)[1].split("\n};", 1)[0]
    found = {}
    for group, inner in re.findall(r"\.(\w+) = \{([^}]*)\}", text):
        found |= {f"{group}.{k}": int(v) for k, v in re.findall(r"\.(\w+) = (-?\d+)", inner)}
    text = re.sub(r"\{[^}]*\}", "", text)
    return found | {k: int(v) for k, v in re.findall(r"\.(\w+) = (-?\d+)", text)}


def main():
    folders = sys.argv[1:] or [
        os.path.dirname(os.path.dirname(path))
        for path in glob.glob("/usr/include/python3.1[12]/internal/pycore_frame.h")
    ]
    wrong = 0
    for include in folders:
        version = re.search(r"3\.1[12]", os.path.basename(include)).group()
        table = by_table(version)
        for name, offset in by_compiler(include).items():
            if table[name] != offset:
                wrong += 1
                print(f"{include}: {name} is {offset}, and in the table {table[name]}")
        print(f"{include}: looked at")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
