"""Which rows of the tables of measured runs script/calibrate fits: those whose line number (the
header is line 1) divides by the number here and that have one of the words. All others test."""

FITTED = {
    "vtrain_ground_truth": (4, ("gpt",)),
    "megatron_2020": (3, ("a100-sxm",)),
    "nemo_misc": (2, ("h100-sxm",)),
    "llm_foundry": (4, ("a100", "h100")),
}


def is_fitted(table, number, line):
    every, words = FITTED.get(table, (0, ()))
    return bool(every) and number % every == 0 and any(w in line.lower() for w in words)
