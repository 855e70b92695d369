import { readdirSync, readFileSync } from 'node:fs'

const ticksASecond = 100

/** CPU time that a process and its descendants have used, in ms; NaN without /proc. */
export function cpuMsOf(pid: number): number {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
    )
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number)
    return ((user + system) * 1000) / ticksASecond + children.reduce((sum, child) => sum + cpuMsOf(child), 0)
  } catch {
    return Number.NaN
  }
}
