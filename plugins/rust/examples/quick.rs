use podfate::{Action, Engine, Exit};

fn main() -> Result<(), podfate::Error> {
    let pod = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"}, "spec": {"restartPolicy": "Never", "containers": [
        {"name": "main", "image": "trainer", "restartPolicy": "Never",
         "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]}]}});
    let answer = Engine::new()?.decide(&pod, &[Exit::new("main", 42), Exit::new("main", 1)])?;
    assert_eq!(answer.decisions[0].action, Some(Action::Restart));
    assert_eq!(answer.decisions[1].action, Some(Action::Stop));
    println!("{:?} {:?}", answer.decisions[0].action, answer.decisions[1].action);
    Ok(())
}
