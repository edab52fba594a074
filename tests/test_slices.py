"""Slices answer the core's hooks, and nothing outside a slice imports it."""

import pkgutil
from importlib import import_module

import pytest

import timpani
from tests.test_architecture import SOURCE, imported_modules
from timpani.slices import Hook, slices


def hooks() -> list[Hook[object]]:
    """All hooks of the package."""
    names = [each.name for each in pkgutil.walk_packages(timpani.__path__, "timpani.") if "__main__" not in each.name]
    found = (value for name in names for value in vars(import_module(name)).values() if isinstance(value, Hook))
    return list({id(hook): hook for hook in found}.values())


def test_each_variable_of_a_slice_belongs_to_a_hook_and_names_what_exists() -> None:
    known = {hook.variable: hook for hook in hooks()}
    assert len(known) == len(hooks()), "two hooks ask for the same variable"
    for name, module in slices().items():
        given = {variable for variable in vars(module) if not variable.startswith("_")}
        assert given <= known.keys(), f"{name}/slice.py: no hook asks for {given - known.keys()}"
    for hook in known.values():
        assert None not in hook.added()


@pytest.mark.parametrize("name", slices())
def test_nothing_outside_a_slice_imports_it(name: str) -> None:
    importers = [
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        if file.relative_to(SOURCE).parts[0] != name
        and any(module.startswith(f"timpani.{name}.") for module in imported_modules(file))
    ]
    assert not importers
