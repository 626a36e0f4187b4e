package demo

// Resources returns the names of the resources that every simulated cluster has.
func Resources() []string {
	var names []string
	for _, r := range resources() {
		names = append(names, r.name())
	}
	return names
}
