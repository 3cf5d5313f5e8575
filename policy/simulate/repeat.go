package simulate

type mark struct{}
type search struct{}

func (k *kubelet) summarize() {}
