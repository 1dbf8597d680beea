/* What is told of one Python call. */
#ifndef BRIM_PROBE_PYTHON_FRAME_H
#define BRIM_PROBE_PYTHON_FRAME_H

enum { PYTHON_FUNCTION = 64, PYTHON_FILE = 192 };

/* Texts are UTF-8 without control characters, whatever the process has. */
struct python_frame {
    char function[PYTHON_FUNCTION]; /* its qualified name; one that is too long ends in "…" */
    char file[PYTHON_FILE]; /* as the code object has it; of one that is too long its end, behind
                               "…" */
    int line;               /* that runs; 0: not known */
};

#endif
