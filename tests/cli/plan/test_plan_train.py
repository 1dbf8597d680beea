"""brim plan train: searches through the command line, and bad input."""

import json
import re
import xml.etree.ElementTree

import pytest
from conftest import ROOT, one_line

SMALL = ("plan", "train", "Llama-3.1-8B", "--cluster=8xH100-SXM", "--batch=64")
LARGE = ("plan", "train", "Llama-3.1-70B", "--cluster=8x8xH100-SXM", "--batch=1024")
CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 8,
    "hidden_size": 1024,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "intermediate_size": 4096,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
}


def plan(brim, *args):
    said = json.loads(brim.out(*args, "--json"))
    assert said["schema"] == "brim.plan.train.v1"
    return said


def test_the_answer(brim):
    said = brim.out(*LARGE, "--tokens=300B", "--price=2")
    assert said.startswith("Llama-3.1-70B on 64 H100-SXM5-80GB: tp ")
    for word in ("A step takes", "tokens/s", "% MFU", "300B tokens take", "days and cost",
                 "of 84.9 GB", "Assumed: ", "sequences of 4096 tokens", "8 ports of 400 Gbit/s"):
        assert word in said.replace("\n", " ").replace("         ", ""), word
    table = said[said.index("      step") :].splitlines()
    assert len(table) == 7 and "layout" in table[0]
    assert table[6].startswith("3 of these besides") and table[6].endswith("predictions tell.")


def test_the_plainest_of_those_that_are_as_fast(brim):
    """Four kinds of parallelism are not worth 2 % of a step that nobody can predict so well."""
    job = (*LARGE, "--cluster=8x8xH100-SXM,memory=80", "--seq=8192")
    said = json.loads(brim.out(*job, "--json"))
    first, steps = said["best"][0], [b["step_s"] for b in said["best"]]
    assert first["layout"]["cp"] == 1 and said["as_fast"] == 0.04
    assert said["fastest_s"] == min(steps) < steps[0] <= 1.04 * min(steps)
    text = brim.out(*job).replace("\n", " ")
    assert "layouts the plainest, " in text and "behind the fastest" in text
    fewer = json.loads(brim.out(*job, "--fewer", "--json"))
    assert fewer["as_fast"] == 0


def test_json_adds_up(brim):
    said = plan(brim, *LARGE, "--tokens=20x", "--price=3", "--best=8")
    best = said["best"]
    assert len(best) == 8 and said["layouts"] > 10000
    assert said["tokens"] == 20 * said["parameters"]
    steps = [b["step_s"] for b in best]
    assert steps[1:] == sorted(steps[1:]) and steps[0] <= 1.04 * steps[1]
    for b in best:
        layout = b["layout"]
        assert layout["tp"] * layout["pp"] * layout["cp"] * layout["dp"] == b["gpus"] == 64
        assert b["memory_b"] <= said["gpu_memory_b"]
        assert sum(b["parts_s"].values()) == pytest.approx(b["step_s"], rel=1e-5)
        assert sum(b["parts_b"].values()) == pytest.approx(b["memory_b"], rel=1e-5)
        assert b["tokens_per_s"] * b["step_s"] == pytest.approx(1024 * 4096, rel=1e-5)
        days = said["tokens"] / b["tokens_per_s"] / 86400
        assert b["days"] == pytest.approx(days, rel=1e-5)
        assert b["cost"] == pytest.approx(days * 24 * 64 * 3, rel=1e-5)
    degrees = [tuple(b["layout"][k] for k in ("tp", "pp", "cp", "ep", "etp", "dp")) for b in best]
    assert len(set(degrees)) == 8


def test_any_number_of_threads_says_the_same(brim):
    alone = brim.out(*LARGE, "--json", "--pareto", "--threads=1")
    for threads in (2, 3, 8):
        assert brim.out(*LARGE, "--json", "--pareto", f"--threads={threads}") == alone


