//! The crate as a user has it, with the real module on the real engine.

use podfate::{Action, Engine, Error, Event, Exit, Operation, Options, Verdict, ACTIONS, MORE, NONE, REASONS};
use serde_json::{json, Value};

fn pod() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": "Never", "containers": [
        {"name": "main", "image": "i", "restartPolicy": "Never",
         "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]}]}})
}

fn engine() -> Engine {
    Engine::new().expect("the module starts")
}

#[test]
fn a_rule_decides() {
    let answer = engine().decide(&pod(), &[Exit::new("main", 42), Exit::new("main", 1)]).unwrap();
    let [first, second] = &answer.decisions[..] else { panic!("{answer:?}") };
    assert_eq!(first.action, Some(Action::Restart));
    let by = first.decided_by.as_ref().unwrap();
    assert_eq!((by.level.as_str(), by.path.as_str(), by.rule), ("rule", "spec.containers[0].restartPolicyRules[0]", Some(0)));
    assert_eq!(first.trace[0].result, "matched");
    assert_eq!(second.action, Some(Action::Stop));
}

#[test]
fn faults_are_the_answer_of_validate_and_errors_elsewhere() {
    let engine = engine();
    let mut wrong = pod();
    wrong["spec"]["restartPolicy"] = "Sometimes".into();
    let answer = engine.validate(&wrong).unwrap();
    assert!(!answer.valid);
    assert_eq!(answer.faults[0].path, "spec.restartPolicy");
    match engine.decide(&wrong, &[Exit::new("main", 1)]) {
        Err(Error::Policy(r)) => assert_eq!((r.code.as_str(), &r.faults), ("MANIFEST_INVALID", &answer.faults)),
        other => panic!("{other:?}"),
    }
    match engine.decide(&pod(), &[Exit::new("nobody", 1)]) {
        Err(Error::Event(r)) => assert_eq!(r.path, "exits[0].container"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(engine.compile(&json!({"kind": "Pod"})), Err(Error::Policy(_))));
}

#[test]
fn errors_are_small_and_everything_can_be_printed() {
    fn shared<T: Send + Sync + std::fmt::Debug + 'static>(_: &T) {}
    let engine = engine();
    let policy = engine.compile(&pod()).unwrap();
    shared(&engine);
    shared(&policy);
    assert!(format!("{engine:?}").contains(engine.sha256()) && format!("{policy:?}").contains("main"));
    let error = engine.compile(&json!({})).unwrap_err();
    shared(&error);
    assert!(std::mem::size_of::<Error>() <= 32, "an error is moved with every answer");
}

#[test]
fn a_cluster_is_part_of_a_whole_request() {
    let old = json!({"manifest": pod(), "cluster": {"version": "1.33"}, "exits": [{"container": "main", "exitCode": 42}]});
    assert!(matches!(engine().request::<Value>(Operation::Decide, &old), Err(Error::Policy(_))));
    let curve: Value = engine().request(Operation::Curve, &json!({})).unwrap();
    assert!(curve.is_object());
}

#[test]
fn bad_requests_have_error_payloads() {
    let engine = engine();
    for (request, num) in [(&b"{"[..], 1), (b"", 1), (b"{\"a\":\"\xff\"}", 2)] {
        let answer = engine.call(3, request).unwrap();
        let payload: Value = serde_json::from_slice(&answer.bytes).unwrap();
        assert!(answer.failed);
        assert_eq!(payload["error"]["num"], num, "{payload}");
    }
    let deep = vec![b'['; 100_000];
    assert!(engine.call(3, &deep).unwrap().bytes.starts_with(b"{\"error\":{\"code\":\"LIMIT_EXCEEDED\",\"num\":6"));
    assert!(engine.call(999, b"{}").unwrap().bytes.starts_with(b"{\"error\":{\"code\":\"UNSUPPORTED_OP\""));
    assert!(engine.call(3, &vec![b' '; (1 << 20) + 1]).unwrap().bytes.starts_with(b"{\"error\":{\"code\":\"LIMIT_EXCEEDED\""));
    assert!(matches!(engine.call(3, &vec![b' '; 17 << 20]), Err(Error::Limit(_))));
    assert_eq!(engine.describe().unwrap()["product"], "podfate");
}

#[test]
fn bombs_are_error_6_everywhere() {
    let engine = engine();
    let policy = engine.compile(&pod()).unwrap();
    let level = [&[b'['; 65][..], &[b']'; 65][..]].concat();
    for bomb in [vec![b'['; 500_000], b"{\"a\":".repeat(200_000), level, vec![b' '; (1 << 20) + 1]] {
        for operation in [2, 3, 4, 5] {
            let payload: Value = serde_json::from_slice(&engine.call(operation, &bomb).unwrap().bytes).unwrap();
            assert_eq!(payload["error"]["num"], 6, "{operation}: {payload}");
        }
        let answer = policy.eval(&bomb).unwrap();
        assert!(answer.failed && answer.bytes.starts_with(b"{\"error\":{\"code\":\"LIMIT_EXCEEDED\",\"num\":6"));
    }
    let deep = (0..100).fold(json!({}), |inner, _| json!({ "a": inner }));
    let mut manifest = pod();
    manifest["metadata"] = deep;
    assert!(matches!(engine.compile(&manifest), Err(Error::Limit(_))));
    assert_eq!(policy.decide(&Exit::new("main", 42)).unwrap().action, Some(Action::Restart));
}

#[test]
fn bad_bytes_of_an_event_are_refused() {
    let engine = engine();
    let policy = engine.compile(&pod()).unwrap();
    for (event, num) in [(&b"["[..], 1), (b"", 1), (b"{\"container\":\"\xff\"}", 2), (b"[]", 4), (b"null", 4)] {
        let answer = policy.eval(event).unwrap();
        let payload: Value = serde_json::from_slice(&answer.bytes).unwrap();
        assert!(answer.failed);
        assert_eq!(payload["error"]["num"], num, "{payload}");
    }
    assert!(matches!(policy.decide(&Exit::new("nobody", 1)), Err(Error::Event(_))));
    let hostile = [
        Event { flags: 0x8000, ..Event::default() },
        Event { container: 0xFFFE, ..Event::default() },
        Event { conditions: u64::MAX, ..Event::default() },
        Event { ran_for_millis: i64::MIN, ..Event::default() },
        Event { exit_code: 42, ..Event::default() },
    ];
    let verdicts = policy.decide_batch(&hostile).unwrap();
    assert_eq!(verdicts.iter().map(|v| v.status).collect::<Vec<_>>(), [4, 4, 4, 4, 0]);
    assert_eq!(word(&verdicts[4]), "Restart");
    assert!(matches!(policy.judge_batch(&hostile[..1]), Ok(v) if v[0].status == 4), "a Pod has no Job");
}

#[test]
fn other_bytes_are_refused() {
    let packaged = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("policy.wasm");
    let path = if packaged.exists() { packaged } else { std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wasm/policy.wasm") };
    let mut file = std::fs::read(path).unwrap();
    let good = engine().sha256().to_owned();
    let middle = file.len() / 2;
    file[middle] ^= 1;
    assert!(matches!(Engine::with_options(Options { module: Some((&file, &good)), ..Options::default() }), Err(Error::Digest(_))));
    let empty = b"\0asm\x01\0\0\0";
    let digest = "93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476";
    assert!(matches!(Engine::with_options(Options { module: Some((empty, digest)), ..Options::default() }), Err(Error::Abi(_))));
}

fn word(v: &Verdict) -> &'static str {
    ACTIONS[v.action as usize]
}

#[test]
fn a_batch_is_the_same_as_its_events() {
    let policy = engine().compile(&pod()).unwrap();
    assert_eq!(policy.containers(), ["main"]);
    let codes = [0, 1, 41, 42, 43, 137, 255, 256, -1, i32::MAX, i32::MIN];
    let events: Vec<Event> = codes.iter().zip(0..).map(|(&exit_code, tag)| Event { exit_code, tag, ..Event::default() }).collect();
    for (verdict, event) in policy.decide_batch(&events).unwrap().iter().zip(&events) {
        let one = policy.decide(&Exit::new("main", event.exit_code)).unwrap();
        assert_eq!(Some(word(verdict).to_owned()), one.action.map(|a| format!("{a:?}")));
        assert_eq!(Some(REASONS[verdict.reason as usize].to_owned()), one.because);
        assert_eq!((verdict.tag, verdict.rule), (event.tag, one.decided_by.unwrap().rule.map_or(NONE, |r| r as u16)));
    }
    let delayed = policy.decide(&Exit { restarts: Some(3), ran_for_millis: Some(1000), ..Exit::new("main", 42) }).unwrap();
    assert_eq!(delayed.delay_millis, Some(40_000));
    let mixed = policy.decide_batch(&[Event { container: 7, ..Event::default() }, Event { exit_code: 42, ..Event::default() }]).unwrap();
    assert_eq!((mixed[0].status, mixed[1].status, word(&mixed[1])), (4, 0, "Restart"));
    assert!(policy.decide_batch(&[]).unwrap().is_empty());
    let many = policy.decide_batch(&vec![Event { exit_code: 42, ..Event::default() }; 70_000]).unwrap();
    assert!(many.len() == 70_000 && many.iter().all(|v| word(v) == "Restart"));
}

#[test]
fn failed_pods_stay_whole_across_calls() {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {
        "podFailurePolicy": {"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]},
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]}}}});
    let policy = engine().compile(&job).unwrap();
    assert_eq!(policy.conditions(), [("DisruptionTarget".to_owned(), "True".to_owned())]);
    let pods = [
        Event { flags: MORE, ..Event::default() },
        Event { exit_code: 3, container: 1, ..Event::default() },
        Event { exit_code: 137, flags: MORE, conditions: 1, ..Event::default() },
        Event { exit_code: 3, container: 1, ..Event::default() },
    ];
    let verdicts = policy.judge_batch(&pods.repeat(20_000)).unwrap();
    assert!(verdicts.chunks(4).all(|v| word(&v[1]) == "FailJob" && word(&v[3]) == "Ignore" && word(&v[0]).is_empty()));
    assert!(matches!(policy.judge_batch(&[pods[0]].repeat(70_000)), Err(Error::Limit(_))));
}

