"""Puts policy.wasm and its digest into the packages that hatchling builds."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# File in the package -> file in the project.
MODULE = {"policy.wasm": "wasm/policy.wasm", "policy.wasm.sha256": "wasm/policy.wasm.sha256"}


class ModuleHook(BuildHookInterface):
    def initialize(self, version, build_data):
        here = Path(self.root)
        project = here.parent.parent
        include = build_data["force_include"]
        for name, source in MODULE.items():
            carried = here / "src" / "podfate" / name  # in an unpacked source distribution
            if carried.exists():
                continue
            if not (project / source).exists():
                raise FileNotFoundError(f"{source}: neither in the project nor in the source distribution")
            inside = f"src/podfate/{name}" if self.target_name == "sdist" else f"podfate/{name}"
            include[str(project / source)] = inside
