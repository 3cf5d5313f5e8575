package cli

import "github.com/spf13/pflag"

// tableFlags adds the flags of table.
func tableFlags(flags *pflag.FlagSet) func() (members, error) {
	container := flags.String("container", "", "the only container to list")
	restarts := flags.Int32("restart-count", 0, "how often the container has been restarted before")
	return func() (members, error) {
		m := members{}
		if *container != "" {
			m["container"] = encode(*container)
		}
		if flags.Changed("restart-count") {
			m["restartCount"] = encode(*restarts)
		}
		return m, nil
	}
}
