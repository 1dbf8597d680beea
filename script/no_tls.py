#!/usr/bin/env python3
"""Write C functions that stand for the parts of GnuTLS that a static libmicrohttpd names:

    no_tls.py NM ARCHIVE OUTPUT

Debian builds libmicrohttpd with TLS, which brim never asks it for, and GnuTLS cannot be linked
statically there (p11-kit is a shared library alone). None of these functions is called but
gnutls_global_init(), whose result nobody reads."""

import re
import subprocess
import sys

HEAD = "/* Made by script/no_tls.py. */\n"
ONE = "long %s(void);\nlong %s(void)\n{\n    return 0;\n}\n"


def main(nm, archive, output):
    ask = [nm, "-u", archive]
    said = subprocess.run(ask, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    names = sorted(set(re.findall(r"\bU (gnutls_\w+)$", said.stdout.decode(), re.M)))
    with open(output, "w", encoding="utf-8") as f:
        f.write(HEAD + "".join(ONE % (name, name) for name in names))


if __name__ == "__main__":
    main(*sys.argv[1:])
