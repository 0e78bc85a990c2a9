package env

import (
	"sync"

	"golang.org/x/sys/windows/registry"
)

// Kernel names the machine, "" if the system does not say.
var Kernel = sync.OnceValue(func() string {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer k.Close()
	id, _, err := k.GetStringValue("MachineGuid")
	if err != nil {
		return ""
	}
	return id
})
