import { readdir, readFile } from 'node:fs/promises'

/** Processes of one browser according to /proc, which only Linux has. */
export interface ProcessTree {
  readonly pids: readonly number[]
  /** Memory use in bytes: the private memory of all processes, plus the largest shared part once. */
  readonly bytes: number
}

const pageBytes = 4096

/**
 * Returns the processes whose command line contains `mark`, and all of their descendants. Null on systems without
 * /proc.
 *
 * @param known processes of the tree at the previous measurement. While one of them lives, command lines are not read,
 * which saves most of the work.
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

/** Returns the parent of a process; null when the process has ended or is a zombie. */
const parentOf = async (name: string): Promise<number | null> => {
  const stat = await read(name, 'stat')
  // the second field, the name, may contain spaces and parentheses
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return parent === undefined || state === 'Z' ? null : Number(parent)
}

const marked = async (pids: readonly number[], mark: string): Promise<readonly number[]> => {
  const commands = await Promise.all(pids.map((pid) => read(pid, 'cmdline')))
  return pids.filter((_, at) => commands[at]?.includes(mark))
}

/** Returns the memory use in bytes; zero for a process that has ended in the meantime. */
const sizeOf = async (pid: number): Promise<{ readonly own: number; readonly shared: number }> => {
  const [, resident = 0, shared = 0] = (await read(pid, 'statm')).split(' ').map((pages) => Number(pages) * pageBytes)
  return { own: resident - shared, shared }
}
