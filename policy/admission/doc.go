// Package admission says what the API server does with a manifest: what it fills in
// ([SetDefaults]), what it drops silently ([DropDisabled], [DropDisabledOfJob]), and what it
// refuses, in its own words and order ([Validate], [ValidateUpdate]; [ValidateStatic] for a kubelet
// that reads a Pod from a file). [NameForm] has the forms of names, keys and addresses that it
// requires.
//
// It checks the fields that a decision reads. The others are checked by policy/manifest, one
// [policy.Part] at a time, in the API server's order.
//
// Package policy decides and refuses nothing; it keeps the form in which faults are written down
// ([policy.Report], [policy.Faults]), because a [policy.Object] carries the checks of its other
// fields, and those write into a report.
package admission
