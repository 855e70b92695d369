import { writeFileSync } from 'node:fs'
import { GCProfiler } from 'node:v8'

/*
 * Loaded into a server (`--import`). Counts the bytes allocated on V8's heap and those kept by minor collections. On SIGUSR2
 * writes them to the file of KEPT_BYTES as `allocated kept` and restarts counting.
 */
const file = process.env.KEPT_BYTES ?? ''
let profiler = new GCProfiler()

const end = (): void => {
  let [allocated, kept, last] = [0, 0, -1]
  for (const { gcType, beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
    const before = beforeGC.heapStatistics.usedHeapSize
    const after = afterGC.heapStatistics.usedHeapSize
    if (last >= 0 && gcType === 'Scavenge') {
      allocated += before - last
      kept += after - last
    }
    last = after
  }
  writeFileSync(file, `${allocated} ${kept}`)
  profiler = new GCProfiler()
  profiler.start()
}

if (file !== '') {
  profiler.start()
  process.on('SIGUSR2', end)
}