def test_a_layout_comes_back_from_its_words(brim):
    best = plan(brim, *LARGE)["best"]
    for b in best:
        again = plan(brim, *LARGE, "--pin", b["words"])["best"]
        assert again[0]["step_s"] == b["step_s"] and again[0]["layout"] == b["layout"]


def test_pins(brim):
    for pins in ({"tp": 8}, {"pp": 2, "micro_batch": 2}, {"recompute": "full", "zero": 3},
                 {"cp": 2, "context": "gather"}):
        words = [f"--pin={k}={v}" for k, v in pins.items()]
        layout = plan(brim, *LARGE, *words)["best"][0]["layout"]
        assert {k: layout[k] for k in pins} == pins
    free = plan(brim, *LARGE)["best"][0]["step_s"]
    assert plan(brim, *LARGE, "--pin=tp=8")["best"][0]["step_s"] >= free
    assert plan(brim, *LARGE, "--pin=schedule=any")["best"][0]["step_s"] <= free


def test_states_of_fp16(brim):
    """Megatron-LM has gradients of fp16 in 32 bits for its optimizer: 20 bytes a parameter (18 with
    bf16), of which ZeRO-1 divides 16."""
    pins = "--pin=tp=8,pp=1,cp=1,zero=0,recompute=full"
    parts = {p: plan(brim, *SMALL, pins, f"--precision={p}")["best"][0]["parts_b"]
             for p in ("fp16", "bf16")}
    weights = parts["bf16"]["weights"]
    for precision, gradients, states in (("bf16", 2, 6), ("fp16", 1, 8)):
        assert parts[precision]["gradients"] == pytest.approx(gradients * weights)
        assert parts[precision]["optimizer"] == pytest.approx(states * weights)
    text = " ".join(brim.out(*SMALL, pins, "--precision=fp16", "--explain").split())
    assert "master weights, gradients in 32 bits and both moments, 16 bytes" in text


def test_tensor_parallelism_alone(brim):
    """Sequence parallelism is tried with tp and without; the card says where there is none."""
    alone, beside = (brim.out(*SMALL, f"--pin=tp=2,cp=1,dp=4,sp={sp}") for sp in ("no", "yes"))
    assert ": tp 2, no sequence parallelism, pp 1, dp 4" in " ".join(alone.split())
    assert "sequence parallelism" not in beside and "seq_parallel" not in beside
    free, both = (plan(brim, *SMALL, f"--pin=tp=2,cp=1,dp=4{sp}") for sp in ("", ",sp=any"))
    assert free["layouts"] == both["layouts"] > plan(brim, *SMALL, "--pin=tp=2,cp=1,dp=4,sp=yes")[
        "layouts"]


def test_explain(brim):
    said = brim.out(*SMALL, "--explain")
    for word in ("Where the", "matrix products", "tiles in waves", "optimizer", "overhead",
                 "master weights and both moments"):
        assert word in said
    shares = [
        float(line.split("%")[0].split()[-1])
        for line in said.split("of a step go:")[1].split("\n\n")[0].splitlines()[1:]
    ]
    assert sum(shares) == pytest.approx(100, abs=1)


def test_fewer_and_pareto(brim):
    said = plan(brim, "plan", "train", "Llama-3.2-1B", "--cluster=8xH100-SXM", "--batch=16",
                "--fewer", "--pareto")
    front = said["pareto"]
    assert len({f["gpus"] for f in front}) > 3
    for a in front:
        for b in front:
            assert a is b or not (
                a["step_s"] <= b["step_s"] and a["gpus"] <= b["gpus"]
                and a["memory_b"] <= b["memory_b"] - 1e9
            )


