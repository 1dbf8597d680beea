"""Every test is named in the meson.build beside it: one that is not never runs."""

import os
import re

import pytest
import tree


@pytest.mark.parametrize("folder", ["unit", "cli", "e2e", "lint"])
def test_all_are_listed(folder):
    build = tree.read(f"tests/{folder}/meson.build")
    missing = []
    for path in tree.files(".c", ".py", under=(f"tests/{folder}/",)):
        name = re.fullmatch(r"(?:t|test)_(\w+)\.(?:c|py)", os.path.basename(path))
        if name and f"'{name[1]}'" not in build and f"'{name[0]}'" not in build:
            missing.append(path)
    assert not missing
