/* Phrases beside measurements: stated, denied, or parts of other words. */
#include <stddef.h>

#include "base/compiler.h"
#include "plan/measured/rows_phrases.h"
#include "tap.h"

static void test_phrases(void)
{
    static const struct {
        const char *text, *phrase;
        bool said;
    } rows[] = {
        { "FSDP2", "FSDP", true },
        { "with torch.compile", "compile", true },
        { "compiled from the paper", "compile", false },
        { "compile=False", "compile", false },
        { "compile: off, FSDP", "compile", false },
        { "compile; no AC", "compile", true },
        { "compile=0", "compile", false },
        { "FSDP: none", "FSDP", false },
        { "ZeRO-1 via DeepSpeed", "zero 1", true },
        { "ZeRO-16", "zero 1", false },
        { "no flash attention", "flash attention", false },
        { "not using FlashAttention", "flash attention", false },
        { "not with the FSDP", "FSDP", false },
        { "not with all the FSDP", "FSDP", true },
        { "FlashAttention-2", "flash attention", true },
        { "an exploration", "LoRA", false },
        { "faster than LoRA", "LoRA", false },
        { "LoRA r=16", "LoRA", true },
        { "non-interleaved 1F1B", "interleaved", false },
        { "DeepEP + 1f1b overlap", "1f1b overlap", true },
        { "", "FSDP", false },
        { "OurFSDP", "FSDP", false },
        { "OurFSDP, FSDP", "FSDP", true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        ok(row_phrase(rows[i].text, rows[i].phrase) == rows[i].said, "the text '%s' %s '%s'",
           rows[i].text, rows[i].said ? "states" : "does not state", rows[i].phrase);
}

static void test_programs(void)
{
    static const struct {
        const char *text, *name;
        bool named;
    } rows[] = {
        { "Megatron-DeepSpeed; 1F1B", "Megatron DeepSpeed", true },
        { "ZeRO-1 via DeepSpeed", "DeepSpeed", true },
        { "run with DeepSpeed 0.9", "DeepSpeed", true },
        { "2x faster than DeepSpeed", "DeepSpeed", false },
        { "compared with DeepSpeed", "DeepSpeed", false },
        { "the figures of DeepSpeed's paper", "DeepSpeed", false },
        { "as in DeepSpeed", "DeepSpeed", false },
        { "not DeepSpeed", "DeepSpeed", false },
        { "OurDeepSpeed", "DeepSpeed", false },
        { "OurDeepSpeed; DeepSpeed", "DeepSpeed", true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        ok(row_names_program(rows[i].text, rows[i].name) == rows[i].named,
           "the text '%s' %s %s as what ran", rows[i].text,
           rows[i].named ? "names" : "does not name", rows[i].name);
}

static void test_yes_no(void)
{
    is_int(row_yes_no("True"), 1, "True is yes");
    is_int(row_yes_no("1"), 1, "1 is yes");
    is_int(row_yes_no("off "), 0, "off is no, with a blank behind it");
    is_int(row_yes_no(""), -1, "a blank field is neither yes nor no");
    is_int(row_yes_no("-"), -1, "a dash is neither yes nor no");
    is_int(row_yes_no("partly"), -2, "partly is not understood");
}

int main(void)
{
    static const char *const some[] = { "FSDP", "HSDP" };

    test_phrases();
    test_programs();
    test_yes_no();
    is_str(row_phrases("HSDP over 2 nodes", some, ARRAY_SIZE(some)), "HSDP",
           "the first phrase that is stated is found");
    ok(!row_phrases("DDP", some, ARRAY_SIZE(some)), "no phrase is found where none is stated");
    return done();
}
