/**
 * What will Kubernetes do when this container exits? Begin with {@link dev.podfate.Engine}.
 *
 * <p>The answers come from policy.wasm, the module that answers everywhere else too; this library loads it on Endive. Requests and
 * answers have the JSON of the HTTP API and of the command line.
 */
package dev.podfate;
