//! Finds the module: next to this file, in a packaged crate as a file and in the project as a link to `wasm/`. Its digest lies beside it.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let beside = here.join("policy.wasm");
    // A checkout without symbolic links has small files with their paths instead.
    let whole = beside.metadata().is_ok_and(|file| file.len() > 1000);
    let module = if whole { beside } else { here.join("../../wasm/policy.wasm") };
    let digest = sibling(&module);
    let text = fs::read_to_string(&digest).unwrap_or_else(|e| panic!("{}: {e}", digest.display()));
    let hex = text.split_whitespace().next().unwrap_or_default();
    println!("cargo:rerun-if-changed={}", module.display());
    println!("cargo:rerun-if-changed={}", digest.display());
    println!("cargo:rustc-env=PODFATE_MODULE={}", module.display());
    println!("cargo:rustc-env=PODFATE_SHA256={hex}");
    // For the line of the conformance runner; the lock file is beside this one in the project only.
    let lock = fs::read_to_string(here.join("Cargo.lock")).unwrap_or_default();
    for (variable, package) in [("PODFATE_WASMI", "wasmi"), ("PODFATE_WASMTIME", "wasmtime")] {
        let version = lock.split_once(&format!("name = \"{package}\"\nversion = \"")).and_then(|(_, rest)| rest.split('"').next());
        println!("cargo:rustc-env={variable}={}", version.unwrap_or("unknown"));
    }
}

fn sibling(module: &Path) -> PathBuf {
    let mut name = module.as_os_str().to_owned();
    name.push(".sha256");
    PathBuf::from(name)
}
