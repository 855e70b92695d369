import { readFileSync, writeFileSync } from 'node:fs'

/*
 * Loaded into a server (`--import`). Measures the longest turn of its event loop in ms of the main thread's CPU time, which
 * does not depend on other programs. Written to the file of LOOP_HOLDS whenever it rises; SIGUSR2 resets it.
 */
const file = process.env.LOOP_HOLDS ?? ''
const schedule = `/proc/self/task/${process.pid}/schedstat`

/** CPU time of the main thread, which Linux counts in ns. */
const busyMs = (): number => Number(readFileSync(schedule, 'latin1').split(' ', 1)[0]) / 1e6

let last = busyMs()
let max = 0
const query = (): void => {
  const now = busyMs()
  if (now - last > max) {
    max = now - last
    writeFileSync(file, String(max))
  }
  last = busyMs()
}
const begin = (): void => {
  last = busyMs()
  max = 0
  writeFileSync(file, '0')
}

if (file !== '') {
  begin()
  setInterval(query, 2).unref()
  process.on('SIGUSR2', begin)
}
