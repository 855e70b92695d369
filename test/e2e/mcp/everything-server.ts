import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { npmPackages } from '#scripts/services/npm-packages.ts'

/** The official "everything" server, which supports revisions up to 2025-11-25, in a separate process. */
export interface EverythingServer {
  readonly url: string
  readonly host: string
  stop(): Promise<void>
}

export const startEverythingServer = async (
  transport: 'streamableHttp' | 'sse' = 'streamableHttp',
): Promise<EverythingServer> => {
  const entry = (await npmPackages('mcp')).resolve('@modelcontextprotocol/server-everything/dist/index.js')
  const port = await freePort()
  const child = spawn(process.execPath, [entry, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (text) => String(text).includes(String(port)) && resolve())
  })
  return {
    url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    host: `127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}
