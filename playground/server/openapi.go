package server

func schemaFiles() (map[string]*file, error)                   { return map[string]*file{}, nil }
func openAPIDocument(schemas map[string]*file) ([]byte, error) { return []byte("{}"), nil }
