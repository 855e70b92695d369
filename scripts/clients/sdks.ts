import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ClientCheck, installPackages, run } from './generators.ts'

/** SDKs and agent frameworks that run as their users run them, by name. Pinned: a new version is tried when it is raised here. */
const packages = {
  'ai-sdk': ['ai@7.0.173', '@ai-sdk/openai@4.0.118', 'zod@4.6.7'],
  'openai-agents': ['@openai/agents@0.20.0', 'zod@4.6.7'],
  langchain: ['@langchain/openai@1.6.0', '@langchain/core@1.4.0', 'zod@4.6.7'],
} as const

const checkOf =
  (name: keyof typeof packages): ClientCheck =>
  (world) => {
    installPackages(world, packages[name])
    copyFileSync(join(import.meta.dirname, 'node', `${name}.js`), join(world.folder, 'turn.js'))
    run(world, process.execPath, ['turn.js'])
  }

/** Every SDK that is tried, by name. */
export const sdks: Readonly<Record<string, ClientCheck>> = {
  'ai-sdk': checkOf('ai-sdk'),
  'openai-agents': checkOf('openai-agents'),
  langchain: checkOf('langchain'),
}
