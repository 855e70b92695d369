import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Distinguishes this process from all others that this machine has run: its boot, its namespace of process ids, the id, and
 * when it began. Undefined where there is no `/proc`.
 */
export const processMark = (pid: number = process.pid): string | undefined => {
  const [space, began] = [spaceOf(), beganOf(pid)]
  return space === undefined || typeof began !== 'string' ? undefined : `${space} ${pid} ${began}`
}

/**
 * Whether the process of a mark has ended, as this machine knows for certain: it ran here, in the same namespace, and its id
 * is no process's now or another one's. False for one of another machine.
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

/** In ticks since the boot; `none`: there is no such process, or what is left of it waits for its parent. */
const beganOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the name in parentheses may contain anything; behind it the state is the third field, the start the 22nd (proc(5))
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
    const [state = '', began] = [fields[0], fields[19]]
    return 'ZXx'.includes(state) && state !== '' ? 'none' : began
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')
    return isGone ? 'none' : undefined
  }
}
