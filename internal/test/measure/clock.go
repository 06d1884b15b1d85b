package measure

import (
	"math"
	"sync"
	"time"
)

// Tick returns the least step of the clock: some nanoseconds, or 0.5 to 16 ms.
var Tick = sync.OnceValue(func() time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 3 { // the process may have to wait for its core
		start := time.Now()
		for time.Since(start) == 0 {
		}
		least = min(least, time.Since(start))
	}
	return least
})
