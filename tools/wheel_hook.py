"""A step of building a wheel: with TIMPANI_CARRY=PROCESSOR it takes in the programs that `tools/carry.py` compiled."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CarriedPrograms(BuildHookInterface[Any]):  # type: ignore[misc, unused-ignore]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        processor = os.environ.get("TIMPANI_CARRY")
        if not processor:
            return
        folder = Path(self.root) / "build" / "carried" / processor
        if not folder.is_dir():
            raise SystemExit(f"no {folder}: run `python -m tools.carry {processor}` first")
        build_data["force_include"][str(folder)] = f"timpani/native/carried/{processor}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_2_28_{processor}"