def test_fewer_in_text_is_a_line_for_each_number(brim):
    said = brim.out("plan", "train", "Llama-3.2-1B", "--cluster=2x8xH100-SXM", "--batch=16",
                    "--fewer", "--pareto", "--best=1")
    table = said.split("The fastest on each number of GPUs")[1].splitlines()[2:]
    rows = [(float(line.split()[0]) * (1 if line.split()[1] == "s" else 1e-3),
             int(line.split("%")[-1].split()[1])) for line in table]
    assert len(rows) > 3
    assert rows == sorted(rows) and len({gpus for _, gpus in rows}) == len(rows)


def test_gpus_that_nothing_takes_all_of(brim):
    args = ("plan", "train", "Llama-3.1-8B", "--cluster=641x8xA100", "--batch=2520", "--seq=2048")
    said = plan(brim, *args)
    assert said["gpus"] == 5128 and said["fewer"] and said["best"][0]["gpus"] < 5128
    text = " ".join(brim.out(*args).split())
    assert "of the 5,128 A100-SXM4-80GB" in text and "No layout has all 5,128 GPUs" in text


def test_compare(brim):
    said = brim.out(*SMALL, "--compare", "tp=8", "tp=4,pp=2", "--compare=dp=8,zero=3")
    names = said.splitlines()[:3]
    # Those named by the option come first.
    assert names[0].startswith("A  tp=8,") and names[1].startswith("B  tp=1,pp=1,dp=8")
    assert names[2].startswith("C  tp=4,pp=2,")
    assert "data parallel" in said and "tokens/s" in said and "GB of 85" in said
    one_line(brim(*SMALL, "--compare", "tp=3"), 1, "tp=3 is not possible: 32 heads do not divide")


@pytest.mark.parametrize(
    "layout, words",
    [
        ("tp=3", "tp=3 is not possible: 64 heads do not divide by tp 3."),
        ("tp=8,pp=1", "longer than the plainest of those as fast: data parallel +"),
        ("tp=1,pp=1,zero=0", "does not fit"),
        ("tp=1,pp=1,zero=0", "the largest part are optimizer with"),
    ],
)
def test_why(brim, layout, words):
    assert words in " ".join(brim.out(*LARGE, "--why", layout).split())


def test_why_not_the_fastest(brim):
    words = plan(brim, *LARGE)["best"][0]["words"]
    assert "is part of the layout that is" in " ".join(brim.out(*LARGE, "--why", words).split())


def test_svg(brim, tmp_path):
    for args in (SMALL, LARGE + ("--pin=pp=4",)):
        path = tmp_path / "plan.svg"
        pipeline = "" if args is SMALL else " and the pipeline"
        parts = f"has the memory of each stage, the step by parts{pipeline}"
        assert brim.out(*args, "--svg", path) == f"{path} {parts}\n"
        assert brim.out(*args, "--svg", "-") == path.read_text()
        tree = xml.etree.ElementTree.parse(path)
        text = " ".join(t.text or "" for t in tree.iter() if t.tag.endswith("text"))
        assert "Memory of a GPU by stage" in text and "of a step by parts" in text
        assert ("The pipeline: " in text) == (args is not SMALL)
        assert "href" not in path.read_text()
        squares = [e for e in tree.iter() if e.get("width") == e.get("height") == "10.0"]
        parts = [e.get("class") for e in squares if e.get("y") == squares[0].get("y")]
        assert len(parts) >= 5 and len(set(parts)) == len(parts), "two parts of memory look alike"
        width, height = float(tree.getroot().get("width")), float(tree.getroot().get("height"))
        for r in (e for e in tree.iter() if e.tag.endswith("rect")):
            x, y, w, h = (float(r.get(k)) for k in ("x", "y", "width", "height"))
            assert x >= 0 and y >= 0 and w >= 0 and x + w <= width and y + h <= height


