// Package policytest holds the scenarios that every front of Podfate answers alike, and what their runners share.
package policytest
