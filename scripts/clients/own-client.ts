import { cpSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type ClientCheck, type ClientWorld, run } from './client-check.ts'
import { installPackages } from './generators.ts'
import { installNode, isHere } from './node-majors.ts'

const root = resolve(import.meta.dirname, '../..')

/** Packs our packages into the client's folder, as npm publishes them. @returns the paths of the tarballs */
export const packPackages = (world: ClientWorld, names: readonly string[]): readonly string[] => {
  for (const name of names)
    run({ ...world, folder: join(root, 'packages', name) }, 'npm', [
      'pack',
      '--silent',
      '--pack-destination',
      world.folder,
    ])
  return readdirSync(world.folder).map((name) => join(world.folder, name))
}

/** Installs our client beside what it is to run on, with the programs of `runtimes`. */
const installClient = (world: ClientWorld, ...runtimes: readonly string[]): void => {
  installPackages(world, [...packPackages(world, ['client']), ...runtimes])
  cpSync(join(import.meta.dirname, 'runtimes'), world.folder, { recursive: true })
}

const bin = (name: string): string => join('node_modules/.bin', name)

/** Runs of `@troupe/client` on each runtime, by name. Pinned: raise a version here to try a new one. */
export const ownClient: Readonly<Record<string, ClientCheck>> = {
  'own-client-node': (world) => {
    installClient(world)
    const nodes = isHere ? ([20, 22, 24] as const).map((release) => installNode(world, release)) : [process.execPath]
    for (const node of nodes) run(world, node, ['program.js'])
  },
  'own-client-bun': (world) => {
    installClient(world, 'bun@1.4.5')
    run(world, bin('bun'), ['program.js'])
  },
  'own-client-deno': (world) => {
    installClient(world, 'deno@2.9.6')
    const options = [
      '--quiet',
      '--no-prompt',
      '--allow-env',
      '--allow-net',
      '--allow-read',
      '--node-modules-dir=manual',
    ]
    run(world, bin('deno'), ['run', ...options, 'program.js'], {
      DENO_NO_UPDATE_CHECK: '1',
      DENO_DIR: dirname(world.folder),
    })
  },
  'own-client-workerd': (world) => {
    installClient(world, 'workerd@1.20261117.1')
    const bundler = join(root, 'node_modules/rolldown/bin/cli.mjs')
    run(world, process.execPath, [bundler, 'worker.js', '--format', 'esm', '--file', 'bundle.js'])
    run(world, process.execPath, ['run-worker.js'])
  },
}
