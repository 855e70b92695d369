import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { readCommandLine } from '#src/start/command-line.ts'
import type { CallApi } from './followed-turn.ts'
import { toolModes, toolsFor } from './offered-tools.ts'
import { toolServer } from './tool-server.ts'

/** Timeout of an API call in ms, longer than any operation waits. */
const callMs = 10 * 60_000

const usage = [
  'usage: troupe mcp [--mode read|write]',
  '',
  'Starts an MCP server over stdio that calls a Troupe server. SERVICE_API_KEY must be set to a key of a project;',
  'SERVICE_BASE_URL is the server, http://127.0.0.1:8080 by default. --mode write offers tools that change something.',
].join('\n')

/**
 * `troupe mcp`: an MCP server over stdio whose tools call a Troupe server over HTTP. SERVICE_API_KEY is the key,
 * SERVICE_BASE_URL the server (default: http://127.0.0.1:8080); `--mode write` adds tools that change something.
 */
const main = (): void => {
  const given = readCommandLine({ usage, options: { mode: { type: 'string' } } })
  const mode = toolModes.find((each) => each === (given.mode ?? 'read'))
  const key = process.env.SERVICE_API_KEY ?? ''
  const base = (process.env.SERVICE_BASE_URL ?? 'http://127.0.0.1:8080').replace(/(?<!\/)\/+$/, '')
  const problem =
    mode === undefined
      ? '--mode must be read or write'
      : key === ''
        ? 'SERVICE_API_KEY is not set: set it to a key of a project'
        : URL.parse(base) === null
          ? 'SERVICE_BASE_URL must be the URL of a server'
          : null
  if (problem !== null || mode === undefined) {
    process.stderr.write(`${problem}\n`)
    process.exit(2)
  }
  const tools = toolsFor(mode)
  serveStdio(() => toolServer({ tools, callable: tools, decides: mode === 'write' }, overHttp(base, key)))
}

const overHttp =
  (base: string, key: string): CallApi =>
  async ({ method, path, body }, { signal, onPart }) => {
    const answer = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== null && { 'content-type': 'application/json' }) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(callMs)]),
      ...(body !== null && { body }),
    })
    return {
      status: answer.status,
      contentType: answer.headers.get('content-type') ?? '',
      body: await textOf(answer, onPart),
    }
  }

const textOf = async (answer: Response, onPart: ((part: Uint8Array) => void) | undefined): Promise<string> => {
  const parts: Uint8Array[] = []
  for await (const part of answer.body ?? []) {
    parts.push(part)
    onPart?.(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

main()
