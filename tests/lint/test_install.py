"""What 'meson install' puts where, and that debian/ has a package for each of its files."""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import tree

BRIM = os.environ.get("BRIM", "")
BUILD = pathlib.Path(BRIM).parents[2] if BRIM else None
# Below the prefix; LIB is the folder of libraries.
FILES = """bin/brim
include/brim/control.h
include/brim/ring.h
include/brim/step.h
LIB/libbrim-step.a
LIB/libbrim-step.so
LIB/libbrim-step.so.1
LIB/libbrim-step.so.1.0.0
LIB/pkgconfig/libbrim.pc
LIB/brim/slurm/brim-task
LIB/brim/slurm/brim_spank_22_05.so
LIB/brim/slurm/brim_spank_24_11.so
LIB/brim/slurm/brim_spank_26_05.so
lib/systemd/system/brim-agent.service
lib/systemd/system/brim-queue.service
lib/sysusers.d/brim-agent.conf
share/bash-completion/completions/brim
share/brim/grafana/brim.json
share/brim/prometheus/brim.records.yml
share/brim/prometheus/brim.rules.yml
share/brim/prometheus/scrape.yml
share/brim/slurm/brim_hooks.lua
share/brim/slurm/cli_filter.lua
share/brim/slurm/epilog.sh
share/brim/slurm/job_submit.lua
share/brim/slurm/prolog.sh
share/man/man1/brim.1
""".split()
EXTENSION = "marks/brim_mark.abi3.so"

JOB = """#include <brim/step.h>
int main(void)
{
    struct brim_step *s = brim_step_open("job");
    brim_step_begin(s);
    brim_step_end(s);
    brim_step_close(s);
    return s != 0;
}
"""


