//! `conformance VECTORS MODULE [-evaluations N]`
//!
//! Plays conformance vectors on the exports of the module and prints one line: engine, version, the module's SHA-256, the number
//! of vectors and mismatches, and a digest over all answers. The format is in plugins/README.md. Status 1 if an answer
//! differs, or if there is no vector.

#[cfg(all(feature = "wasmi", not(feature = "wasmtime")))]
use wasmi as runtime;
#[cfg(feature = "wasmtime")]
use wasmtime as runtime;

use base64::prelude::{Engine as _, BASE64_STANDARD};
use runtime::{Engine, Instance, Memory, Module, Store, Val};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader};

fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|b| format!("{b:02x}")).collect()
}

struct Player {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
    buffers: Vec<u32>,
}

/// The call ended in a trap.
struct Trap;

impl Player {
    fn new(engine: &Engine, module: &Module) -> Self {
        let mut store = Store::new(engine, ());
        let instance = Instance::new(&mut store, module, &[]).expect("the module starts without imports");
        let memory = instance.get_memory(&mut store, "memory").expect("memory");
        let mut player = Player { store, instance, memory, buffers: Vec::new() };
        player.run("_initialize", &[]).unwrap_or_else(|Trap| panic!("_initialize trapped"));
        player
    }

    fn run(&mut self, export: &str, arguments: &[i32]) -> Result<i64, Trap> {
        let function = self.instance.get_func(&mut self.store, export).unwrap_or_else(|| panic!("no export {export}"));
        let arguments: Vec<Val> = arguments.iter().map(|&x| Val::I32(x)).collect();
        let mut results = [Val::I64(0)];
        let count = function.ty(&self.store).results().len();
        function.call(&mut self.store, &arguments, &mut results[..count]).map_err(|_| Trap)?;
        Ok(match results[0] {
            Val::I32(n) => i64::from(n),
            Val::I64(n) => n,
            _ => panic!("{export} returns neither i32 nor i64"),
        })
    }

    fn alloc(&mut self, size: i32) -> u32 {
        self.run("pf_alloc", &[size]).unwrap_or_else(|Trap| panic!("pf_alloc trapped")) as u32
    }

    fn write(&mut self, address: u32, data: &[u8]) {
        self.memory.data_mut(&mut self.store)[address as usize..][..data.len()].copy_from_slice(data);
    }

    fn read(&self, address: u32, length: usize) -> &[u8] {
        self.memory.data(&self.store).get(address as usize..address as usize + length).unwrap_or(b"an answer outside the memory")
    }

    /// Makes the call of a line once and returns its answer.
    fn play(&mut self, line: &Value, data: Option<&[u8]>) -> Result<Vec<u8>, Trap> {
        let export = line["do"].as_str().expect("do");
        let mut arguments: Vec<i32> = Vec::new();
        for x in line["x"].as_array().into_iter().flatten() {
            arguments.push(match x {
                Value::String(place) => {
                    let (buffer, offset) = place.split_once('+').expect("K+N");
                    self.buffers[buffer.parse::<usize>().expect("K")].wrapping_add(offset.parse::<i64>().expect("N") as u32) as i32
                }
                n => n.as_i64().expect("an integer") as i32,
            });
        }
        if export == "write" {
            self.write(arguments[0] as u32, data.unwrap_or_default());
            return Ok(Vec::new());
        }
        let room = line["out"].as_u64().unwrap_or(0) as usize;
        let mut own = Vec::new();
        if let Some(data) = data {
            own.push(self.alloc(data.len().max(1) as i32));
            self.write(own[0], data);
            arguments.extend([own[0] as i32, data.len() as i32]);
            if export == "pf_eval_batch" {
                own.push(self.alloc(room.max(1) as i32));
                arguments.extend([own[1] as i32, room as i32]);
            }
        }
        let result = self.run(export, &arguments)?;
        let answer = match export {
            "pf_call" | "pf_compile" | "pf_eval" => {
                let word = result as u64;
                let payload = self.read((word >> 32) as u32, (word & 0x7FFF_FFFF) as usize);
                let mut answer = if (word >> 31 & 1 == 1) == payload.starts_with(b"{\"error\":") { Vec::new() } else { b"flag ".to_vec() };
                answer.extend_from_slice(payload);
                answer
            }
            "pf_alloc" => {
                let address = result as u32;
                if address == 0 {
                    b"0".to_vec()
                } else {
                    self.buffers.push(address);
                    let zeroed = self.read(address, arguments[0] as usize).iter().all(|&b| b == 0);
                    if address % 8 == 0 && zeroed {
                        b"ok".to_vec()
                    } else {
                        b"not 8-aligned, or not zeroed".to_vec()
                    }
                }
            }
            "pf_eval_batch" if data.is_some() && result >= 0 => format!("{result} {}", hex(self.read(own[1], room))).into_bytes(),
            _ => (result as i32).to_string().into_bytes(),
        };
        for address in own {
            self.run("pf_free", &[address as i32])?;
        }
        Ok(answer)
    }
}