def luminance(colour):
    """Of "#rrggbb", as WCAG 2.1 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def colours(text, dark):
    """class: the colour of its fill, in a style sheet with properties."""
    light, *others = re.split(r"@media \(prefers-color-scheme:dark\)", text)
    night = "".join(re.match(r"\{(?:[^{}]*\{[^}]*\})*[^}]*\}", o)[0] for o in others)
    values = dict(re.findall(r"--(\w+):(#\w{6})", light))
    found = {}
    if dark:
        values.update(re.findall(r"--(\w+):(#\w{6})", night))
    for name, rest in re.findall(r"\.brim \.(\w+)\{(fill[^}]*)\}", text):
        last = rest.split(";")[-1] if "stroke" not in rest else rest.split(";")[1]
        name_of = re.search(r"var\(--(\w+)\)", last)
        found.setdefault(name, values[name_of[1]] if name_of else last.split(":")[1])
    if dark:
        found.update(re.findall(r"\.brim \.(\w+)\{fill:(#\w{6})\}", night))
    return found


@pytest.mark.parametrize("dark", (False, True))
def test_colours_of_the_picture(brim, dark):
    """What is drawn stands out from the ground by 3 to 1 (WCAG 2.1, 1.4.11), and text by 4.5."""
    text = brim.out(*LARGE, "--pin=pp=4,zero=1", "--svg", "-")
    fills = colours(text, dark)
    ground = luminance(fills["bg"])
    drawn = {c for c in re.findall(r'<rect class="(\w+)"', text) if c != "bg"}
    assert len(drawn) >= 6 and len({fills[c] for c in drawn}) == len(drawn)
    for name in drawn | {"dim"}:
        one = luminance(fills[name])
        contrast = (max(one, ground) + 0.05) / (min(one, ground) + 0.05)
        assert contrast >= (4.5 if name == "dim" else 3), (name, fills[name], contrast)


def test_a_model_that_does_not_fit(brim):
    done = brim("plan", "train", "Llama-3.1-405B", "--cluster=8xH100-SXM", "--batch=64")
    one_line(done, 1, "Llama-3.1-405B does not fit 8 H100-SXM5-80GB", "GB more than the 85 GB",
             "of these GPUs would do")
    gpus = int(done.stderr.split("; ")[1].split()[0])
    wide = f"--cluster={gpus // 8}x8xH100-SXM"
    assert plan(brim, "plan", "train", "Llama-3.1-405B", wide, "--batch=64")["best"]
    one_line(brim(*LARGE, "--pin=zero=0,tp=1,pp=1,recompute=none"), 1, "does not fit",
             "without what is pinned there are layouts that fit")


def test_configs(brim, tmp_path):
    path = tmp_path / "config.json"
    rest = ("--cluster=8xH100-SXM", "--batch=64")
    path.write_text(json.dumps(CONFIG))
    assert plan(brim, "plan", "train", path, *rest)["seq"] == 2048
    assert plan(brim, "plan", "train", tmp_path, *rest)["best"]
    for missing in ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"):
        path.write_text(json.dumps({k: v for k, v in CONFIG.items() if k != missing}))
        one_line(brim("plan", "train", path, *rest), 1, path, missing)
    for key, value, words in (
        ("num_attention_heads", 7, "heads"),
        ("num_key_value_heads", 3, "8 heads do not divide by 3 key-value heads"),
        ("num_hidden_layers", 0, "layers is 0: it must be 1 to 10000"),
        ("hidden_size", -1, "whole number"),
        ("vocab_size", "many", "whole number"),
        ("hidden_size", 10**9, "hidden"),
    ):
        path.write_text(json.dumps({**CONFIG, key: value}))
        one_line(brim("plan", "train", path, *rest), 1, path, words)
    path.write_text("{")
    one_line(brim("plan", "train", path, *rest), 1, path)


@pytest.mark.parametrize(
    "status, args, words",
    [
        (2, ("--cluster=8x8xH10-SXM",), ("unknown GPU 'H10-SXM'", "did you mean H100-SXM?")),
        (2, ("--cluster=0x8xH100",), ("whole number from 1",)),
        (2, ("--cluster=",), ("--cluster needs a value",)),
        (1, ("--cluster=none.ini",), ("none.ini: No such file",)),
        (2, ("--batch=0",), ("--batch must be from 1",)),
        (2, ("--batch=-4",), ("'-4'",)),
        (2, ("--batch=99999999999",), ("'99999999999'",)),
        (2, ("--batch-tokens=4M",), ("--batch and --batch-tokens say the same",)),
        (2, ("--seq=0",), ("--seq must be from 1",)),
        (2, ("--seq=1e9",), ("'1e9'",)),
        (2, ("--tokens=0",), ("--tokens is a number of tokens above 0",)),
        (2, ("--tokens=lots",), ("'lots'",)),
        (2, ("--price=-1",), ("--price is that of a GPU for an hour",)),
        (2, ("--price=nan",), ("--price",)),
        (2, ("--precision=nvfp4",), ("H100-SXM5-80GB does not compute in nvfp4",)),
        (2, ("--pin=tq=3",), ("--pin: unknown part of a layout 'tq'",)),
        (2, ("--pin=tp=0",), ("--pin: tp is a whole number from 1",)),
        (1, ("--pin=tp=3",), ("no such layout is possible: 32 heads do not divide by tp 3",)),
        (1, ("--pin=tp=8,pp=8",), ("no such layout is possible", "is more than the 8 GPUs")),
        (2, ("--pin=tp=8", "--pin=tp=4"), ("--pin: tp stands twice",)),
        (2, ("--compare=imbalance=2",), ("what is not of the layout belongs into --pin",)),
    ],
)
def test_bad_input(brim, status, args, words):
    """2 where the command line is wrong, 1 where what it names is not there or cannot be."""
    one_line(brim(*SMALL, *args), status, *words)


def shown(page):
    """Commands of a page with what is shown of their output, parted where it has '...'."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for block in re.finditer(r"```\n\$ brim ([^\n]*)\n(.*?)```", text, re.S):
        parts = re.split(r"^\.\.\.\n", block[2], flags=re.M)
        yield block[1], [part.strip("\n") for part in parts]


