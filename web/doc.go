// Package web holds what the playground's page is made of: its files, its examples, and in package
// views its HTML.
//
// The scripts are bundled from bundle/src by the program in bundle; what it writes to static is
// committed, and its check mode compares. The generated code of the views is committed as well:
//
//	go generate ./web/...
package web

//go:generate go -C tools tool templ generate -path ../views
//go:generate go run ./bundle
