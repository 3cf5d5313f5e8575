package schema

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// Limits of one text. A real Job has less than 10 KiB, 200 values and 12 levels; Kubernetes itself
// stops at 3 MiB.
//
// The arithmetic: reading costs at most about 370 bytes of memory for each byte of a document, in
// the worst form (a list of comments), so that 128 KiB cost 46 MiB once, garbage included, and they
// are read in 40 ms. Together with what converting takes that stays below 64 MiB and 100 ms on a
// small machine. Everything else is counted on the node tree, before a single value is built.
const (
	// MaxBodyBytes bounds a text, JSON or YAML: two documents of the largest size, or dozens of
	// usual ones.
	MaxBodyBytes = 256 << 10
	// MaxDocumentBytes bounds one YAML document: ten times a large Job. JSON is cheaper to read and
	// has no such limit.
	MaxDocumentBytes = 128 << 10
	// MaxDocuments bounds the documents of a text. Each takes its own parser of about 2 KiB.
	MaxDocuments = 64
	// MaxNodes bounds keys and values of all documents of a text together: at 13 bytes each they
	// fill a document.
	MaxNodes = 10_000
	// MaxDepth bounds the nesting, aliases followed. It is the core's limit; a CronJob needs less
	// than 20 levels.
	MaxDepth = policy.MaxDepth
	// MaxKeys bounds the keys of one mapping, those of merged mappings included. The largest object
	// of Kubernetes has 50 fields; annotations of people stay below a hundred.
	MaxKeys = 1000
	// MaxAliases bounds the aliases of a text: each container of a large Pod may use several.
	MaxAliases = 100
	// MaxExpandedBytes bounds what a text is after each alias has been replaced by what it stands
	// for, counted as the bytes of all scalars and 16 for each key and value. 128 KiB in 10,000
	// nodes come to 284 KiB without aliases, so that a threefold growth is free. It is also the
	// largest request that the core reads.
	MaxExpandedBytes = policy.MaxRequestBytes
	// MaxScalarBytes bounds one scalar: half a document, more than any script in a command.
	MaxScalarBytes = 64 << 10
	// MaxNumberExponent bounds the exponent of a plain scalar that looks like a number, in both
	// directions. A float64 ends at 308; beyond, Kubernetes would read a text, and other readers a
	// number of a million digits.
	MaxNumberExponent = manifest.MaxExponent
	// MaxFaults bounds the faults that are listed; one more then says how many there are besides.
	MaxFaults = policy.MaxFaults
	// MaxQuotedBytes bounds how much of the user's text one fault repeats, path and detail each.
	MaxQuotedBytes = policy.MaxQuotedBytes
	// MaxPayloadBytes bounds the error payload of a list of faults: with an envelope around it an
	// answer stays below 64 KiB.
	MaxPayloadBytes = 60 << 10
)

// nodeBytes is what a key or value counts towards MaxExpandedBytes besides its text: about what
// Go's interface value takes while YAML is converted, and more than its punctuation takes in JSON.
const nodeBytes = 16

// budget holds the limits of one text. Tests raise single ones to reach the others.
type budget struct {
	bodyBytes, documentBytes, documents, nodes, depth, keys, aliases, expandedBytes, scalarBytes int
}

func defaultBudget() budget {
	return budget{MaxBodyBytes, MaxDocumentBytes, MaxDocuments, MaxNodes, MaxDepth, MaxKeys, MaxAliases, MaxExpandedBytes, MaxScalarBytes}
}
