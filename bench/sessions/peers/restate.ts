import { join } from 'node:path'
import { freePort, type Service, startService } from '#scripts/services/service.ts'
import { installedPeer, placed } from './peer-packages.ts'

/** Starts Restate's server and a program whose turns it makes durable, which calls the model at `modelPort`. */
export async function startRestate(modelPort: number): Promise<readonly [turns: Service, server: Service]> {
  const packages = await installedPeer('restate')
  const admin = await freePort()
  const server = await startServer(packages, admin)
  try {
    const handler = await freePort()
    const turns = await startTurns(packages, [handler, server.port, modelPort])
    const body = JSON.stringify({ uri: `http://127.0.0.1:${handler}` })
    const headers = { 'content-type': 'application/json' }
    const made = await fetch(`http://127.0.0.1:${admin}/deployments`, { method: 'POST', headers, body })
    if (made.ok) return [turns, server]
    await turns.stop()
    throw new Error(`Restate did not take the program: ${made.status} ${await made.text()}`)
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function startServer(packages: string, admin: number): Promise<Service> {
  const node = await freePort()
  return startService({
    name: 'restate',
    command: join(packages, `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`),
    args: (_, data) => ['--no-logo', '--base-dir', join(data, 'restate')],
    env: (ingress) => ({
      ...{ PATH: process.env.PATH, HOME: process.env.HOME },
      ...{ RESTATE_DISABLE_TELEMETRY: 'true', DO_NOT_TRACK: '1', RESTATE_NODE_NAME: 'bench' },
      ...{ RESTATE_LISTEN_MODE: 'tcp', RESTATE_BIND_IP: '127.0.0.1', RESTATE_BIND_PORT: String(node) },
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    }),
    url: (ingress) => `http://127.0.0.1:${ingress}`,
    started: () => isHealthy(`http://127.0.0.1:${admin}/health`),
  })
}

const startTurns = (packages: string, ports: readonly number[]): Promise<Service> =>
  startService({
    name: 'restate-turns',
    command: process.execPath,
    env: () => ({ PATH: process.env.PATH, HOME: process.env.HOME, RESTATE_LOGGING: 'ERROR' }),
    args: (port, folder) => [placed('restate-turns.mjs', folder, packages), ...[port, ...ports].map(String)],
    url: (port) => `http://127.0.0.1:${port}`,
  })

const isHealthy = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
