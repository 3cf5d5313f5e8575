// Package playground has no code of its own: package server below it is the HTTP server with the
// page, package cli the command. Its tests use both as a person would, in a real browser.
package playground
