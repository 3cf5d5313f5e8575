// Package lint warns of what the API server accepts and what still does not work, or not in the way
// it seems to: rules that can never match, a Job that can never finish, what nodes one release
// behind make of it.
//
// It looks at a manifest alone: at single exits, never at what a program does. Each warning has a
// code, which is stable, a sentence, and the source in Kubernetes that makes it true. Warnings that
// Kubernetes prints itself have its text as their message. Warnings about requests rather than
// manifests are made in policy/ops; their codes are here, too.
package lint
