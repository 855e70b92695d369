import { readFileSync } from 'node:fs'

/**
 * CPU time of this process with its threads so far, in ms. Limits for work of the processor are measured with it: a clock
 * would measure how busy the machine is.
 */
export const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Processor time of this thread so far, in ms, which Linux counts in ns. */
const threadMs = (): number => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6

/** Result of the work, and the processor time of the longest turn of the event loop meanwhile, whatever else runs on the machine. */
export const watchedTurns = async <T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly turnMs: number }> => {
  let last = threadMs()
  let turnMs = 0
  const timer = setInterval(() => {
    const now = threadMs()
    turnMs = Math.max(turnMs, now - last)
    last = now
  }, 1)
  const result = await work()
  clearInterval(timer)
  return { result, turnMs }
}