#[test]
fn threads_get_their_own_answers() {
    let engine = Engine::with_options(Options { instances: 2, ..Options::default() }).unwrap();
    let policy = engine.compile(&pod()).unwrap();
    std::thread::scope(|scope| {
        for code in [1, 2, 41, 42, 42, 137] {
            let (engine, policy) = (&engine, &policy);
            scope.spawn(move || {
                for tag in 0..40 {
                    let want = if code == 42 { "Restart" } else { "Stop" };
                    let verdict = policy.decide_batch(&[Event { exit_code: code, tag, ..Event::default() }]).unwrap()[0];
                    assert_eq!((verdict.tag, word(&verdict)), (tag, want));
                    let own = engine.compile(&pod()).unwrap();
                    assert_eq!(format!("{:?}", own.decide(&Exit::new("main", code)).unwrap().action.unwrap()), want);
                }
            });
        }
    });
}

#[test]
fn policies_are_released() {
    let engine = Engine::with_options(Options { instances: 1, ..Options::default() }).unwrap();
    for _ in 0..5_000 {
        engine.compile(&pod()).unwrap(); // more than the module has handles
    }
    let kept: Vec<_> = (0..10).map(|_| engine.compile(&pod()).unwrap()).collect();
    assert!(kept.iter().all(|p| p.decide(&Exit::new("main", 42)).unwrap().action == Some(Action::Restart)));
}

