//! One instance of the module: raw calls, bounds, and what becomes of a trap.

use crate::error::{Error, Refusal};
use crate::runtime::{Engine, Instance as Wasm, Memory, Module, Store, TypedFunc};
use std::collections::HashMap;
use std::sync::Arc;

const ABI_MAJOR: u32 = 1;
const MIN_BUFFER: usize = 4096;
/// Linear memory never shrinks: an instance beyond this is replaced after its call.
pub(crate) const MAX_IDLE_BYTES: usize = 16 << 20;
/// The longest answer of the ABI. A longer one is a wrong pointer, not an answer.
const MAX_ANSWER_BYTES: usize = 4 << 20;

/// A buffer of the module that is kept from call to call.
#[derive(Clone, Copy, Default)]
struct Buffer {
    address: u32,
    capacity: usize,
}

/// What a kept buffer is for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Request,
    Answers,
}

/// A live instance with its own memory. One caller at a time: the pool sees to that.
pub(crate) struct Instance {
    store: Store<()>,
    wasm: Wasm,
    memory: Memory,
    alloc: TypedFunc<i32, i32>,
    free: TypedFunc<i32, i32>,
    call: TypedFunc<(i32, i32, i32), i64>,
    compile: TypedFunc<(i32, i32), i64>,
    release: TypedFunc<i32, i32>,
    eval: TypedFunc<(i32, i32, i32), i64>,
    eval_batch: TypedFunc<(i32, i32, i32, i32, i32), i32>,
    buffers: [Buffer; 2],
    /// Policy -> its handle here, and what pf_compile said.
    pub(crate) handles: HashMap<u64, (i32, Arc<[u8]>)>,
}

fn abi(what: impl std::fmt::Display) -> Error {
    Error::Abi(format!("not a module of this ABI: {what}"))
}

impl Instance {
    pub(crate) fn new(engine: &Engine, module: &Module) -> Result<Self, Error> {
        let mut store = Store::new(engine, ());
        let wasm = Wasm::new(&mut store, module, &[]).map_err(abi)?;
        let initialize = wasm.get_typed_func::<(), ()>(&mut store, "_initialize").map_err(abi)?;
        let version = wasm.get_typed_func::<(), i32>(&mut store, "pf_abi_version").map_err(abi)?;
        let memory = wasm.get_memory(&mut store, "memory").ok_or_else(|| abi("no memory"))?;
        let mut made = Instance {
            alloc: wasm.get_typed_func(&mut store, "pf_alloc").map_err(abi)?,
            free: wasm.get_typed_func(&mut store, "pf_free").map_err(abi)?,
            call: wasm.get_typed_func(&mut store, "pf_call").map_err(abi)?,
            compile: wasm.get_typed_func(&mut store, "pf_compile").map_err(abi)?,
            release: wasm.get_typed_func(&mut store, "pf_release").map_err(abi)?,
            eval: wasm.get_typed_func(&mut store, "pf_eval").map_err(abi)?,
            eval_batch: wasm.get_typed_func(&mut store, "pf_eval_batch").map_err(abi)?,
            buffers: Default::default(),
            handles: HashMap::new(),
            memory,
            wasm,
            store,
        };
        let started = initialize.call(&mut made.store, ()).and_then(|()| version.call(&mut made.store, ()));
        let version = started.map_err(|e| made.trapped(e))? as u32;
        if version >> 16 != ABI_MAJOR {
            return Err(abi(format!("version {}.{}, not {ABI_MAJOR}", version >> 16, version & 0xFFFF)));
        }
        Ok(made)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory.data_size(&self.store)
    }

    /// pf_call, pf_compile and pf_eval: a request in, a payload out, and whether it is an error.
    pub(crate) fn call(&mut self, operation: u32, request: &[u8]) -> Result<(Vec<u8>, bool), Error> {
        let (at, n) = self.put(request)?;
        let word = self.call.call(&mut self.store, (operation as i32, at, n));
        self.take(word)
    }

    pub(crate) fn compile(&mut self, request: &[u8]) -> Result<(Vec<u8>, bool), Error> {
        let (at, n) = self.put(request)?;
        let word = self.compile.call(&mut self.store, (at, n));
        self.take(word)
    }

    pub(crate) fn eval(&mut self, handle: i32, event: &[u8]) -> Result<(Vec<u8>, bool), Error> {
        let (at, n) = self.put(event)?;
        let word = self.eval.call(&mut self.store, (handle, at, n));
        self.take(word)
    }

    pub(crate) fn release(&mut self, handle: i32) -> Result<(), Error> {
        match self.release.call(&mut self.store, handle) {
            Ok(_) => Ok(()),
            Err(e) => Err(self.trapped(e)),
        }
    }

