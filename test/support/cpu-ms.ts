/**
 * CPU time of this process with its threads so far, in ms. Limits for work of the processor are measured with it: a clock
 * would measure how busy the machine is.
 */
export const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