@pytest.mark.parametrize(("command", "parts"), shown("plan-train.md"))
def test_the_page_shows_what_is_said(brim, command, parts):
    done = brim(*command.split())
    for part in parts:
        assert part in done.stdout, f"docs/plan-train.md: {command} says other than is shown"


def test_a_way_out_through_the_host(brim):
    job = ("plan", "train", "Llama-3.1-70B", "--cluster=8xH100-SXM", "--batch=64")
    one_line(brim(*job), 1, "16 of these GPUs would do", "--pin=offload=yes")
    said = brim.out(*job, "--pin=offload=yes", "--best=1")
    said = " ".join(said.split())
    assert "optimizer states in the host's memory" in said and "of each node's memory" in said
    said = json.loads(brim.out(*job, "--pin=offload=any", "--json"))["best"][0]
    assert said["layout"]["offload"] and not said["layout"]["overlap_ep"]


def test_models_that_nobody_knows(brim):
    rest = ("--cluster=8xH100-SXM", "--batch=64")
    one_line(brim("plan", "train", "Llama-3.1-9B", *rest), 2, "did you mean Llama-3.1-8B?")
    missing = "none/config.json"
    one_line(brim("plan", "train", missing, *rest), 1, missing, "No such file")
    one_line(brim("plan", "train", "some/thing", *rest), 2, "no such file, and unknown model")
    one_line(brim("plan", "train", "GPT-2", "--cluster=8xH100-SXM", "--batch=64", "--seq=4096"), 2,
             "--seq=4096: the model has 1024 positions")


