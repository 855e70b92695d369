import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { currentBundle, folderOf, hasCode, keepBundle } from './bundle.js'

/*
 * Makes the bundle of the current sources unless it exists: `node src/start/make-bundle.ts`, with the Node options of
 * the server that will use it. Concurrent runs wait for the first. With `--behind` it runs at the lowest priority, and
 * is the first process to be killed when memory runs out.
 */
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const lock = `${folderOf(root)}/making`
/** Age in ms at which a lock is stale. */
const maxMs = 120_000
const pollMs = 100
const warmFile = fileURLToPath(new URL('./warm-code.ts', import.meta.url))

const giveWay = (): void => {
  try {
    setPriority(19)
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // not supported on this system
  }
}

const make = async (): Promise<void> => {
  if (currentBundle(root) === null) keepBundle(root, await (await import('./bundled.ts')).bundled(root))
  const bundle = currentBundle(root)
  if (bundle === null || hasCode(bundle.file)) return
  const { NODE_OPTIONS = '' } = process.env
  const options = { stdio: 'ignore', env: { NODE_OPTIONS }, timeout: maxMs } as const
  // only code that a start runs is worth caching: a server starts, answers and exits
  spawnSync(process.execPath, [...process.execArgv, warmFile], options)
  removeOthers(bundle.file)
}

/**
 * Removes bundles of other sources, which running processes hold in memory, and data folders of servers that were
 * killed.
 */
const removeOthers = (file: string): void => {
  for (const name of readdirSync(folderOf(root))) {
    const path = `${folderOf(root)}/${name}`
    const isOther = name.includes('.bundle.js') && !path.startsWith(file)
    if (isOther || name.startsWith('warm-')) rmSync(path, { recursive: true, force: true })
  }
}

/** Takes the lock; false when another process has held it for too long, or nothing can be written. */
const locked = (): boolean => {
  for (const until = Date.now() + maxMs; Date.now() < until; ) {
    try {
      mkdirSync(folderOf(root), { recursive: true })
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return true
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') return false
      if (isLeftBehind()) rmSync(lock, { force: true })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs)
    }
  }
  return false
}

const isLeftBehind = (): boolean => {
  try {
    const isOld = Date.now() - statSync(lock).mtimeMs > maxMs
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
