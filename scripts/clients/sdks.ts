import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installPythonPackages } from '../services/python-packages.ts'
import { type ClientCheck, type ClientWorld, run } from './client-check.ts'
import { installPackages } from './generators.ts'

const zod = 'zod@4.6.7'

/**
 * SDKs and agent frameworks, used as their users do, by name: the packages of each major in use, the newest first.
 * Pinned: raise a version here to try a new one; a new major is one more line. Each runs `node/<name>.js`.
 */
export const releases = {
  openai: [
    ['openai@7.59.0', zod],
    ['openai@6.49.0', zod],
  ],
  anthropic: [
    ['@anthropic-ai/sdk@1.14.0', zod],
    ['@anthropic-ai/sdk@0.137.0', zod],
  ],
  'google-genai': [['@google/genai@3.3.0'], ['@google/genai@2.32.0']],
  'ai-sdk': [
    ['ai@7.0.173', '@ai-sdk/openai@4.0.118', '@ai-sdk/anthropic@4.0.105', zod],
    ['ai@6.0.326', '@ai-sdk/openai@3.0.141', '@ai-sdk/anthropic@3.0.140', zod],
  ],
  'openai-agents': [['@openai/agents@0.20.0', zod]],
  langchain: [
    ['@langchain/openai@1.6.0', '@langchain/core@1.4.0', '@langchain/langgraph@1.7.3', zod],
    ['@langchain/openai@0.6.9', '@langchain/core@0.3.80', '@langchain/langgraph@0.4.9', zod],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>

/** A binary of 400 MB for the platform, installed as an optional dependency from the same registry. */
const codexPackages = ['@openai/codex@0.169.0']

/** The newest majors share most dependencies: they are installed together, once for all checks of a run. */
const together = Object.values(releases).flatMap(([newest]): readonly string[] => newest)

/** Installs the SDKs that share dependencies, once for all checks of a run. @returns the world with their folder */
export const installSharedSdks = (world: ClientWorld): ClientWorld => {
  const own = { ...world, folder: join(dirname(world.folder), 'sdks') }
  if (!existsSync(own.folder)) {
    mkdirSync(own.folder)
    installPackages(own, [...new Set(together)])
  }
  return own
}

const checkOf =
  (name: string, install: (world: ClientWorld) => ClientWorld = installSharedSdks): ClientCheck =>
  (world) =>
    runProgram(install(world), name, process.execPath)

/** Runs `node/<name>.js` with the packages of the world's folder. */
export const runProgram = (world: ClientWorld, name: string, node: string): void => {
  copyFileSync(join(import.meta.dirname, 'node', `${name}.js`), join(world.folder, `${name}.js`))
  run(world, node, [`${name}.js`])
}

/** Runs a program of `examples/gateway` as its reader would. */
const exampleOf =
  (name: string): ClientCheck =>
  (world) => {
    const { folder, ...shared } = installSharedSdks(world)
    copyFileSync(join(import.meta.dirname, '../../examples/gateway', `${name}.js`), join(folder, `example-${name}.js`))
    const printed = run({ ...shared, folder }, process.execPath, [`example-${name}.js`])
    if (!printed.includes('is on its way')) throw new Error(`the tool's result is not in the answer: ${printed}`)
  }

const pythonCheckOf =
  (program: string): ClientCheck =>
  (world) => {
    const python = installPythonPackages('sdks', join(import.meta.dirname, 'python/sdks.txt'))
    copyFileSync(join(import.meta.dirname, 'python', program), join(world.folder, 'turn.py'))
    run(world, 'python3', ['turn.py'], { PYTHONPATH: python, PYTHONDONTWRITEBYTECODE: '1' })
  }

/** Checks of SDKs, by name. */
export const sdks = {
  openai: checkOf('openai'),
  anthropic: checkOf('anthropic'),
  'openai-python': pythonCheckOf('with_openai.py'),
  'anthropic-python': pythonCheckOf('with_anthropic.py'),
  'google-genai': checkOf('google-genai'),
  'ai-sdk': checkOf('ai-sdk'),
  'openai-agents': checkOf('openai-agents'),
  langchain: checkOf('langchain'),
  'example-vercel': exampleOf('vercel'),
  'example-langgraph': exampleOf('langgraph'),
  codex: checkOf('codex', (world) => {
    installPackages(world, codexPackages)
    return world
  }),
} satisfies Readonly<Record<string, ClientCheck>>
