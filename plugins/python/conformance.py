"""python conformance.py VECTORS [policy.wasm] [-evaluations N]

Plays conformance vectors on the exports of the module, with wasmtime, and prints one line: engine, its version, the
module's SHA-256, the number of vectors and mismatches, and a digest over all answers. The format is in plugins/README.md.
Ends with status 1 if an answer differs, or if there is no vector.
"""

import argparse
import base64
import ctypes
import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

import wasmtime


class Instance:
    """The bare exports, and the buffers that lines with pf_alloc got."""

    def __init__(self, engine, module):
        self.store = wasmtime.Store(engine)
        exports = wasmtime.Instance(self.store, module, []).exports(self.store)
        self.run = lambda name, *arguments: exports[name](self.store, *arguments)
        self.memory = exports["memory"]
        self.buffers = []
        self.run("_initialize")

    def address(self):
        return ctypes.cast(self.memory.data_ptr(self.store), ctypes.c_void_p).value

    def write(self, pointer, data):
        if pointer + len(data) > self.memory.data_len(self.store):
            raise SystemExit(f"a vector writes {len(data)} bytes at {pointer}, outside the memory")
        ctypes.memmove(self.address() + pointer, data, len(data))

    def read(self, pointer, size):
        if pointer + size > self.memory.data_len(self.store):
            return b"an answer outside the memory"
        return ctypes.string_at(self.address() + pointer, size)

    def alloc(self, size):
        return self.run("pf_alloc", size) & 0xFFFFFFFF


def i32(n):
    return ctypes.c_int32(n).value


def request(line):
    """The bytes that a line brings, or None."""
    if "s" in line:
        return line["s"].encode()
    if "b" in line:
        return base64.b64decode(line["b"])
    for key, decode in (("r", str.encode), ("rb", base64.b64decode)):
        if key in line:
            parts = line[key]
            return b"".join(decode(text) * count for text, count in zip(parts[::2], parts[1::2]))
    return None


def play(instance, line):
    """Makes the call of a line once and returns its answer as bytes. A trap of the engine goes to the caller."""
    do = line["do"]
    arguments = []
    for x in line.get("x", ()):
        if isinstance(x, str):
            buffer, _, offset = x.partition("+")
            x = instance.buffers[int(buffer)] + int(offset)
        arguments.append(x)
    data = request(line)
    if do == "write":
        instance.write(arguments[0], data)
        return b""
    own = []
    if data is not None:
        own.append(instance.alloc(max(len(data), 1)))
        instance.write(own[0], data)
        arguments += [own[0], len(data)]
        if do == "pf_eval_batch":
            own.append(instance.alloc(max(line.get("out", 0), 1)))
            arguments += [own[1], line.get("out", 0)]
    result = instance.run(do, *map(i32, arguments)) if do != "pf_alloc" else instance.alloc(i32(arguments[0]))
    if do in ("pf_call", "pf_compile", "pf_eval"):
        word = result & 0xFFFFFFFFFFFFFFFF
        answer = instance.read(word >> 32, word & 0x7FFFFFFF)
        if bool(word >> 31 & 1) != answer.startswith(b'{"error":'):
            answer = b"flag " + answer
    elif do == "pf_alloc":
        if result:
            instance.buffers.append(result)
        sound = result and result % 8 == 0 and not any(instance.read(result, arguments[0]))
        answer = b"ok" if sound else b"0" if result == 0 else b"not 8-aligned, or not zeroed"
    else:
        answer = str(i32(result)).encode()
        if do == "pf_eval_batch" and data is not None and result >= 0:
            answer += b" " + instance.read(own[1], line.get("out", 0)).hex().encode()
    for pointer in own:
        instance.run("pf_free", i32(pointer))
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vectors")
    parser.add_argument("module", nargs="?", default=str(Path(__file__).parent.parent.parent / "wasm" / "policy.wasm"))
    parser.add_argument("-evaluations", type=int, default=0)
    options = parser.parse_args()
    file = Path(options.module).read_bytes()
    engine = wasmtime.Engine()
    module = wasmtime.Module(engine, file)
    fold, count, mismatches, instance = hashlib.sha256(), 0, 0, None
    with open(options.vectors, encoding="utf-8") as vectors:
        for text in vectors:
            line = json.loads(text)
            count += 1
            try:
                if line["do"] == "new":
                    instance = Instance(engine, module)
                    answer = str(instance.run("pf_abi_version")).encode()
                else:
                    for _ in range(line.get("times", 1)):
                        answer = play(instance, line)
            except wasmtime.Trap:
                answer = b"trap"
                instance = Instance(engine, module)
            digest = "d" in line
            if (hashlib.sha256(answer).hexdigest() if digest else answer) != (line["d"] if digest else line.get("a", "").encode()):
                mismatches += 1
                print(f"{line['id']}: got {answer[:500]!r}", file=sys.stderr)
            fold.update(line["id"].encode() + b"\n" + answer + b"\n")
    digest = hashlib.sha256(file).hexdigest()
    print(
        f"engine=wasmtime-python version={version('wasmtime')} module={digest} count={count} mismatches={mismatches} digest={fold.hexdigest()}"
    )
    if options.evaluations:
        evaluate(Instance(engine, module), options.evaluations)
    raise SystemExit(mismatches > 0 or count == 0)


def evaluate(instance, times):
    def put(text):
        pointer = instance.alloc(len(text))
        instance.write(pointer, text)
        return i32(pointer), len(text)

    word = instance.run("pf_compile", *put(b'{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i"}]}}}'))
    word &= 0xFFFFFFFFFFFFFFFF
    handle = json.loads(instance.read(word >> 32, word & 0x7FFFFFFF))["handle"]
    event = put(b'{"container":"main","exitCode":42,"reason":"\\u0045rror"}')
    for _ in range(times):
        instance.run("pf_eval", handle, *event)
    print(f"evaluations={times} memory={instance.memory.data_len(instance.store)}")


if __name__ == "__main__":
    main()
