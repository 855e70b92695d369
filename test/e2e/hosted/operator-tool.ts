import { type ChildProcess, fork, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { fromKeptSources } from '#test/start/from-kept-sources.ts'
import type { ToolAnswer, ToolRequest } from './tool-host-process.ts'

const root = resolve(import.meta.dirname, '../../..')

/** Environment of a tool, in addition to the PATH of this process. */
export type ToolEnv = Readonly<Record<string, string>>

/** What a tool printed on both streams, and its exit code; null if a signal ended it. */
interface Ran {
  readonly code: number | null
  readonly said: string
}

const scriptOf = (name: string): string => resolve(root, `scripts/${name}.ts`)
// as servers of tests: to open the packaged model takes four times the CPU of `doctor` without it
const envOf = (env: ToolEnv) => ({ PATH: process.env.PATH, EMBEDDER: 'none', ...env })

/** Runs an operator tool (`scripts/<script>.ts`) as a process of its own until it exits. */
export const runTool = (script: string, args: readonly string[], env: ToolEnv): Promise<Ran> =>
  new Promise((done) => {
    const child = spawn(process.execPath, [...fromKeptSources, scriptOf(script), ...args], { env: envOf(env) })
    let said = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (part) => (said += String(part)))
    child.on('close', (code) => done({ code, said }))
  })

let host: ChildProcess | undefined
let requests = 0

/** Runs an operator tool in a process that all tools of a worker share: it loads their modules once, a second of CPU. */
export const runToolHosted = (script: string, args: readonly string[], env: ToolEnv): Promise<Ran> => {
  host ??= newHost()
  const running = host
  const request = { id: requests++, script: scriptOf(script), args, env: envOf(env) } satisfies ToolRequest
  return new Promise((done, fail) => {
    const ended = () => fail(new Error('the process of the tools has ended'))
    const answered = ({ id, ...ran }: ToolAnswer) => {
      if (id !== request.id) return
      running.off('message', answered).off('exit', ended)
      done(ran)
    }
    running.on('message', answered).once('exit', ended)
    running.send(request)
  })
}

const newHost = (): ChildProcess => {
  const made = fork(resolve(import.meta.dirname, 'tool-host-process.ts'), { execArgv: [...fromKeptSources] })
  made.once('exit', () => {
    host = undefined
  })
  // a worker of the test runner ends without waiting for it
  made.unref()
  made.channel?.unref()
  return made
}
