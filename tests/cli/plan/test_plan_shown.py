"""What brim plan shows of a layout (../sweeps.py): pictures, sentences, layouts beside each other,
what is said where none fits, and of tables with many reasons; each limit from both sides."""

from sweeps import Sweep

MODEL = ["GPT-2", "--batch", "64"]
# A layout that nothing is left to be searched of.
ONE = "cp=1,micro_batch=1,zero=1,recompute=none,vpp=1,stages=even"


def train(*words):
    return ["plan", "train", *words, "--threads", "1"]


def test_pictures(brim, tmp_path):
    sweep = Sweep(brim, tmp_path, "plan-pictures")
    wide = "tp=8,dp=1,cp=1,micro_batch=1,zero=1,vpp=1,stages=even,recompute=full,pp="
    cases = {
        "one stage": ["GPT-2", "1x8xH100-SXM", "64", "tp=1,pp=1," + ONE],
        "two stages": ["GPT-2", "1x8xH100-SXM", "64", "tp=1,pp=2," + ONE],
        "micro-batches": ["GPT-2", "1x8xH100-SXM", "256", "tp=1,pp=4," + ONE],
        "one micro-batch": ["GPT-2", "1x8xH100-SXM", "4", "tp=1,pp=2,dp=4," + ONE],
        "chunks": ["GPT-2", "1x8xH100-SXM", "64", "tp=1,pp=4,vpp=3,cp=1,micro_batch=1,zero=1"],
        "uneven": ["GPT-2", "1x8xH100-SXM", "64",
                   "tp=1,pp=4,vpp=1,cp=1,micro_batch=1,zero=1,stages=0+2"],
        "gathered": ["Llama-3.2-1B", "1x8xH100-SXM", "64", "tp=1,pp=1,zero=3,micro_batch=1,cp=1"],
        "offloaded": ["Llama-3.2-1B", "1x8xH100-SXM", "64",
                      "tp=1,pp=1,zero=1,micro_batch=1,cp=1,offload=yes"],
        "experts": ["Mixtral-8x7B", "4x8xH100-SXM", "64", "tp=2,pp=4,ep=4," + ONE],
        "dense first": ["DeepSeek-V2-Lite", "1x8xH100-SXM", "64", "tp=1,pp=3,dp=2,ep=2," + ONE],
        "slow network": ["GPT-2", "8x1xL40S,nic=1x1G", "64", "tp=1,pp=4," + ONE],
        "12 stages": ["GPT-2", "2x6xH100-SXM", "24", "tp=1,pp=12," + ONE],
    }
    for pp in (16, 24, 32, 48):
        cases["%d stages" % pp] = ["GPT-3-175B", "%dx8xH100-SXM" % pp, "64", wide + str(pp)]
    for name, (model, spec, batch, pins) in cases.items():
        more = ["--fewer"] if "dp=" in pins else []
        sweep.say(name, train(model, "--cluster", spec, "--batch", batch, "--pin", pins, "--svg",
                              "-", *more), {})
    lora = ["--finetune", "lora", "--svg", "-"]
    sweep.say("adapters", train("Llama-3.2-1B", "-c", "1x8xH100-SXM", "-b", "64", *lora), {})
    sweep.end()


def test_sentences(brim, tmp_path):
    sweep = Sweep(brim, tmp_path, "plan-sentences")
    pins = ["--pin", "tp=1,pp=1," + ONE, "--best", "1"]

    def say(name, *words):
        sweep.say(name, train(*words), {})

    # How long and how dear: a step of GPT-2 has 65,536 tokens.
    job = [*MODEL, "-c", "1x8xH100-SXM", *pins]
    for tokens in ("1", "999", "999999", "1M", "999.9M", "1G", "999.99G", "1T", "300B", "1.23456T",
                   "110T", "115T", "120T", "125T", "20000T"):
        say("tokens " + tokens, *job, "--seq", "1024", "--tokens", tokens)
    for power in range(0, 60):
        say("2^%d tokens" % power, *job, "--seq", "1024", "--tokens", str(1 << power), "--price",
            "0.%d" % (power + 1))
    # Who runs what with how many micro-batches.
    for gpu in ("A100-SXM4-80GB", "V100-SXM2-32GB", "H100-SXM", "H800-SXM", "H100-PCIe", "H200",
                "B200-SXM", "MI300X", "L40S", "A100-PCIe-80GB,nic=8x200G", "RTX-4090"):
        for nodes in (1, 2):
            for zero in (1, 3):
                spec = "%dx8x%s" % (nodes, gpu)
                pinned = "tp=1,pp=1,cp=1,micro_batch=1,recompute=none,zero=%d" % zero
                say("%s zero %d" % (spec, zero), "GPT-2", "-b", "64", "-c", spec, "--best", "1",
                    "--pin", pinned)
    for precision in ("fp8", "fp8_rows", "fp8_blocks"):
        say(precision, *job, "--precision", precision)
    for precision in ("mxfp8", "nvfp4"):
        say(precision, *MODEL, "-c", "1x8xB200-SXM", *pins, "--precision", precision)
    say("experts", "Mixtral-8x7B", "-b", "64", "-c", "4x8xH100-SXM", "--best", "1", "--pin",
        "tp=2,pp=4,ep=4," + ONE)
    for nodes, batches in ((127, 1), (127, 3), (128, 1), (128, 3), (128, 4), (2048, 4), (2049, 4)):
        say("%d nodes, %d micro-batches" % (nodes, batches), "GPT-2", "-b",
            str(8 * nodes * batches), "-c", "%dx8xH100-SXM" % nodes, *pins)
    for kind in ("lora", "qlora", "full", "full,optimizer=adamw8bit"):
        say(kind, "Llama-3.2-1B", "-b", "64", "-c", "1x8xH100-SXM", "--best", "2", "--explain",
            "--finetune", kind)
    # Memory that is nearly full, and just not: 30 GB in steps of 0.1.
    for tenth in range(0, 30):
        say("memory %d" % tenth, "Llama-3.2-1B", "-b", "64", "-c",
            "1x8xH100-SXM,memory=%.1f" % (19.8 + tenth / 10), "--best", "1", "--pin",
            "tp=1,pp=1," + ONE)
    for part in ("moment_bytes=2", "attention=plain", "attention=first", "attention=second",
                 "graphs=yes", "fused_loss=yes", "imbalance=1.5", "engine=torch",
                 "engine=deepspeed", "overlap_dp=no", "fused=no", "gradient_bytes=2"):
        say(part, *MODEL, "-c", "1x8xH100-SXM", "--pin", "tp=1,pp=1," + ONE, "--pin", part,
            "--explain")
        say(part + " of 8 bits", *MODEL, "-c", "1x8xH100-SXM", "--pin", "tp=1,pp=1," + ONE,
            "--pin", part, "--precision", "fp16", "--explain")
    sweep.end()