    /// pf_eval_batch: `write` fills `size` bytes, `read` gets the `room` bytes of the answer. A refusal is its number, negated.
    pub(crate) fn batch<T>(
        &mut self,
        handle: i32,
        size: usize,
        room: usize,
        write: impl FnOnce(&mut [u8]),
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Result<T, i32>, Error> {
        let from = self.reserve(Purpose::Request, size)?;
        let to = self.reserve(Purpose::Answers, room)?;
        write(self.bytes(from, size)?);
        let answered = self.eval_batch.call(&mut self.store, (handle, from as i32, size as i32, to as i32, room as i32));
        match answered.map_err(|e| self.trapped(e))? {
            refused if refused < 0 => Ok(Err(-refused)),
            _ => match read(self.bytes(to, room)?) {
                Some(value) => Ok(Ok(value)),
                None => Err(Error::Malformed("not the answer to this batch".into())),
            },
        }
    }

    fn bytes(&mut self, address: u32, size: usize) -> Result<&mut [u8], Error> {
        let address = address as usize;
        self.memory.data_mut(&mut self.store).get_mut(address..address + size).ok_or_else(|| Error::Malformed("a buffer lies outside the memory".into()))
    }

    fn put(&mut self, request: &[u8]) -> Result<(i32, i32), Error> {
        let address = self.reserve(Purpose::Request, request.len())?;
        self.bytes(address, request.len())?.copy_from_slice(request);
        Ok((address as i32, request.len() as i32))
    }

    /// Makes the kept buffer for a purpose at least `size` bytes large.
    fn reserve(&mut self, purpose: Purpose, size: usize) -> Result<u32, Error> {
        let kept = self.buffers[purpose as usize];
        if kept.address != 0 && size <= kept.capacity {
            return Ok(kept.address);
        }
        if kept.address != 0 {
            self.buffers[purpose as usize] = Buffer::default();
            self.free.call(&mut self.store, kept.address as i32).map_err(|e| self.trapped(e))?;
        }
        // Exactly `size` where twice as much is too much.
        for wanted in [size.max(2 * kept.capacity).max(MIN_BUFFER), size] {
            let Ok(asked) = i32::try_from(wanted) else { continue };
            let address = self.alloc.call(&mut self.store, asked).map_err(|e| self.trapped(e))? as u32;
            if address != 0 {
                self.buffers[purpose as usize] = Buffer { address, capacity: wanted };
                return Ok(address);
            }
        }
        Err(Refusal { limit: "bufferBytes".into(), ..Refusal::numbered(6, format!("the module has no buffer of {size} bytes")) }.into())
    }

    /// Copies the payload out that a result word points at. Nothing it says is believed unchecked.
    fn take<E: std::fmt::Display>(&mut self, word: Result<i64, E>) -> Result<(Vec<u8>, bool), Error> {
        let word = word.map_err(|e| self.trapped(e))? as u64;
        let (address, length, failed) = ((word >> 32) as usize, (word & 0x7FFF_FFFF) as usize, word >> 31 & 1 == 1);
        let answer = match self.memory.data(&self.store).get(address..address + length) {
            Some(answer) if (2..=MAX_ANSWER_BYTES).contains(&length) => answer,
            _ => return Err(Error::Malformed(format!("{length} bytes at {address}"))),
        };
        if !answer.starts_with(b"{")
            || !answer.ends_with(b"}")
            || failed != answer.starts_with(b"{\"error\":{\"code\":\"")
            || std::str::from_utf8(answer).is_err()
        {
            return Err(Error::Malformed("not an answer".into()));
        }
        if failed && answer.starts_with(b"{\"error\":{\"code\":\"INTERNAL\"") {
            return Err(Error::Trap(String::from_utf8_lossy(answer).into_owned()));
            // a broken invariant: not to be trusted
        }
        Ok((answer.to_vec(), failed))
    }

    /// The error for a trap, with the first line that the module printed before it, else the engine's own words.
    fn trapped(&mut self, engine: impl std::fmt::Display) -> Error {
        let global = |name: &str, store: &mut Store<()>| self.wasm.get_global(&mut *store, name).and_then(|g| g.get(&mut *store).i32());
        let at = (global("pf_diag", &mut self.store), global("pf_diag_len", &mut self.store));
        if let (Some(start), Some(length)) = at {
            let (start, length) = (start as u32 as usize, (length as u32 as usize).min(200));
            if let Some(printed) = self.memory.data(&self.store).get(start..start + length) {
                let printed = String::from_utf8_lossy(printed);
                if let Some(line) = printed.lines().next().filter(|l| !l.is_empty()) {
                    return Error::Trap(line.to_owned());
                }
            }
        }
        Error::Trap(engine.to_string())
    }
}
