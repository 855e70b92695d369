import { readdir, readFile } from 'node:fs/promises'

/** Processes of one browser, as /proc has them; only Linux has. */
export interface ProcessTree {
  readonly pids: readonly number[]
  /** Memory that is their own, and the largest part that they share, once. */
  readonly bytes: number
}

const pageBytes = 4096

/** The processes whose command line has `mark`, and all below them. Null where there is no /proc. */
export const processTree = async (mark: string): Promise<ProcessTree | null> => {
  const names = await readdir('/proc').catch(() => null)
  if (names === null) return null
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => processOf(name, mark)))
  const known = found.filter((each) => each !== null)
  const pids = new Set(known.filter(({ isMarked }) => isMarked).map(({ pid }) => pid))
  for (let before = -1; before !== pids.size; ) {
    before = pids.size
    for (const { pid, parent } of known) if (pids.has(parent)) pids.add(pid)
  }
  const tree = known.filter(({ pid }) => pids.has(pid))
  const shared = Math.max(0, ...tree.map((each) => each.shared))
  return { pids: [...pids], bytes: tree.reduce((sum, { own }) => sum + own, shared) }
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly isMarked: boolean
  /** Bytes. */
  readonly own: number
  readonly shared: number
}

/** A process that ends meanwhile is none. */
const processOf = async (name: string, mark: string): Promise<Process | null> => {
  const read = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8')
  try {
    const [stat, memory, command] = await Promise.all([read('stat'), read('statm'), read('cmdline')])
    // the second field, the name, may have spaces and brackets
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z') return null
    const [, resident = 0, shared = 0] = memory.split(' ').map((pages) => Number(pages) * pageBytes)
    const isMarked = command.includes(mark)
    return { pid: Number(name), parent: Number(parent), isMarked, own: resident - shared, shared }
  } catch {
    return null
  }
}
