import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Identifies a process among all that this machine has run: boot id, process id namespace, process id, and start time.
 * Undefined where there is no `/proc`.
 */
export const processMark = (pid: number = process.pid): string | undefined => {
  const [space, began] = [spaceOf(), beganOf(pid)]
  return space === undefined || typeof began !== 'string' ? undefined : `${space} ${pid} ${began}`
}

/**
 * Whether the process with this mark has certainly ended: it ran on this machine, in the same namespace, and its id is
 * unused or reused. False for a process of another machine.
 */
export const hasEnded = (mark: string): boolean => {
  const [, space, pid, began] = /^(\S+ \S+) (\d+) (\d+)$/.exec(mark) ?? []
  if (space === undefined || space !== spaceOf()) return false
  const now = beganOf(Number(pid))
  return now === 'none' || (now !== undefined && now !== began)
}

let space: string | undefined

const spaceOf = (): string | undefined => {
  try {
    space ??= `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
    return space
  } catch {
    return undefined
  }
}

/** Start time in ticks since boot; `none`: there is no such process, or it is a zombie. */
const beganOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the name in parentheses may contain anything; after it, the state is the third field and the start time the 22nd
    // (proc(5))
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
    const [state = '', began] = [fields[0], fields[19]]
    return 'ZXx'.includes(state) && state !== '' ? 'none' : began
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')
    return isGone ? 'none' : undefined
  }
}
