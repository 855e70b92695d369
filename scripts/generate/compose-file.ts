import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { providers } from '#specs/data/providers.ts'
import type { GeneratedFile } from './generated-file.ts'

/** `docker-compose.yml`, whose server gets the key and address of every provider from the operator's environment. */
export const composeFile = (root: string): GeneratedFile => {
  const path = 'docker-compose.yml'
  const envs = providers.flatMap(({ id, env, byConnection }) => (byConnection || id === 'simulated' ? [] : [env]))
  const lines = envs.map(
    (env) => `      ${env}_API_KEY:\n      ${env}_BASE_URL:\n      ${env}_PRICES:\n      ${env}_LIMITS:\n`,
  )
  const block = /(?: {6}[A-Z0-9_]{1,64}_(?:API_KEY|BASE_URL|PRICES|LIMITS):\n)+/
  return { path, text: readFileSync(join(root, path), 'utf8').replace(block, lines.join('')) }
}
