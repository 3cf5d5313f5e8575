package ops

// validate answers whether the API server would accept the manifest. Faults of the manifest are the answer, not an
// error; faults of the request around it are.
func (c *call) validate() {
	c.requestMembers("cluster", "fieldValidation", "manifest")
	cl := c.readCluster()
	l := c.load(cl.features)
	if c.failOnFaults() {
		return
	}
	w := &c.w
	w.Object()
	w.Key("valid")
	w.Bool(len(l.faults) == 0)
	w.Key("faults")
	c.writeFaults(w, l.faults)
	c.writeDropped(l.dropped)
	c.writeWarnings(l.warnings)
	c.writeCluster(cl)
	w.End()
}
