package kube

import (
	"fmt"

	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
)

// Row implements diff.Release with the printers that the API server uses for tables.
func (r *Release) Row(manifest []byte) ([]string, error) {
	object, err := decode(manifest, false)
	if err != nil {
		return nil, err
	}
	pod, ok := object.(*core.Pod)
	if !ok {
		return nil, fmt.Errorf("no Pod: %T", object)
	}
	if r.tables == nil {
		r.tables = printers.NewTableGenerator().With(printersinternal.AddHandlers)
	}
	table, err := r.tables.GenerateTable(pod, printers.GenerateOptions{})
	if err != nil {
		return nil, err
	}
	var cells []string
	for _, cell := range table.Rows[0].Cells {
		cells = append(cells, fmt.Sprint(cell))
	}
	return cells, nil
}
