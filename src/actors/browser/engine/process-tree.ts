import { readdir, readFile } from 'node:fs/promises'

/** Processes of one browser, as /proc has them; only Linux has. */
export interface ProcessTree {
  readonly pids: readonly number[]
  /** Memory that is their own, and the largest part that they share, once. */
  readonly bytes: number
}

const pageBytes = 4096

/**
 * The processes whose command line has `mark`, and all below them. Null where there is no /proc.
 *
 * @param known processes of the tree as it was seen last: while one of them lives, no command line is read, which is most of the work.
 */
export const processTree = async (mark: string, known: readonly number[] = []): Promise<ProcessTree | null> => {
  const names = await readdir('/proc').catch(() => null)
  if (names === null) return null
  const parents = new Map<number, number>()
  await Promise.all(
    names.map(async (name) => {
      const parent = /^\d+$/.test(name) ? await parentOf(name) : null
      if (parent !== null) parents.set(Number(name), parent)
    }),
  )
  const alive = known.filter((pid) => parents.has(pid))
  const pids = new Set(alive.length > 0 ? alive : await marked([...parents.keys()], mark))
  for (let before = -1; before !== pids.size; ) {
    before = pids.size
    for (const [pid, parent] of parents) if (pids.has(parent)) pids.add(pid)
  }
  const sizes = await Promise.all([...pids].map(sizeOf))
  const shared = Math.max(0, ...sizes.map((each) => each.shared))
  return { pids: [...pids], bytes: sizes.reduce((sum, { own }) => sum + own, shared) }
}

const read = (pid: number | string, file: string): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')

/** Null for a process that has ended: what is left of it is a zombie, or nothing. */
const parentOf = async (name: string): Promise<number | null> => {
  const stat = await read(name, 'stat')
  // the second field, the name, may have spaces and brackets
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return parent === undefined || state === 'Z' ? null : Number(parent)
}

const marked = async (pids: readonly number[], mark: string): Promise<readonly number[]> => {
  const commands = await Promise.all(pids.map((pid) => read(pid, 'cmdline')))
  return pids.filter((_, at) => commands[at]?.includes(mark))
}

/** Bytes; none of a process that ended meanwhile. */
const sizeOf = async (pid: number): Promise<{ readonly own: number; readonly shared: number }> => {
  const [, resident = 0, shared = 0] = (await read(pid, 'statm')).split(' ').map((pages) => Number(pages) * pageBytes)
  return { own: resident - shared, shared }
}
