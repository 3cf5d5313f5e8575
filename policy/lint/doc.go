// Package lint warns about what the API server accepts although it does not work, or not in the way
// it seems to: rules that can never match, a Job that can never finish, a manifest that nodes one
// release older treat differently.
//
// It looks at a manifest alone: at single exits, never at what a program does. Each warning has a
// code, which is stable, a sentence, and the source in Kubernetes that makes it true. Warnings that
// Kubernetes prints itself have its text as their message. Warnings about requests rather than
// manifests are made in policy/ops; their codes are here, too.
package lint
