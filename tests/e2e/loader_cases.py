"""Jobs whose loader is changed while they run, for test_loader.py: python3 loader_cases.py NAME...

Each case trains twice in this process, untouched and with switches, and prints one line of JSON:
what the switches answered, what the ring was told, and whether everything came out the same (each
batch, the model with its dropout, the random streams of the process)."""

import gc
import json
import sys
import time
import traceback

import loader_alone
import loader_late  # noqa: F401
import loader_memory  # noqa: F401
import loader_readahead  # noqa: F401
import loader_refused  # noqa: F401
import loader_scripts  # noqa: F401
import loader_streams  # noqa: F401
import loader_works  # noqa: F401
from loader_job import CASES

if __name__ == "__main__":
    if sys.argv[1] == "--hash":
        loader_alone.hash_alone()
    elif sys.argv[1] == "--shared":
        loader_alone.shared_file(sys.argv[2])
    elif sys.argv[1] == "--hang":
        loader_alone.hangs(sys.argv[2])
    elif sys.argv[1] == "--end":
        loader_alone.ends(sys.argv[2])
    else:
        gc.freeze()  # a case collects its garbage, not what torch is made of, and workers copy less
        for name in sys.argv[1:] if sys.argv[1] != "--all" else CASES:
            begun = time.monotonic()
            try:
                result = CASES[name]()
            except BaseException as e:
                traceback.print_exc()
                result = {"error": repr(e)}
            result.update(case=name, seconds=round(time.monotonic() - begun, 2))
            print(json.dumps(result), flush=True)
