import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { onPath, runCommand, say } from '../services/command.ts'

const version = 'v3.22.0'
const folder = resolve(import.meta.dirname, `../../.cache/helm-${version}`)

/**
 * Returns the path of Helm: built from its Go module under `.cache`, once, which takes minutes. The module proxy proves its hash.
 * @throws {Error} when there is no Go, or the module cannot be fetched.
 */
export const helmProgram = (): string => {
  const program = join(folder, 'helm')
  if (existsSync(program)) return program
  const go = onPath('go')
  if (go === null) throw new Error('Helm is built from its Go module: install Go')
  say(`building Helm ${version} from its Go module into .cache (once)`)
  mkdirSync(folder, { recursive: true })
  runCommand(go, ['install', `helm.sh/helm/v3/cmd/helm@${version}`], { ...process.env, GOBIN: folder })
  return program
}
