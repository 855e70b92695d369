import { cpuMs } from './cpu-ms.ts'

/** The smallest CPU time in ms of five runs after a first one, which compiles: what the work takes, however busy the machine is. */
export const minCpuMs = (run: () => void): number => {
  const times = Array.from({ length: 6 }, () => {
    const from = cpuMs()
    run()
    return cpuMs() - from
  })
  return Math.min(...times.slice(1))
}
