"""The policies of the examples: as they are today, and as somebody proposes them."""


def _pod(policy, *rules):
    main = {"name": "main", "image": "registry.example/main:1"}
    if rules:
        main.update(restartPolicy=policy, restartPolicyRules=list(rules))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": policy, "containers": [main]}}


def _restart(*codes):
    return {"action": "Restart", "exitCodes": {"operator": "In", "values": list(codes)}}


def today(engine):
    """Trainers are never restarted; workers are when they fail."""
    return {"trainer": engine.compile(_pod("Never")), "worker": engine.compile(_pod("OnFailure"))}


def proposed(engine):
    """Trainers that end with 42 or 137 start again in place; workers as before."""
    return {"trainer": engine.compile(_pod("Never", _restart(42, 137))), "worker": engine.compile(_pod("OnFailure"))}

