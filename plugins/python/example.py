import podfate

engine = podfate.Engine()
rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
main = {"name": "main", "image": "trainer", "restartPolicy": "Never", "restartPolicyRules": [rule]}
pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"}, "spec": {"restartPolicy": "Never", "containers": [main]}}
print([engine.decide(pod, [podfate.Exit("main", code)]).decisions[0].action for code in (42, 1)])
