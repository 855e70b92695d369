import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { installPythonPackages } from '../services/python-packages.ts'
import { type ClientCheck, type ClientWorld, run } from './client-check.ts'

const root = resolve(import.meta.dirname, '../..')
const here = import.meta.dirname
const tsc = join(root, 'node_modules/typescript/bin/tsc')

/** Pinned: raise a version here to try a new one. They install TypeScript 5, since they need its API. */
const npmGenerators = [
  ...['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', '@hey-api/openapi-ts@0.95.0', 'typescript@5.9.3'],
]

/** Pinned. The linter is one bundle without dependencies. */
const linter = '@redocly/cli@2.77.0'

/** Generators from npm and PyPI, by name. CI runs all but orval, since together they take 20 seconds of CPU time. */
export const generators = {
  // its recommended rules; warnings do not fail it
  'redocly-lint': (world) => {
    installPackages(world, [linter])
    run(world, 'node_modules/.bin/redocly', ['lint', '--extends=recommended', world.document], {
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    })
  },
  'openapi-typescript': (world) => {
    useNpmGenerators(world)
    // not schema.d.ts, since the compiler does not check declaration files
    run(world, 'node_modules/.bin/openapi-typescript', [world.document, '-o', 'schema.ts'])
    runTypeScript(world, 'openapi-fetch.ts')
  },
  'hey-api': (world) => {
    useNpmGenerators(world)
    run(world, 'node_modules/.bin/openapi-ts', ['-i', world.document, '-o', 'client', '-c', '@hey-api/client-fetch'])
    runTypeScript(world, 'hey-api.ts')
  },
  // a project of its own, since its dependencies are many
  orval: (world) => {
    installPackages(world, ['orval@8.38.0', '@types/node@22.20.5'])
    run(world, 'node_modules/.bin/orval', [
      '--input',
      world.document,
      '--output',
      './client/api.ts',
      '--client',
      'fetch',
    ])
    runTypeScript(world, 'orval.ts')
  },
  'openapi-python-client': (world) => {
    const python = installPythonPackages('openapi-python-client', join(here, 'python/requirements.txt'))
    const env = { PYTHONPATH: python, PYTHONDONTWRITEBYTECODE: '1' }
    const generate = ['-m', 'openapi_python_client', 'generate', '--path', world.document, '--output-path', 'client']
    const printed = run(world, 'python3', [...generate, '--meta', 'none'], env)
    const lost = printed.split('\n').filter((line) => line.includes('will not be generated'))
    if (lost.length > 0) throw new Error(`operations are missing:\n${lost.join('\n')}`)
    copyFileSync(join(here, 'python/turn.py'), join(world.folder, 'turn.py'))
    const paths = [world.folder, python].join(delimiter)
    run(world, 'python3', ['turn.py'], { ...env, PYTHONPATH: paths })
  },
} satisfies Readonly<Record<string, ClientCheck>>

/** Installs the npm generators once for all checks of a run, and sets up the client's folder to use them. */
const useNpmGenerators = (world: ClientWorld): void => {
  const shared = { ...world, folder: join(dirname(world.folder), 'generators') }
  if (!existsSync(shared.folder)) {
    mkdirSync(shared.folder)
    installPackages(shared, npmGenerators)
    const types = join(shared.folder, 'node_modules/@types')
    mkdirSync(types, { recursive: true })
    if (!existsSync(join(types, 'node'))) symlinkSync(join(root, 'node_modules/@types/node'), join(types, 'node'))
  }
  for (const name of ['package.json', 'tsconfig.json'])
    copyFileSync(join(shared.folder, name), join(world.folder, name))
  symlinkSync(join(shared.folder, 'node_modules'), join(world.folder, 'node_modules'))
}

/** Installs packages in a separate project in the folder, since generators read its tsconfig.json. */
export const installPackages = (world: ClientWorld, names: readonly string[]): void => {
  writeFileSync(join(world.folder, 'package.json'), '{ "private": true, "type": "module" }')
  copyFileSync(join(here, 'typescript/tsconfig.json'), join(world.folder, 'tsconfig.json'))
  run(world, 'npm', ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', world.folder, ...names])
}

/**
 * Compiles a program of `typescript/` and all generated code with the project's compiler and all strict checks, and
 * runs it.
 */
export const runTypeScript = (world: ClientWorld, program: string): void => {
  copyFileSync(join(here, 'typescript', program), join(world.folder, 'turn.ts'))
  run(world, process.execPath, [tsc, '-p', 'tsconfig.json'])
  run(world, process.execPath, ['out/turn.js'])
}