/// The bytes that a line brings.
fn request(line: &Value) -> Option<Vec<u8>> {
    let decode = |text: &Value, encoded: bool| {
        let text = text.as_str().expect("a text");
        if encoded {
            BASE64_STANDARD.decode(text).expect("base64")
        } else {
            text.as_bytes().to_vec()
        }
    };
    for (name, encoded) in [("s", false), ("b", true)] {
        if let Some(text) = line.get(name) {
            return Some(decode(text, encoded));
        }
    }
    for (name, encoded) in [("r", false), ("rb", true)] {
        if let Some(parts) = line.get(name).and_then(Value::as_array) {
            return Some(parts.chunks(2).flat_map(|p| decode(&p[0], encoded).repeat(p[1].as_u64().expect("a count") as usize)).collect());
        }
    }
    None
}

fn evaluate(player: &mut Player, times: u64) {
    let manifest = br#"{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i"}]}}}"#;
    let put = |player: &mut Player, text: &[u8]| {
        let address = player.alloc(text.len() as i32);
        player.write(address, text);
        [address as i32, text.len() as i32]
    };
    let at = put(player, manifest);
    let word = player.run("pf_compile", &at).unwrap_or_else(|Trap| panic!("pf_compile trapped")) as u64;
    let compiled: Value = serde_json::from_slice(player.read((word >> 32) as u32, (word & 0x7FFF_FFFF) as usize)).expect("JSON");
    let handle = compiled["handle"].as_i64().expect("a handle") as i32;
    let at = put(player, br#"{"container":"main","exitCode":42,"reason":"\u0045rror"}"#);
    let function = player.instance.get_typed_func::<(i32, i32, i32), i64>(&mut player.store, "pf_eval").expect("pf_eval");
    for _ in 0..times {
        assert!(function.call(&mut player.store, (handle, at[0], at[1])).is_ok());
    }
    println!("evaluations={times} memory={}", player.memory.data_size(&player.store));
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [vectors, module, rest @ ..] = &arguments[..] else {
        eprintln!("usage: conformance VECTORS MODULE [-evaluations N]");
        std::process::exit(2);
    };
    let file = std::fs::read(module).expect("the module can be read");
    let engine = Engine::default();
    let compiled = Module::new(&engine, &file).expect("a module");
    let (mut fold, mut count, mut mismatches) = (Sha256::new(), 0u64, 0u64);
    let mut player = Player::new(&engine, &compiled);
    for line in BufReader::new(std::fs::File::open(vectors).expect("the vectors can be read")).lines() {
        let line: Value = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
        let id = line["id"].as_str().expect("id");
        count += 1;
        let answer = if line["do"] == "new" {
            player = Player::new(&engine, &compiled);
            player.run("pf_abi_version", &[]).map(|v| v.to_string().into_bytes())
        } else {
            let data = request(&line);
            (0..line["times"].as_u64().unwrap_or(1)).try_fold(Vec::new(), |_, _| player.play(&line, data.as_deref()))
        };
        let answer = answer.unwrap_or_else(|Trap| {
            player = Player::new(&engine, &compiled);
            b"trap".to_vec()
        });
        let equal = match line["d"].as_str() {
            Some(digest) => hex(Sha256::digest(&answer)) == digest,
            None => line["a"].as_str().unwrap_or("").as_bytes() == answer,
        };
        if !equal {
            mismatches += 1;
            eprintln!("{id}: got {}", String::from_utf8_lossy(&answer[..answer.len().min(500)]));
        }
        fold.update([id.as_bytes(), b"\n", &answer[..], b"\n"].concat());
    }
    let version = if podfate::ENGINE == "wasmi" { env!("PODFATE_WASMI") } else { env!("PODFATE_WASMTIME") };
    println!(
        "engine=rust-{} version={version} module={} count={count} mismatches={mismatches} digest={}",
        podfate::ENGINE,
        hex(Sha256::digest(&file)),
        hex(fold.finalize())
    );
    if let [flag, times] = rest {
        assert_eq!(flag, "-evaluations");
        evaluate(&mut Player::new(&engine, &compiled), times.parse().expect("a number"));
    }
    std::process::exit(i32::from(mismatches > 0 || count == 0));
}
