// Package fleet multiplies what one Pod does by how many there are: restarts, requests, peaks, a
// client's queue, and how long Pods run and wait in sum.
//
// Nothing is simulated. A Track is what one Pod does from its first start on, as a few progressions
// of instants; a million Pods that start together follow the same track as one. With a spread, Pod
// i of N starts floor(spread·i/N) milliseconds after the first, and how many have started is
// arithmetic too, so that neither time nor memory grows with Pods. Only the peak of some thousand
// Pods is found from their starts, since that is less work: see ring.
//
// All results are exact for the model, and tests hold them to a simulation of each single Pod. None
// of them is a measurement.
package fleet
