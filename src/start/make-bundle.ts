import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { currentBundle, folderOf, hasCode, keepBundle } from './bundle.js'

/*
 * Makes the bundle of the sources as they are, unless it is there: `node src/start/make-bundle.ts`, with the options of the
 * server that is to use it. Several at a time wait for the first. With `--behind` it gives way to every other process, and
 * is the first that a machine short of memory ends.
 */
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const lock = `${folderOf(root)}/making`
/** One that is older was left behind, in ms. */
const mostMs = 120_000
const lookMs = 100
const warmFile = fileURLToPath(new URL('./warm-code.ts', import.meta.url))

const giveWay = (): void => {
  try {
    setPriority(19)
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // not this system's way
  }
}

const make = async (): Promise<void> => {
  if (currentBundle(root) === null) keepBundle(root, await (await import('./bundled.ts')).bundled(root))
  const bundle = currentBundle(root)
  if (bundle === null || hasCode(bundle.file)) return
  const { NODE_OPTIONS = '' } = process.env
  const options = { stdio: 'ignore', env: { NODE_OPTIONS }, timeout: mostMs } as const
  // only what a start runs is worth keeping: a server starts, answers and ends
  spawnSync(process.execPath, [...process.execArgv, warmFile], options)
  removeOthers(bundle.file)
}

/** Bundles of other sources: processes that run one have it in memory. And folders of servers that were killed. */
const removeOthers = (file: string): void => {
  for (const name of readdirSync(folderOf(root))) {
    const path = `${folderOf(root)}/${name}`
    const isOther = name.includes('.bundle.js') && !path.startsWith(file)
    if (isOther || name.startsWith('warm-')) rmSync(path, { recursive: true, force: true })
  }
}

/** Whether this process makes it now; false when another one has for too long, or nothing can be written. */
const locked = (): boolean => {
  for (const until = Date.now() + mostMs; Date.now() < until; ) {
    try {
      mkdirSync(folderOf(root), { recursive: true })
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return true
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') return false
      if (isLeftBehind()) rmSync(lock, { force: true })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookMs)
    }
  }
  return false
}

const isLeftBehind = (): boolean => {
  try {
    const isOld = Date.now() - statSync(lock).mtimeMs > mostMs
    const holder = Number(readFileSync(lock, 'utf8'))
    if (isOld || holder === 0) return isOld
    process.kill(holder, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

if (process.argv.includes('--behind')) giveWay()
if (locked()) {
  try {
    await make()
  } finally {
    rmSync(lock, { force: true })
  }
}
