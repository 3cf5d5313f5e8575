// Package words puts answers into words: it makes the document that every front paints.
//
// In goes the question (an operation's name, its request and its answer, both as parsed JSON), out
// comes one JSON object:
//
//	{
//	  "verdict": {"tone": "wait", "mark": "crashloop", "title": "CrashLoopBackOff", "text": "...", ...},
//	  "blocks":  [{"block": "steps", "title": "...", "items": [...]}, ...]
//	}
//
// The kinds of blocks are a closed list:
//
//	list      sentences: faults, warnings, what was assumed
//	steps     parts of the manifest that were looked at, in order, each with its mark
//	layers    cards side by side: container, Pod, Job
//	lanes     a drawing over time: bars, flags and bands at integer milliseconds
//	plot      a chart: series of integer points
//	grid      the 256 exit codes as ranges
//	table     columns and rows of finished cells
//	terminal  lines as a terminal shows them
//	fixes     edits of the manifest, as JSON Patch (RFC 6902)
//
// Tones and marks are names of tokens and glyphs, see [Tones] and [Marks]. Every text is finished:
// a painter never looks at a code, a reason or an action, it only knows kinds of blocks. A path
// names an element of the manifest or of the request; whoever has the text turns it into a line.
//
// # Why is it in the core?
//
// The page, the command line and the programs in other languages used to word answers by
// themselves, each in its own code, and the texts drifted apart. A sentence that is in the module
// is the same everywhere, and the vectors hold it.
//
// # Why does it read JSON and not the core's types?
//
// A document says what an answer says, nothing else. Reading the answer keeps that honest: what is
// not in the answer cannot be in the document.
package words