def option(name):
    said = subprocess.run(["meson", "introspect", "--buildoptions", str(BUILD)], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r'"name": "%s", "value": "?([^",}]*)' % name, said)
    return found[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """(folder of the prefix, the prefix, the folder of libraries below it)"""
    if not BUILD or not (BUILD / "deploy" / "brim.1").exists():
        pytest.skip("only a build without sanitizers has a manual to install")
    to = tmp_path_factory.mktemp("installed")
    done = subprocess.run(
        ["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet", "--destdir", str(to)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    assert done.returncode == 0, done.stdout
    prefix = option("prefix")
    return to / prefix.lstrip("/"), prefix, option("libdir")


def shim():
    """The Python files of the shim, below its folder."""
    under = "plugins/torch/"
    found = [path[len(under):] for path in tree.files(".py", under=(under,))]
    assert "sitecustomize.py" in found and len(found) > 20
    return found


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if not path.is_dir() or path.is_symlink())


def test_what_is_installed(installed):
    folder, _, lib = installed
    want = [name.replace("LIB", lib) for name in FILES]
    want += ["%s/brim/torch/%s" % (lib, name) for name in shim()]
    there = files_below(folder)
    extension = "%s/brim/torch/brim_torch/%s" % (lib, EXTENSION)
    if extension in there:  # where Python's headers are
        want.append(extension)
    assert there == sorted(want)


def test_units_have_the_prefix(installed):
    folder, prefix, _ = installed
    for name, command in (("brim-agent", "agent"), ("brim-queue", "queue")):
        unit = (folder / "lib/systemd/system" / (name + ".service")).read_text()
        assert "\nExecStart=%s/bin/brim %s\n" % (prefix, command) in unit
        assert not re.search(r"@\w+@", unit)
    accounts = (folder / "lib/sysusers.d/brim-agent.conf").read_text()
    unit = (folder / "lib/systemd/system/brim-agent.service").read_text()
    user = re.search(r"^User=(.+)$", unit, re.M)[1]
    assert re.search(r"^u %s " % user, accounts, re.M)


def test_the_program_finds_what_is_installed(installed):
    """Its manual and completion are those that it prints."""
    folder, _, _ = installed
    for name, words in (("share/man/man1/brim.1", ["man"]),
                        ("share/bash-completion/completions/brim", ["completion", "bash"])):
        said = subprocess.run([str(folder / "bin/brim"), *words], check=True,
                              stdout=subprocess.PIPE).stdout
        assert (folder / name).read_bytes() == said


def test_a_job_is_built_with_what_is_installed(installed, tmp_path):
    folder, prefix, lib = installed
    if not shutil.which("pkg-config") or not shutil.which("gcc"):
        pytest.skip("gcc is not here, or pkg-config")
    env = dict(os.environ, PKG_CONFIG_LIBDIR=str(folder / lib / "pkgconfig"),
               PKG_CONFIG_SYSROOT_DIR=str(folder)[: -len(prefix)])
    words = subprocess.run(["pkg-config", "--cflags", "--libs", "libbrim"], env=env, check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
    (tmp_path / "job.c").write_text(JOB)
    for link in ([], ["-static"]):
        subprocess.run(["gcc", "-o", "job", "job.c", *words, *link], cwd=str(tmp_path), check=True)
    subprocess.run([str(tmp_path / "job")], check=True)


def patterns(name):
    lines = tree.read("debian/" + name).splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def takes(pattern, path):
    """Whether a line of debhelper takes a file: itself, or a folder above it. '*' is no '/'."""
    words, parts = pattern.split("/"), path.split("/")
    return len(words) <= len(parts) and all(map(fnmatch.fnmatch, parts, words))


def test_each_file_has_a_package():
    """As Debian installs them: below usr/, with the libraries in a folder of the machine's kind."""
    lists = [os.path.basename(p) for p in tree.files(".install", under=("debian/",))]
    assert sorted(lists) == ["brim-agent.install", "brim-slurm.install", "brim-torch.install",
                             "brim.install", "libbrim-dev.install"]
    lines = [(name, p) for name in lists + ["not-installed"] for p in patterns(name)]
    paths = [name.replace("LIB", "lib/x86_64-linux-gnu") for name in FILES]
    paths += ["lib/x86_64-linux-gnu/brim/torch/" + name for name in shim()]
    for path in paths:
        by = [name for name, pattern in lines if takes(pattern, "usr/" + path)]
        assert len(by) == 1, "%s is in %s of debian/" % (path, by or "no list")
    for name, pattern in lines:
        assert any(takes(pattern, "usr/" + path) for path in paths), (name, pattern)


def test_the_version_is_one():
    said = re.search(r"version: '([\d.]+)'", tree.read("meson.build"))[1]
    assert tree.read("debian/changelog").startswith("brim (%s) " % said)
    assert re.search(r"^## ([\d.]+)", tree.read("CHANGELOG.md"), re.M)[1] == said
    assert "/brim:%s\n" % said in tree.read("deploy/kubernetes/daemonset.yml")


def wrong_fields(models, value, kind, at):
    """What of a manifest the types of Kubernetes' own client do not have."""
    many, named = re.match(r"list\[(.*)\]$", kind), re.match(r"dict\(str, (.*)\)$", kind)
    if many and isinstance(value, list):
        return [w for i, v in enumerate(value) for w in wrong_fields(models, v, many[1], at + [i])]
    if named and isinstance(value, dict):
        return [w for k, v in value.items() for w in wrong_fields(models, v, named[1], at + [k])]
    plain = {"str": str, "int": int, "bool": bool, "object": (str, int)}.get(kind)
    if plain:
        return [] if isinstance(value, plain) else ["%s: %r is no %s" % (at, value, kind)]
    if many or named or not isinstance(value, dict):
        return ["%s: %r is no %s" % (at, value, kind)]
    model = getattr(models, kind)
    types = {key: (name, model.openapi_types[name]) for name, key in model.attribute_map.items()}
    wrong = ["%s: %s has no %s" % (at, kind, key) for key in value if key not in types]
    known = {key: v for key, v in value.items() if key in types}
    try:
        model(**{types[key][0]: v for key, v in known.items()})  # refuses one that lacks a field
    except ValueError as e:
        wrong.append("%s: %s" % (at, e))
    for key, v in known.items():
        wrong += wrong_fields(models, v, types[key][1], at + [key])
    return wrong


def test_the_daemonset_is_one():
    try:
        import yaml
        from kubernetes.client import models
    except ImportError:
        pytest.skip("no python3-kubernetes (script/setup packages installs it)")
    whole = yaml.safe_load(tree.read("deploy/kubernetes/daemonset.yml"))
    assert (whole["apiVersion"], whole["kind"]) == ("apps/v1", "DaemonSet")
    assert not wrong_fields(models, whole, "V1DaemonSet", [])
    pod = whole["spec"]["template"]["spec"]
    labels = whole["spec"]["template"]["metadata"]["labels"]
    assert whole["spec"]["selector"]["matchLabels"] == labels
    (agent,) = pod["containers"]
    assert {m["name"] for m in agent["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
    # What is wrong is found: a field of another name, one of another type, one that lacks.
    agent["imagePolicy"] = "Always"
    agent["ports"][0]["containerPort"] = "9410"
    del whole["spec"]["selector"]
    wrong = "\n".join(wrong_fields(models, whole, "V1DaemonSet", []))
    for word in ("imagePolicy", "'9410' is no int", "selector"):
        assert word in wrong, wrong
