"""brim bench: figures are there and plausible, broken libraries cost nothing but themselves."""

import glob
import json
import os
import re

import pytest
from conftest import one_line

REFERENCE = glob.glob("/usr/lib/*/blas/libblas.so.3")
OPENBLAS = glob.glob("/usr/lib/*/openblas-*/libblas.so.3")
BROKEN = os.environ.get("FAKE_BLAS_LIB", "")
CUDA = os.environ.get("FAKE_CUDA_DIR", "")
QUICK = ("bench", "compute", "--seconds", "20ms")


@pytest.fixture
def bench(brim, tmp_path):
    def call(*args, env=None):
        return brim(*QUICK, *args, env=dict(env or {}, STATE_DIRECTORY=str(tmp_path)))

    return call


@pytest.fixture
def gpus(bench):
    """Measure GPUs alone, and tell what JSON says of them."""
    def call(*args, env=None):
        done = bench("--only", "gpus", "--json", *args, env=env)
        return done, json.loads(done.stdout)["gpus"]

    return call


def figures(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not REFERENCE, reason="needs libblas3")
def test_a_blas(bench, tmp_path):
    seen = figures(bench("--blas", REFERENCE[0], "--json"))
    assert seen["blas"] == "reference" and seen["all_by"] == "copies"
    cores = len(os.sched_getaffinity(0))
    assert 1 <= seen["cores"] <= cores == seen["cpus"]
    for kind in ("float32_gflops", "float64_gflops", "copy_gbs"):
        assert 0.01 < seen[kind]["one_core"] < 2000, seen
        assert 0.01 < seen[kind]["all_cores"] < 20000, seen
    kept = (tmp_path / "bench" / "compute-reference.ini").read_text()
    assert "float32_one = %.6g\n" % seen["float32_gflops"]["one_core"] in kept
    text = bench("--blas", REFERENCE[0]).stdout
    assert "BLAS  reference" in text and "GFLOP/s" in text and "a copy on each" in text


@pytest.mark.timed
@pytest.mark.skipif(not (REFERENCE and OPENBLAS), reason="needs two libraries")
def test_libraries_differ(bench):
    """The ratio, on one machine at one time, is what counts."""
    slow = figures(bench("--blas", REFERENCE[0], "--json"))["float32_gflops"]["one_core"]
    seen = figures(bench("--blas", OPENBLAS[0], "--json"))
    assert seen["blas"] == "openblas" and seen["all_by"] == "threads"
    assert seen["float32_gflops"]["one_core"] > 3 * slow


@pytest.mark.skipif(not REFERENCE, reason="needs libblas3")
def test_a_run_knows_the_result(bench, brim, tmp_path):
    figures(bench("--blas", REFERENCE[0], "--json"))
    env = dict(STATE_DIRECTORY=str(tmp_path))
    for name in ("first", "other"):
        assert brim("run", "-q", "--name", name, "true", env=env).returncode == 0
        if name == "first":
            for path in (tmp_path / "bench").iterdir():
                path.write_text(path.read_text().replace("host = ", "host = other"))
    diff = brim("runs", "diff", "first", "other", "--json", env=env)
    notes = {n["name"]: n for n in json.loads(diff.stdout)["environment"]}
    assert notes["bench.blas.reference"]["a"].endswith("GFLOP/s")
    assert notes["bench.blas.reference"]["b"] is None  # that is another machine's


def test_what_is_no_blas(bench, tmp_path):
    text = tmp_path / "x.so"
    text.write_text("x")
    one_line(bench("--blas", text), 1, str(text))
    one_line(bench("--blas", "/nowhere/x.so"), 1, "/nowhere/x.so", "No such file")
    one_line(bench("--blas", ""), 2, "--blas needs a value")


@pytest.mark.parametrize("only", ["all", "gpus"])
def test_what_is_no_cublas(bench, tmp_path, only):
    """Told before anything is measured, whether there is a GPU or not."""
    text = tmp_path / "x.so"
    text.write_text("x")
    for path, why in [(text, "file too short"), ("/nowhere.so", "No such file"),
                      (tmp_path, "Is a directory"), ("libc.so.6", "lacks cublasCreate_v2")]:
        said = bench("--cublas", path, "--seconds", "1m", "--only", only)
        one_line(said, 1, "brim bench: ", why)
    assert not (tmp_path / "bench").exists()


@pytest.mark.skipif(not BROKEN, reason="needs the fake BLAS")
def test_a_broken_blas(bench):
    one_line(bench("--blas", BROKEN, env=dict(FAKE_BLAS="crash")), 1, "killed by signal 9")
    one_line(bench("--blas", BROKEN), 1, "its product of matrices is wrong")
    said = bench("--blas", BROKEN, env=dict(FAKE_BLAS="bit"))
    one_line(said, 1, "its product of matrices is wrong in row 17 of 128")


@pytest.mark.skipif(not BROKEN, reason="needs the fake BLAS")
def test_a_wrong_product_of_the_blas_that_is_found(bench, tmp_path):
    """Nobody asked for that library: the other figures are shown, and the status tells."""
    (tmp_path / "libblas.so.3").symlink_to(BROKEN)
    done = bench("--json", env=dict(LD_LIBRARY_PATH=str(tmp_path), FAKE_BLAS="bit"))
    assert done.returncode == 1 and "wrong in row 17" in done.stderr
    assert done.stderr.count("\n") == 1
    seen = json.loads(done.stdout)
    assert seen["float32_gflops"]["one_core"] is None and seen["copy_gbs"]["one_core"] > 0


