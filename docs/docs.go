// Package docs holds what the program shows of its own documentation.
package docs

import _ "embed"

// Codes is codes.md: every code that an answer can have, generated from the constants.
//
//go:embed codes.md
var Codes string
