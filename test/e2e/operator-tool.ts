import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { fromKeptSources } from '../start/from-kept-sources.ts'

const root = resolve(import.meta.dirname, '../..')

/** Environment of a tool, in addition to the PATH of this process. */
export type ToolEnv = Readonly<Record<string, string>>

/** Runs an operator tool (`scripts/<script>.ts`) until it exits. `said` is its output on both streams. */
export const runTool = (
  script: string,
  args: readonly string[],
  env: ToolEnv,
): Promise<{ readonly code: number | null; readonly said: string }> =>
  new Promise((done) => {
    const tool = resolve(root, `scripts/${script}.ts`)
    // as servers of tests: to open the packaged model takes four times the CPU of `doctor` without it
    const own = { PATH: process.env.PATH, EMBEDDER: 'none', ...env }
    const child = spawn(process.execPath, [...fromKeptSources, tool, ...args], { env: own })
    let said = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (part) => (said += String(part)))
    child.on('close', (code) => done({ code, said }))
  })
