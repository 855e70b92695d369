import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readCommandLine } from '#src/start/command-line.ts'
import { binaryFindings, nativeServer } from './check/native-binary.ts'
import { boundPart, type Lock, type Manifest } from './platforms/bound-part.ts'

/*
 * `npm run platforms`: installs the server's platform-specific dependencies as npm does on other platforms, each into a
 * temporary folder. Exit code 1 when an install fails or brings a binary of another platform, or when the native server
 * installed here is not the recorded binary.
 */

readCommandLine({
  usage:
    'usage: npm run platforms\n\nInstalls as npm does on four other platforms, into temporary folders, and checks the binary of the native server.',
  options: {},
})
const root = resolve(import.meta.dirname, '..')

interface Platform {
  readonly name: string
  readonly flags: readonly string[]
  /** Packages that must be installed; none of the others in `binaries` may be. */
  readonly brings: readonly string[]
}

const builds = ['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu', 'linux-x64-musl'].map((of) => `@node-rs/argon2-${of}`)
const binaries = [...builds, 'uWebSockets.js']

const platforms: readonly Platform[] = [
  { name: 'macOS on arm64', flags: ['--os=darwin', '--cpu=arm64'], brings: ['@node-rs/argon2-darwin-arm64'] },
  { name: 'macOS on x64', flags: ['--os=darwin', '--cpu=x64'], brings: ['@node-rs/argon2-darwin-x64'] },
  {
    ...{ name: 'Linux on arm64', flags: ['--os=linux', '--cpu=arm64', '--libc=glibc'] },
    brings: ['@node-rs/argon2-linux-arm64-gnu'],
  },
  {
    ...{ name: 'Alpine on x64', flags: ['--os=linux', '--cpu=x64', '--libc=musl'] },
    brings: ['@node-rs/argon2-linux-x64-musl'],
  },
]

const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))

/** The platform-specific part of the dependencies; the rest is installed here anyway. */
const bound = boundPart(manifest, lock)

const problemOf = ({ flags, brings }: Platform): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-platform-'))
  try {
    copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'))
    writeFileSync(join(folder, 'package.json'), JSON.stringify(bound.manifest))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(bound.lock))
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...flags]
    const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', timeout: 300_000 })
    if (status !== 0) return `npm ci fails: ${stderr.trim().split('\n').slice(-3).join(' ')}`
    const wrong = binaries.filter((name) => existsSync(join(folder, 'node_modules', name)) !== brings.includes(name))
    return wrong.length === 0 ? null : `wrong: ${wrong.join(', ')}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const platform of platforms) {
  const startedAt = performance.now()
  const problem = problemOf(platform)
  const took = ((performance.now() - startedAt) / 1000).toFixed(0)
  process.stdout.write(
    `${problem === null ? 'ok    ' : 'FAILED'}  ${platform.name} (${took} s)${problem === null ? '' : `: ${problem}`}\n`,
  )
  if (problem !== null) process.exitCode = 1
}

const changed = binaryFindings(join(root, 'node_modules'), nativeServer)
process.stdout.write(
  changed.length === 0
    ? `ok      ${nativeServer.package} ${nativeServer.version} is the recorded binary; it was not compared with a build of its official sources\n`
    : changed.map((problem) => `FAILED  ${problem}\n`).join(''),
)
if (changed.length > 0) process.exitCode = 1
