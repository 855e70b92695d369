import { readFileSync, writeFileSync } from 'node:fs'

/*
 * Loaded into a server (`--import`): how long one turn of its loop kept the processor busy at most, in ms of the main
 * thread's own CPU time, so that it is the same whatever else runs on the machine. Written to the file of LOOP_HOLDS
 * whenever it rises; SIGUSR2 begins anew.
 */
const file = process.env.LOOP_HOLDS ?? ''
const schedule = `/proc/self/task/${process.pid}/schedstat`

/** Linux counts the time that a thread had a processor, in ns. */
const busyMs = (): number => Number(readFileSync(schedule, 'latin1').split(' ', 1)[0]) / 1e6

let last = busyMs()
let most = 0
const look = (): void => {
  const now = busyMs()
  if (now - last > most) {
    most = now - last
    writeFileSync(file, String(most))
  }
  last = busyMs()
}
const begin = (): void => {
  last = busyMs()
  most = 0
  writeFileSync(file, '0')
}

if (file !== '') {
  begin()
  setInterval(look, 2).unref()
  process.on('SIGUSR2', begin)
}
