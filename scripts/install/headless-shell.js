import { spawnSync } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { projectFile, root } from './native-package.js'
import { unpackVerified } from './verified-package.js'

/*
 * Prints the path of Chromium's headless shell in .cache; the first call fetches it with npm. Exit code 1, with a sentence
 * on standard error, when there is none for this machine.
 */
const name = '@sparticuz/chromium'
const pinned = projectFile('scripts/install/pinned-packages.json')[name]
const cache = join(root, '.cache')
const path = join(cache, `headless-shell-${pinned.version}`)

const fetched = async () => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the package has it for Linux x86-64 only'
  mkdirSync(cache, { recursive: true })
  const folder = `${path}.package.${process.pid}`
  // another process may fetch it too, so it appears atomically
  const partial = `${path}.${process.pid}`
  process.stderr.write('Fetching Chromium (64 MB) with npm, once.\n')
  try {
    const failure = unpackVerified({ name, ...pinned }, folder, ['bin/chromium.br'])
    if (failure !== null) return failure
    const unpacked = createWriteStream(partial, { mode: 0o755 })
    await pipeline(createReadStream(join(folder, 'bin/chromium.br')), createBrotliDecompress(), unpacked)
    renameSync(partial, path)
    return null
  } finally {
    for (const each of [folder, partial]) rmSync(each, { recursive: true, force: true })
  }
}

const failure = existsSync(path) ? null : await fetched()
const isUsable = failure === null && spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0
if (isUsable) process.stdout.write(`${path}\n`)
else {
  process.stderr.write(`Chromium was not fetched, because ${failure ?? 'it does not start on this machine'}.\n`)
  process.exitCode = 1
}