@pytest.mark.parametrize(
    "args, words",
    [
        (("plan", "train"), "name a model"),
        (SMALL + ("extra",), "'extra'"),
        (SMALL + ("--best=999",), "--best must be from 1 to 64"),
        (SMALL + ("--best=x",), "--best"),
        (SMALL + ("--why=tp=8", "--json"), "give one of them"),
        (SMALL + ("--svg=",), "--svg needs a value"),
        (SMALL + ("--why=tp=8", "--best=3"), "--best is of the list of layouts, and --why shows"),
        (SMALL + ("--svg=x.svg", "--explain"), "--explain is of the list of layouts, and --svg"),
        (SMALL + ("--emit=megatron", "--pareto"), "--pareto is of the list of layouts, and --emit"),
        (SMALL + ("--compare=tp=8", "--explain"), "--explain is of the list of layouts"),
        (SMALL + ("--precision=int8",), "is not one of fp16, bf16"),
    ],
)
def test_usage(brim, args, words):
    one_line(brim(*args), 2, words)


def test_an_ini_file_and_this_machine(brim, tmp_path):
    ini = tmp_path / "c.ini"
    ini.write_text("[cluster]\ngpu = H100-SXM\nnodes = 8\ngpus = 8\nprice = 2\n")
    said = plan(brim, "plan", "train", "Llama-3.1-70B", "--batch=1024", "--cluster", ini,
                "--tokens=1T")
    same = plan(brim, *LARGE)
    assert said["best"][0]["step_s"] == same["best"][0]["step_s"] and said["best"][0]["cost"] > 0
    ini.write_text("[cluster]\ngpu = H100-SXM\nnode = 8\n")
    one_line(brim("plan", "train", "Llama-3.1-70B", "--batch=1024", "--cluster", ini), 1,
             f"{ini}:3: unknown key 'node' (did you mean nodes?)")
    machines = ROOT / "tests" / "fixtures" / "machines"
    done = brim("plan", "train", "Llama-3.2-1B", "--batch=8", "--cluster", machines / "workstation")
    assert done.returncode == 0 or done.stderr.count("\n") == 1
    # What a process can have, of what the driver says; where that is not known, what that says.
    for name, gib in (("dgx-h100", 79.11), ("mi300x-8", 191.98), ("ascend-910b", 64)):
        job = ("plan", "train", "Llama-3.2-1B", "--batch=64", "--cluster", machines / name)
        said = plan(brim, *job)
        assert said["gpu_memory_b"] == pytest.approx(gib * 2**30, rel=1e-5), name


MEGATRON = "fused attention and kernels as in Megatron-LM, gradients of {} bits, moments of 32, "
PYTORCH = "FlashAttention-2, other kernels of PyTorch one by one, gradients of 16 bits, "


