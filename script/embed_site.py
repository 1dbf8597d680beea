#!/usr/bin/env python3
"""Put the dashboard into the program: embed_site.py OUTPUT.c OUTPUT.h PATH=FILE... makes a table

    const struct site_file site_files[];   { path, type, text, len }
    const size_t site_n_files;
"""

import os
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

HEADER = """\
/* The files of the dashboard, in the program. Made by script/embed_site.py. */
#ifndef BRIM_SITE_H
#define BRIM_SITE_H
#include <stddef.h>

struct site_file {
    const char *path; /* "/app.js" */
    const char *type; /* "text/javascript; charset=utf-8" */
    const char *text;
    size_t len;
};

extern const struct site_file site_files[];
extern const size_t site_n_files;

#endif
"""


def array(name, data):
    # char may be signed: bytes above 127 are written as the negative number they then are.
    cells = [str(b) if b < 128 else f"(char){b}" for b in data + b"\0"]
    rows = "\n".join("    " + ",".join(cells[i : i + 24]) + "," for i in range(0, len(cells), 24))
    return f"static const char {name}[] = {{\n{rows}\n}};\n"


def main(source, header, pairs):
    arrays, rows = [], []
    for i, pair in enumerate(pairs):
        path, file = pair.split("=", 1)
        with open(file, "rb") as f:
            arrays.append(array(f"file_{i}", f.read()))
        kind = TYPES[os.path.splitext(file)[1]]
        rows.append(f'    {{ "{path}", "{kind}", file_{i}, sizeof(file_{i}) - 1 }},')
    with open(header, "w", encoding="ascii") as f:
        f.write(HEADER)
    with open(source, "w", encoding="ascii") as f:
        f.write("/* The dashboard. Made by script/embed_site.py. */\n")
        f.write(f'#include "{os.path.basename(header)}"\n\n' + "\n".join(arrays))
        f.write("\nconst struct site_file site_files[] = {\n" + "\n".join(rows) + "\n};\n")
        f.write("const size_t site_n_files = sizeof(site_files) / sizeof(site_files[0]);\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: embed_site.py OUTPUT.c OUTPUT.h PATH=FILE...")
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
