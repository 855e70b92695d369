import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installPythonPackages } from '../services/python-packages.ts'
import { type ClientCheck, type ClientWorld, run } from './client-check.ts'
import { installPackages } from './generators.ts'

/** SDKs and agent frameworks, used as their users do, by name. Pinned: raise a version here to try a new one. */
const packages = {
  openai: ['openai@7.57.0', 'zod@4.6.7'],
  anthropic: ['@anthropic-ai/sdk@1.11.0', 'zod@4.6.7'],
  'google-genai': ['@google/genai@2.32.0'],
  'ai-sdk': ['ai@7.0.173', '@ai-sdk/openai@4.0.118', '@ai-sdk/anthropic@4.0.105', 'zod@4.6.7'],
  'openai-agents': ['@openai/agents@0.20.0', 'zod@4.6.7'],
  langchain: ['@langchain/openai@1.6.0', '@langchain/core@1.4.0', '@langchain/langgraph@1.7.3', 'zod@4.6.7'],
  // a binary of 400 MB for the platform, installed as an optional dependency from the same registry
  codex: ['@openai/codex@0.169.0'],
} as const

/** These share most dependencies: they are installed together, once for all checks of a run. */
const together = (['openai', 'anthropic', 'google-genai', 'ai-sdk', 'openai-agents', 'langchain'] as const).flatMap(
  (name): readonly string[] => packages[name],
)

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
  (name: keyof typeof packages): ClientCheck =>
  (world) => {
    const isSeparate = name === 'codex'
    if (isSeparate) installPackages(world, packages[name])
    const own = isSeparate ? world : installSharedSdks(world)
    copyFileSync(join(import.meta.dirname, 'node', `${name}.js`), join(own.folder, `${name}.js`))
    run(own, process.execPath, [`${name}.js`])
  }

const pythonCheckOf =
  (program: string, pins = 'sdks'): ClientCheck =>
  (world) => {
    const python = installPythonPackages(pins, join(import.meta.dirname, `python/${pins}.txt`))
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
  'google-genai-python': pythonCheckOf('with_google_genai.py', 'google'),
  'ai-sdk': checkOf('ai-sdk'),
  'openai-agents': checkOf('openai-agents'),
  langchain: checkOf('langchain'),
  codex: checkOf('codex'),
} satisfies Readonly<Record<string, ClientCheck>>