/// Over the test build of the module, whose further operations trap.
#[test]
fn a_trap_ends_nothing_but_its_own_instance() {
    let Some(path) = std::env::var_os("PODFATE_TRAP_MODULE") else {
        println!("left out, PODFATE_TRAP_MODULE is not set: go run ./wasm/seal -tags trap -o FILE makes the module");
        return;
    };
    let file = std::fs::read(&path).unwrap();
    let mut beside = path.clone();
    beside.push(".sha256");
    let digest = std::fs::read_to_string(beside).unwrap();
    let options = Options { instances: 2, module: Some((&file, digest.split_whitespace().next().unwrap())) };
    let engine = Engine::with_options(options).unwrap();
    let policy = engine.compile(&pod()).unwrap();
    let before = policy.eval(b"{\"container\":\"main\",\"exitCode\":42}").unwrap();
    for operation in [0xF001, 0xF002, 0xF003, 0xF004, 0xF008] {
        assert!(matches!(engine.call(operation, b"{}"), Err(Error::Trap(_))), "{operation:x}");
        assert_eq!(policy.eval(b"{\"container\":\"main\",\"exitCode\":42}").unwrap(), before);
    }
    assert!(matches!(engine.call(0xF00A, b"{}"), Err(Error::Malformed(_))));
    assert_eq!(policy.eval(b"{\"container\":\"main\",\"exitCode\":42}").unwrap(), before);
}
