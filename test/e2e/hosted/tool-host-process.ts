import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

/*
 * A process that runs operator tools for its parent (operator-tool.ts), one after the other: it loads their modules once, and
 * evaluates only the tool itself each time.
 */

/** A tool to run. */
export interface ToolRequest {
  readonly id: number
  readonly script: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What a tool printed on both streams, and its exit code. */
export interface ToolAnswer {
  readonly id: number
  readonly code: number
  readonly said: string
}

const exited = Symbol('the tool has exited')

const run = async ({ id, script, args, env }: ToolRequest): Promise<ToolAnswer> => {
  let said = ''
  let code: number | undefined
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.execPath, script, ...args]
  process.exitCode = undefined
  for (const stream of [process.stdout, process.stderr])
    stream.write = (text: string | Uint8Array) => {
      // a tool that catches its own end in this process may print it
      if (code === undefined) said += String(text)
      return true
    }
  process.exit = (given) => {
    code ??= Number(given ?? process.exitCode ?? 0)
    throw exited
  }
  try {
    await import(`${pathToFileURL(script).href}?run=${id}`)
  } catch (error) {
    if (code === undefined) {
      said += inspect(error)
      code = 1
    }
  }
  return { id, code: code ?? Number(process.exitCode ?? 0), said }
}

let last: Promise<unknown> = Promise.resolve()
process.on('message', (request: ToolRequest) => {
  last = last.then(async () => process.send?.(await run({ ...request, script: resolve(request.script) })))
})
const end = process.exit.bind(process)
process.on('disconnect', () => end(0))
