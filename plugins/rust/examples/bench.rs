//! `cargo run --release --example bench [-- --json]`: what a decision costs, the best of several rounds. With `--json` one
//! line: `{"engine","version","module","figures":[{"name","value","unit"}]}`.

use podfate::{Engine, Event, Exit, Options, ACTIONS};
use serde_json::{json, Value};
use std::time::Instant;

const RECORDS: usize = 65536;

/// The shortest time of one of `count` calls, in units of which a second has `per_second`.
fn measure(figures: &mut Vec<Value>, name: &str, unit: &str, per_second: f64, count: usize, rounds: usize, mut call: impl FnMut()) {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let began = Instant::now();
        call();
        best = best.min(began.elapsed().as_secs_f64());
    }
    figures.push(json!({"name": name, "value": best * per_second / count as f64, "unit": unit}));
}

fn main() -> Result<(), podfate::Error> {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "trainer"}, "spec": {"containers": [
        {"name": "main", "image": "trainer:1", "restartPolicy": "Never",
         "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]}]}});
    let one = || Engine::with_options(Options { instances: 1, ..Options::default() });
    let engine = one()?;
    let policy = engine.compile(&pod)?;
    let events: Vec<Event> = (0..RECORDS).map(|n| Event { exit_code: n as i32 % 256, ..Event::default() }).collect();
    let right = policy.decide_batch(&events)?.iter().zip(&events).all(|(v, e)| (ACTIONS[v.action as usize] == "Restart") == (e.exit_code == 42));
    assert!(right, "a verdict is wrong");
    let (mut figures, f) = (Vec::new(), podfate::ENGINE == "wasmtime");
    let many = if f { 1 } else { 4 }; // an interpreter gets fewer rounds
    measure(&mut figures, "batch, slices of structs in and out", "ns", 1e9, RECORDS, 60 / many, || drop(policy.decide_batch(&events)));
    let event = br#"{"container":"main","exitCode":42}"#;
    measure(&mut figures, "eval, bytes in and out", "us", 1e6, 1000, 40 / many, || (0..1000).for_each(|_| drop(policy.eval(event))));
    let exit = Exit::new("main", 42);
    measure(&mut figures, "eval, struct in and out", "us", 1e6, 1000, 40 / many, || (0..1000).for_each(|_| drop(policy.decide(&exit))));
    let request = serde_json::to_vec(&json!({"manifest": pod, "exits": [{"container": "main", "exitCode": 42}]}))?;
    measure(&mut figures, "decide", "us", 1e6, 200, 40 / many, || (0..200).for_each(|_| drop(engine.call(3, &request))));
    measure(&mut figures, "compile and one instance", "ms", 1e3, 1, if f { 3 } else { 20 }, || drop(one()));
    if std::env::args().any(|a| a == "--json") {
        println!(
            "{}",
            json!({"engine": format!("rust-{}", podfate::ENGINE), "version": env!("CARGO_PKG_VERSION"), "module": engine.sha256(), "figures": figures})
        );
    } else {
        for figure in &figures {
            println!(
                "{:>9.3} {} {}",
                figure["value"].as_f64().unwrap_or(f64::NAN),
                figure["unit"].as_str().unwrap_or(""),
                figure["name"].as_str().unwrap_or("")
            );
        }
    }
    Ok(())
}
