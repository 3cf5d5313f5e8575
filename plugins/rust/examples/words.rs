//! Prints the words of verdicts as JSON, for a comparison with the core's.

fn main() {
    println!(
        "{}",
        serde_json::json!({
            "actions": podfate::ACTIONS, "levels": podfate::LEVELS, "reasons": podfate::REASONS, "ignored": podfate::IGNORED,
        })
    );
}