@pytest.mark.parametrize("gpu, engine, precision, degrees, said", [
    ("H100-SXM5-80GB", "", "bf16", (8, 1, 1, 1), MEGATRON.format(32) + "collectives of tensor and"),
    ("A100-SXM4-80GB", "", "bf16", (8, 1, 1, 1), MEGATRON.format(32) + "collectives of data"),
    ("H100-SXM5-80GB", "", "bf16", (4, 4, 2, 1), "and sends of stages with chunks"),
    ("A100-SXM4-80GB", "", "bf16", (4, 4, 2, 1), "and sends of stages with chunks"),
    ("A100-SXM4-80GB", "", "fp16", (8, 1, 1, 1), MEGATRON.format(16)),
    ("H100-SXM5-80GB", "torch", "bf16", (1, 1, 1, 3), PYTORCH),
    ("A100-SXM4-80GB", "torch", "bf16", (1, 1, 1, 3), PYTORCH),
    ("A100-SXM4-80GB", "deepspeed", "bf16", (4, 1, 1, 1), "data parallelism with ZeRO-3 beside"),
    ("A100-SXM4-80GB", "deepspeed", "bf16", (1, 1, 1, 3), "gradients of 16 bits"),
])
def test_train_assumes_what_eval_assumes(brim, tmp_path, gpu, engine, precision, degrees, said):
    """The same layout takes the same time where the search prices it and where it is a measured row
    of the same engine; what is taken of programs is named."""
    tp, pp, vpp, zero = degrees
    path = tmp_path / "runs.csv"
    name = {"": "Megatron-LM", "torch": "PyTorch", "deepspeed": "DeepSpeed"}[engine]
    parallel = int(tp > 1 and engine != "deepspeed")
    path.write_text(
        "model,gpu,n_gpus,tp,pp,vpp,micro_batch,global_batch,seq,precision,recompute,seq_parallel,"
        "zero_stage,engine,iter_time_s\n"
        f"Llama-3.1-8B,{gpu},64,{tp},{pp},{vpp},2,128,8192,{precision},full,{parallel},{zero},"
        f"{name},1\n"
    )
    row = json.loads(brim.out("plan", "eval", "--json", path))["tables"][0]["predictions"][0]
    layout = (f"tp={tp},pp={pp},vpp={vpp},dp={64 // tp // pp},micro_batch=2,recompute=full,"
              f"zero={zero},shard=0,stages=even" + (",sp=no" if tp > 1 and not parallel else "")
              + (f",engine={engine}" if engine else ""))
    found = json.loads(brim.out("plan", "train", "Llama-3.1-8B", "--cluster", f"8x8x{gpu}",
                                "--batch=128", "--seq=8192", f"--precision={precision}", "--pin",
                                layout, "--json"))
    assert found["best"][0]["step_s"] == pytest.approx(row["time_s"], rel=1e-4)
    assert said in found["assumed"]


@pytest.mark.parametrize("pins, said", [
    ("attention=plain,fused=no",
     "attention with its scores in memory, other kernels of Megatron-LM one by one"),
    ("gradient_bytes=2,moment_bytes=2", "gradients of 16 bits, moments of 16"),
    ("overlap_dp=no,overlap_tp=no,overlap_pp=no", "no collectives beside the compute; no CUDA"),
    ("overlap_dp=no", "collectives of tensor parallelism beside the compute, and sends"),
    ("graphs=yes,fused_loss=yes", "CUDA graphs, the loss in pieces"),
    ("engine=torch,fused=yes", "FlashAttention-2 and kernels as torch.compile fuses them"),
    ("engine=torch,zero=1", "gradients of 32 bits"),
])
def test_what_is_pinned_is_not_assumed_otherwise(brim, pins, said):
    assert said in plan(brim, *SMALL, "--pin=" + pins)["assumed"]


def test_all_that_is_assumed_is_listed(brim):
    said = plan(brim, *LARGE)["assumed"]
    for words in ("8 ports of 400 Gbit/s", "products in bf16", "fused attention", "gradients of 32",
                  "moments of 32", "no CUDA graphs", "the loss of all logits at once",
                  "sequences of 4096 tokens"):
        assert words in said, words
    experts = ("plan", "train", "Mixtral-8x7B", "--cluster=8x8xH100-SXM", "--batch=512")
    assert "experts with even loads" in plan(brim, *experts)["assumed"]
    assert "even loads" not in plan(brim, *experts, "--pin=imbalance=1.2")["assumed"]
    assert "bf16" not in plan(brim, *SMALL, "--precision=bf16")["assumed"]