def test_beside_each_other(brim, tmp_path):
    sweep = Sweep(brim, tmp_path, "plan-beside")
    job = [*MODEL, "-c", "1x8xH100-SXM"]
    some = ["tp=1,pp=1," + ONE, "tp=2,pp=1," + ONE, "tp=1,pp=2," + ONE, "tp=1,pp=2,dp=4", "dp=2",
            "zero=3,tp=1", "tp=8", "tp=12", "pp=5", "recompute=full", "micro_batch=8", "cp=2",
            "tp=2,sp=no", "offload=yes", "zero=0,tp=1,pp=1", "micro_batch=3", "pp=8", "pp=12"]
    for words in some:
        sweep.say("why " + words, train(*job, "--why", words), {})
        sweep.say("why " + words + " of the fastest", train(*job, "--fewer", "--why", words), {})
        sweep.say("compare " + words, train(*job, "--compare", words, "--compare", "tp=1"), {})
    for n in (2, 5, 6, 7, 8):
        sweep.say("%d beside each other" % n, train(*job, "--compare", *some[:1] * n), {})
        sweep.say("%d named" % n,
                  train(*job, *sum((["--compare", w] for w in some[:1] * n), [])), {})
    small = ["GPT-2-XL", "-b", "16", "-c", "1x2xA100-SXM,memory=17"]
    for words in ("tp=1", "tp=2", "zero=3,tp=1", "recompute=none", "zero=0", "pp=2"):
        sweep.say("little memory, why " + words, train(*small, "--why", words), {})
        sweep.say("little memory, compare " + words, train(*small, "--compare", words), {})
    experts = ["Qwen1.5-MoE-A2.7B", "-b", "64", "-c", "2x4xH100-SXM"]
    for words in ("tp=1", "pp=2", "dp=4", "tp=1,pp=2", "tp=2,dp=4", "pp=2,dp=4", "tp=1,pp=2,dp=4",
                  "tp=1,pp=2,dp=4,ep=2", "tp=2,pp=1,dp=4,etp=2", "tp=2,pp=1,dp=2,cp=2"):
        sweep.say("experts, why " + words, train(*experts, "--why", words), {})
    for words in ("tp=2,engine=torch", "attention=plain", "tp=0", "x", ""):
        sweep.say("wrong words " + words, train(*job, "--why", words), {})
    sweep.end()


def test_nothing_fits(brim, tmp_path):
    """The least that is needed, and ways out of it."""
    sweep = Sweep(brim, tmp_path, "plan-nothing")
    for memory in (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20):
        for pins in ("", "tp=1", "tp=1,pp=1,zero=0", "recompute=none", "offload=no", "offload=yes",
                     "zero=3,tp=1,pp=1,micro_batch=1"):
            pinned = ["--pin", pins] if pins else []
            sweep.say("%d GB, %s" % (memory, pins or "any"), train(
                "Llama-3.2-1B", "-b", "8", "-c", "1x2xA100-SXM,memory=%d" % memory, "--best", "1",
                "--seq", "2048", *pinned), {})
    for batch in ("1", "2", "3", "5", "7", "8"):
        sweep.say("a batch of " + batch, train("GPT-2", "-b", batch, "-c", "1x8xH100-SXM",
                                              "--best", "2"), {})
        sweep.say("a batch of %s, dp 8" % batch, train("GPT-2", "-b", batch, "-c", "1x8xH100-SXM",
                                                      "--best", "1", "--pin", "dp=8"), {})
    sweep.end()


HEAD = "model,layers,hidden,heads,seq,gpu,n_gpus,tp,pp,micro_batch,global_batch,iter_time_s,notes\n"


def test_tables_with_many_words(brim, tmp_path):
    """More reasons, and more words, than are told apart."""
    sweep = Sweep(brim, tmp_path, "plan-many")
    row = "GPT,24,1024,16,1024,%s,%d,2,1,1,16,0.5,%s\n"
    for n in (11, 12, 13, 14, 31, 32, 33, 34):
        out = "".join(row % ("X%d" % i, 8, "") for i in range(n)) * 2
        said = "".join(row % ("A100", 16, "%dx100Gb" % (i + 1)) for i in range(n))
        for words in ([], ["--json"], ["--rows"]):
            name = " ".join([str(n), *words])
            sweep.say(name + " reasons", ["plan", "eval", "r.csv", *words], {"r.csv": HEAD + out})
            sweep.say(name + " words", ["plan", "eval", "r.csv", *words], {"r.csv": HEAD + said})
    sweep.end()
