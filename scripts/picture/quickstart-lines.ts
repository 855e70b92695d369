import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { TimedLine } from './terminal-animation.ts'

const script = resolve(import.meta.dirname, '../quickstart.ts')
const command = '$ npm ci && npm run quickstart'

/** Runs the quickstart in a separate data folder. @returns its output, with times; passwords and keys are replaced. */
export const quickstartLines = async (): Promise<readonly TimedLine[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-animation-'))
  const args = ['--disable-warning=ExperimentalWarning', script, '--exit']
  const env = { ...process.env, PORT: '8080', LOG_LEVEL: 'error' }
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const startedAt = performance.now()
  const lines: TimedLine[] = [{ text: command, at: 0 }]
  try {
    for await (const text of createInterface({ input: child.stdout })) {
      lines.push({ text: withoutSecrets(text), at: performance.now() - startedAt })
    }
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode !== 0) throw new Error(`the quickstart ended with ${child.exitCode}`)
    return lines
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const withoutSecrets = (text: string): string =>
  text.replaceAll(/csk_[\w-]{20,}/g, 'csk_…').replaceAll(/password \S+\)/g, 'password …)')
