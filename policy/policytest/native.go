package policytest

import (
	"fmt"

	"github.com/podfate/podfate/wasm/guest/machine"
)

// NewNative returns the native machine behind the exports, by which the vectors are made.
func NewNative() (Instance, error) { return &native{}, nil }

type native struct{ machine machine.Machine }

func (n *native) Close()           {}
func (n *native) MemoryBytes() int { return 0 }

func (n *native) Bytes(address uint64, length int) []byte {
	b, _ := n.machine.Bytes(uintptr(address), uintptr(length))
	return b
}

func (n *native) Call(export string, args []uint64) (result uint64, payload []byte, err error) {
	m := &n.machine
	at := func(i int) uintptr { return uintptr(args[i]) }
	var failed bool
	switch export {
	case "pf_abi_version":
		return machine.ABIVersion, nil, nil
	case "pf_alloc":
		return uint64(m.Alloc(int(int32(args[0])))), nil, nil
	case "pf_free":
		return uint64(m.Free(at(0))), nil, nil
	case "pf_release":
		return uint64(m.Release(uint32(args[0]))), nil, nil
	case "pf_reset":
		m.Reset()
		return 0, nil, nil
	case "pf_eval_batch":
		return uint64(m.EvalBatch(uint32(args[0]), at(1), at(2), at(3), at(4))), nil, nil
	case "pf_call":
		payload, failed = m.Call(uint32(args[0]), at(1), at(2))
	case "pf_compile":
		payload, failed = m.Compile(at(0), at(1))
	case "pf_eval":
		payload, failed = m.Eval(uint32(args[0]), at(1), at(2))
	default:
		return 0, nil, fmt.Errorf("no export is called %s", export)
	}
	if failed {
		result = 1 << 31
	}
	return result, payload, nil
}
