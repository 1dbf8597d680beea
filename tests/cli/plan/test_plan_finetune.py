"""--finetune: LoRA, QLoRA, frozen layers and optimizers of 8 bits, against measured runs."""

import json
import sys

import pytest
from conftest import ROOT, one_line

sys.path.insert(0, str(ROOT / "script"))
import plan_finetune


def memory(brim, model, finetune, *args):
    said = brim("plan", "memory", model, "--json", f"--finetune={finetune}", *args)
    (one,) = json.loads(said.stdout)["models"]
    return one


def test_measured_rows(brim):
    """Rows for development: all that ran out of memory, and nearly all within a tenth."""
    rows = plan_finetune.rows_of(brim.program, "development")
    n, mean, _, _, within = plan_finetune.figures(rows)
    assert n >= 50 and mean < 0.045 and within >= n - 1
    assert all(not r.fits for r in rows if r.out) and sum(r.out for r in rows) == 6
    assert all(r.fits for r in rows if not r.out)


@pytest.mark.once
def test_the_page_has_these_figures(brim):
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    made = plan_finetune.section(brim.program)
    assert made in page, "make docs/accuracy.md again: script/accuracy BRIM TABLES"


def test_rows_have_sources():
    with open(plan_finetune.TABLE, encoding="utf-8") as f:
        table = list(plan_finetune.csv.DictReader(f))
    assert len(table) == 93 and all(r["source"] for r in table)
    assert all(r["mem_gb"] or r["notes"].startswith("OOM") for r in table)


def test_words_change_it(brim):
    card = ("--cluster=1xA100-80GB", "--seq=2048", "--pin=recompute=full")

    def total(words):
        return memory(brim, "Llama-3.1-8B", words, *card)["total_b"]

    lora = total("lora")
    assert total("qlora") < total("qlora,weights=nf4") < lora
    assert total("lora,rank=64") > lora > total("lora,modules=q+v")
    assert total("lora,rank=256") > total("lora,rank=256,optimizer=adamw8bit")
    assert total("lora,rank=256,optimizer=adamw8bit") > total("lora,rank=256,optimizer=paged8bit")
    assert total("lora,frozen=16") < lora < total("full,optimizer=adamw8bit")
    assert total("full,frozen=16,optimizer=adamw8bit") < total("full,optimizer=adamw8bit")


def test_train_answers_for_adapters(brim):
    args = ("plan", "train", "Llama-3.1-8B", "--cluster=1xRTX-4090", "--batch=16", "--seq=2048")
    full = brim(*args)
    assert full.returncode == 1 and "does not fit" in full.stderr
    said = brim.out(*args, "--finetune=qlora")
    assert "weights of 4 bits (nf4-dq)" in said and "memory of 85 measured runs" in said
    best = json.loads(brim.out(*args, "--finetune=qlora", "--json"))["best"][0]
    assert best["memory_b"] <= 24e9 and best["error_expected"] is None
    explained = brim.out(*args, "--finetune=qlora", "--explain")
    assert "frozen ones as they are kept" in explained and "12 bytes" not in explained


def test_several_cards_share_frozen_weights(brim):
    said = json.loads(
        brim.out("plan", "train", "Llama-3.1-70B", "--cluster=8xA100-80GB", "--batch=16",
                 "--seq=2048", "--finetune=lora", "--json")
    )
    best = said["best"][0]
    assert best["layout"]["zero"] == 3 and best["layout"]["tp"] == 1
    one_line(brim("plan", "memory", "Llama-3.1-8B", "--finetune=lora", "--pin=tp=2"), 1,
             "tp, pp and cp are 1")


def test_bad_input(brim):
    def refused(words, status, text, model="Llama-3.1-8B"):
        one_line(brim("plan", "memory", model, f"--finetune={words}"), status, text)

    refused("lorra", 2, "did you mean 'lora'")
    refused("lora,rank=0", 2, "from 1 to 4096")
    refused("lora,modules=q+z", 2, "unknown matrix 'z'")
    refused("full,rank=8", 2, "is of adapters")
    refused("lora,frozen=32", 2, "leaves nothing to train")
    refused("lora", 2, "beside experts are not modelled", "Mixtral-8x7B")
    one_line(brim("plan", "eval", "x.csv", "--finetune=lora"), 2,
             "--finetune is no option of plan eval")
    one_line(brim("plan", "train", "Llama-3.1-8B", "-c", "8xH100", "-b", "8", "--finetune=lora",
                  "--emit", "megatron"), 2, "no words for --finetune")