@pytest.mark.parametrize("model, cluster, extra, error", [
    ("Llama-3.1-8B", "8x8xH100-SXM", "zero=1", 0.04),
    ("Llama-3.1-8B", "8x8xH100-SXM", "zero=3", 0.06),
    ("Qwen3-30B-A3B", "8x8xH100-SXM", "zero=1", 0.27),
    ("Llama-3.1-8B", "8x8xA100-SXM", "zero=1", 0.03),
    ("Llama-3.2-1B", "1x8xA100-SXM", "zero=1", 0.07),
    ("Llama-3.1-8B", "8x8xMI300X", "zero=1", "rates of MI300X are from published products"),
    ("Llama-3.1-8B", "8x8xH200-SXM", "zero=1", "rates of H200-SXM-141GB are from timed operations"),
    ("Llama-3.2-1B", "8xA10", "zero=3", "too few runs on A10 were compared"),
])
def test_how_sure(brim, model, cluster, extra, error):
    """Each class of runs has its own error to expect; where too few were compared there is none,
    and it is said what the rates of products are from."""
    words = ("plan", "train", model, f"--cluster={cluster}", "--batch=512", "--seq=4096",
             "--best=1", "--pin", extra)
    best = plan(brim, *words)["best"][0]
    assert best.get("error_expected") == (error if isinstance(error, float) else None)
    each = best["tokens_per_s"] / best["gpus"]
    assert best["tokens_per_s_per_gpu"] == pytest.approx(each, rel=1e-4)
    text = " ".join(brim.out(*words).split("\n\n")[0].split())
    expected = f"were {100 * error:.0f} % off" if isinstance(error, float) else error
    assert "How sure: " in text and expected in text
    assert f"and {best['flops_per_gpu'] / 1e12:,.0f} TFLOP/s of a GPU" in text
    assert "micro-batch" not in text.split("How sure: ")[1]


def test_doubts(brim):
    """A layout beyond all runs that were compared, with one micro-batch each, is doubted."""
    words = ("plan", "train", "Llama-3.1-8B", "--cluster=4000x8xH100-SXM", "--batch=32000",
             "--seq=8192", "--best=1", "--pin=tp=1,pp=1,cp=1")
    text = " ".join(brim.out(*words).split())
    assert "no run had more than 16,384 GPUs" in text
    assert "with 1 micro-batch a step most of what is exposed between GPUs counts" in text


def test_scales_of_8_bits(brim):
    """A scale for each row costs more than one for each tensor, and less than 16 bits; blocks are a
    kind of their own. No run tells their error."""
    times = {}
    for precision in ("bf16", "fp8_rows", "fp8", "fp8_blocks"):
        words = ("plan", "train", "Llama-3.1-8B", "--cluster=8xH100-SXM", "--batch=64",
                 "--seq=4096", f"--precision={precision}", "--best=1", "--pin=tp=1,pp=1,cp=1")
        said = plan(brim, *words)
        assert said["precision"] == precision
        times[precision] = said["best"][0]["step_s"]
        if precision.startswith("fp8_"):
            text = " ".join(brim.out(*words).split())
            assert f"too few runs on H100-SXM5-80GB with {precision} were compared" in text
    assert times["bf16"] > times["fp8_rows"] > times["fp8"] != times["fp8_blocks"]
    refused = brim("plan", "train", "Llama-3.1-8B", "--cluster=8xA100-SXM", "--batch=64",
                   "--precision=fp8_rows")
    assert refused.returncode == 2 and "does not compute in fp8_rows" in refused.stderr


def test_limit_of_power(brim):
    """H100s with 500 W: their clock falls with the cube root, which the card says; it is no limit
    at what they take anyway."""
    words = ["plan", "train", "Llama-3.1-8B", "--batch=64", "--seq=4096", "--best=1",
             "--pin=tp=1,pp=1,cp=1"]
    full, limit, same = (plan(brim, *words, f"--cluster=8xH100-SXM{power}")
                         for power in ("", ",power=500", ",power=700"))
    slower = limit["best"][0]["step_s"] / full["best"][0]["step_s"]
    assert 1.05 < slower < (700 / 500) ** (1 / 3)
    assert same["best"][0]["step_s"] == full["best"][0]["step_s"]
    said = "500 W a GPU instead of 700: its clock falls with the cube root"
    assert said in limit["assumed"] and "cube root" not in same["assumed"]
    refused = brim(*words, "--cluster=8xH100-SXM,power=100")
    assert refused.returncode == 2 and "a limit of power is 350 to 700 W" in refused.stderr
