// Package docs holds what the program shows of its own documentation.
package docs

import _ "embed"

// Codes is codes.md: every code that an answer can have, generated from the constants.
//
//go:embed codes.md
var Codes string

// Claims is claims.md: the figures that proposals publish, and what they lead to. A test recomputes
// them.
//
//go:embed claims.md
var Claims string
