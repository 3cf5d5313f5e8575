package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
)

// scratch is a folder for what benchmarks install; they find it in BENCH.
var scratch string

// plugins runs the benchmarks that the packages of other languages bring: a command each, whose
// last line with -json or --json is
// {"engine","version","module","figures":[{"name","value","unit"}]}.
func plugins(t *table) {
	scratch = must(os.MkdirTemp("", "podfate-bench-"))
	defer os.RemoveAll(scratch)
	for _, p := range []struct {
		name, needs, folder string
		command             []string
		prepare             []string
	}{
		{"Node.js", "node", "../js", []string{"node", "bench.mjs", "--json"}, []string{"node", "build.mjs"}},
		{"Deno", "deno", "../js", []string{"deno", "run", "-A", "bench.mjs", "--json"}, []string{"node", "build.mjs"}},
		{"Bun", "bun", "../js", []string{"bun", "bench.mjs", "--json"}, []string{"node", "build.mjs"}},
		{"Python (wasmtime)", "python3", "../python",
			[]string{"sh", "-c", `PYTHONPATH=src "$BENCH/venv/bin/python" bench.py ../../wasm/policy.wasm --json`},
			[]string{"sh", "-c", `python3 -m venv "$BENCH/venv" && "$BENCH/venv/bin/pip" install -q ${PODFATE_WHEELS:+--no-index --find-links "$PODFATE_WHEELS"} wasmtime numpy`}},
		{"Rust (wasmi)", "cargo", "../rust", rustBench("wasmi", "--"), rustBench("wasmi")},
		{"Rust (wasmtime)", "cargo", "../rust", rustBench("wasmtime", "--"), rustBench("wasmtime")},
		{"C (wasm2c)", "make", "../c", []string{"build/bench", "-json"}, []string{"make", "-s", "build/bench"}},
		{"Java (Endive, compiled)", "mvn", "../java", javaBench("compiled"), javaBuild},
		{"Java (Endive, interpreter)", "mvn", "../java", javaBench("interpreter"), javaBuild},
	} {
		if _, err := exec.LookPath(p.needs); err != nil {
			t.without("%s: %s is not installed", p.name, p.needs)
			continue
		}
		if _, err := os.Stat(p.folder); err != nil {
			t.without("%s: there is no folder %s", p.name, p.folder)
			continue
		}
		if p.prepare != nil {
			if out, err := in(p.folder, p.prepare).CombinedOutput(); err != nil {
				t.without("%s: %s: %v, %s", p.name, strings.Join(p.prepare, " "), err, last(out))
				continue
			}
		}
		out, err := in(p.folder, p.command).CombinedOutput()
		if err != nil {
			t.without("%s: %s: %v, %s", p.name, strings.Join(p.command, " "), err, last(out))
			continue
		}
		if err := t.read(p.name, last(out)); err != nil {
			t.without("%s: %v in %s", p.name, err, last(out))
		}
	}
}

// rustBench runs the benchmark of the crate on an engine, or with no further arguments builds it.
func rustBench(engine string, run ...string) []string {
	command := []string{"cargo", "build", "--release", "--quiet", "--example", "bench", "--no-default-features", "--features", engine, "--target-dir", "target/" + engine}
	if len(run) > 0 {
		command[1] = "run"
		command = append(command, append(run, "--json")...)
	}
	return command
}

// javaBuild builds the library and its benchmark.
var javaBuild = []string{"mvn", "-B", "-q", "-DskipTests", "package", "dependency:build-classpath", "-DincludeScope=runtime", "-Dmdep.outputFile=target/classpath"}

func javaBench(mode string) []string {
	return []string{"sh", "-c", `java -cp "target/test-classes:$(ls target/podfate-*.jar):$(cat target/classpath)" dev.podfate.Bench ` + mode + ` --json`}
}

func in(folder string, command []string) *exec.Cmd {
	c := exec.Command(command[0], command[1:]...)
	c.Dir = folder
	c.Env = append(os.Environ(), "BENCH="+scratch)
	return c
}

// last is the last line of out that says anything.
func last(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[strings.LastIndex(text, "\n")+1:]
}

// read adds the figures of a plugin, each to the group that its name speaks of.
func (t *table) read(name, line string) error {
	var report struct {
		Version string
		Figures []struct {
			Name, Unit string
			Value      float64
		}
		BatchNanos, EvalNanos, StartMillis float64
	}
	if err := json.Unmarshal([]byte(line), &report); err != nil {
		return err
	}
	if report.BatchNanos > 0 {
		t.add(groupBatch, name, "exits, structs in and out", report.BatchNanos, "ns")
		t.add(groupEval, name, "eval", report.EvalNanos, "ns")
		t.add(groupStart, name, "engine of one instance", report.StartMillis, "ms")
	}
	for _, f := range report.Figures {
		group, unit, value := groupStart, f.Unit, f.Value
		switch {
		case strings.Contains(f.Name, "batch"):
			group = groupBatch
		case strings.Contains(f.Name, "eval"):
			group = groupEval
		case strings.Contains(f.Name, "decide"):
			group = groupCall
		}
		if unit == "us" || unit == "µs" {
			unit, value = "ns", value*1000
		}
		t.add(group, name, f.Name, value, unit)
	}
	return nil
}