def test_usage(bench, brim):
    one_line(brim("bench"), 2, "brim bench compute")
    one_line(brim("bench", "memory"), 2, "unknown measurement 'memory'")
    one_line(brim("bench", "compute", "--seconds", "2m"), 2, "--seconds must be from 10ms to 1m")
    one_line(bench("--only", "gpus", "--blas", "x.so"), 2, "--only gpus leaves them out")
    one_line(bench("--only", "cpus", "--cublas", "x.so"), 2, "--only cpus leaves them out")


def test_cpus_alone(bench, tmp_path):
    """The driver, which would tell of two GPUs, is not asked."""
    seen = figures(bench("--only", "cpus", "--json", env=dict(LD_LIBRARY_PATH=CUDA)))
    assert seen["gpus"] == [] and seen["copy_gbs"]["one_core"] > 0


# ---- GPUs: a driver that is not there ----


@pytest.mark.skipif(not CUDA, reason="needs the fake driver")
def test_gpus(bench, gpus):
    env = dict(LD_LIBRARY_PATH=CUDA)
    cublas = os.path.join(CUDA, "libcublas.so.12")
    done, seen = gpus("--cublas", cublas, env=env)
    assert [g["name"] for g in seen] == ["Fake GPU 0", "Fake GPU 1"], done.stderr
    for g in seen:
        assert g["bus"].startswith("0000:A") and g["side"] == 256
        assert g["wrong"] is None and g["clocks"]["copy"]["mhz"] is None
        assert abs(g["all_at_once"]["tflops"] - 700) < 2
        assert abs(g["float32_tflops"] - 50) < 0.1 and abs(g["float64_tflops"] - 25) < 0.1
        assert abs(g["bfloat16_tflops"] - 700) < 2 and abs(g["copy_gbs"] - 2400) < 5
        assert g["bfloat16_peak_tflops"] is None
    text = bench("--only", "gpus", "--cublas", cublas, env=env).stdout
    assert "memory copy" not in text and "BLAS" not in text
    assert "GPU1  Fake GPU 1, 0000:A1:00.0" in text and "bfloat16 700 TFLOP/s" in text


NVML = os.environ.get("FAKE_NVML_DIR", "")
# NVML counts them the other way round.
DRIVER = """[driver]
version = 580.1
[gpu 0]
bdf = 0000:a1:00.0
sm_clock_mhz = 1410
[gpu 1]
bdf = 0000:a0:00.0
sm_clock_mhz = 1980
[live 0]
reasons = 4
[live 1]
reasons = 0
"""


@pytest.mark.skipif(not (CUDA and NVML), reason="needs the fake drivers")
def test_clocks_beside_the_figures(bench, gpus, tmp_path):
    """GPU 1 is held down by power, whichever way it is measured; each alone, and both at once."""
    (tmp_path / "driver.ini").write_text(DRIVER)
    env = dict(LD_LIBRARY_PATH=CUDA + ":" + NVML, FAKE_NVML=str(tmp_path / "driver.ini"))
    cublas = os.path.join(CUDA, "libcublas.so.12")
    _, (free, held) = gpus("--cublas", cublas, env=env)
    for kind in ("float32", "float64", "bfloat16", "copy"):
        assert free["clocks"][kind] == dict(mhz=1980, held_down_ratio=0, held_down_by=None)
        assert held["clocks"][kind] == dict(mhz=1410, held_down_ratio=1, held_down_by="power")
    for gpu in (free, held):
        together = gpu["all_at_once"]
        assert together["kind"] == "bfloat16" and abs(together["tflops"] - 700) < 2
        assert together["clock"] == gpu["clocks"]["bfloat16"]
    text = bench("--only", "gpus", "--cublas", cublas, env=env).stdout
    assert "clock in bfloat16: 1410 MHz, held down 100 % of the time (power)\n" in text
    assert "  all 2 at once: bfloat16 700 TFLOP/s, 100 % of alone, at 1980 MHz\n" in text


@pytest.mark.skipif(not CUDA, reason="needs the fake driver")
@pytest.mark.parametrize("kind, how, words", [
    ("float32", "bit", r"\d\.\d+ in row 5, column 1 cannot be"),
    pytest.param("float64", "bit", r"\d\.\d+ in row 5, column 1 cannot be",
                 marks=pytest.mark.once),
    ("bfloat16", "nan", "nan in row 5, column 1 cannot be"),
])
def test_a_gpu_that_computes_wrong_numbers(bench, gpus, kind, how, words):
    """The last bit of one number of 65,536, or one that is none; the other figures are shown."""
    cublas = os.path.join(CUDA, "libcublas.so.12")
    env = dict(LD_LIBRARY_PATH=CUDA, FAKE_CUBLAS="%s %s" % (kind, how))
    done, (good, bad) = gpus("--cublas", cublas, env=env)
    assert done.returncode == 1
    assert "GPU1 (0000:A1:00.0): in %s, its product of matrices is wrong" % kind in done.stderr
    assert good["wrong"] is None and re.search(words, bad["wrong"]), bad
    assert bad["%s_tflops" % kind] > 0 and bad["copy_gbs"] > 0
    if kind == "bfloat16":
        text = bench("--only", "gpus", "--cublas", cublas, env=env).stdout
        assert "  WRONG: in bfloat16" in text


@pytest.mark.once
@pytest.mark.skipif(not CUDA, reason="needs the fake driver")
def test_gpus_that_are_not_there_or_broken(gpus):
    done, seen = gpus(env=dict(LD_LIBRARY_PATH=CUDA, FAKE_CUDA="none"))
    assert seen == [] and done.stderr == ""
    done, seen = gpus(env=dict(LD_LIBRARY_PATH=CUDA, FAKE_CUDA="broken"))
    assert seen == []
    assert "cuInit: error 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)" in done.stderr
