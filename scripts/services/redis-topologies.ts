import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { modernRedis, type RedisBinary, startRedis } from './redis.ts'
import { isFree, type Service, startService } from './service.ts'

/** Redis servers that belong together. */
export interface RedisServers {
  /** For `REDIS_URL`. */
  readonly url: string
  /** Masters, then replicas, then sentinels. */
  readonly servers: readonly Service[]
  /** Calls a server as its operator. */
  call(server: Service, ...words: readonly string[]): Promise<unknown>
  stop(): Promise<void>
}

const pollMs = 50
const startTimeoutMs = 60_000
const replication = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1']

/** Starts a master, its replica and three sentinels that replace a master that is silent for half a second. */
export const startSentinels = async (binary: RedisBinary = modernRedis()): Promise<RedisServers> => {
  const master = await startRedis({ binary, args: () => replication })
  const replica = await startRedis({
    binary,
    args: () => [...replication, '--replicaof', '127.0.0.1', String(master.port)],
  })
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(binary, master.port)))
  const opened = openServers(sentinelUrl(sentinels), [master, replica, ...sentinels])
  await until(async () => {
    const seen = await Promise.all(sentinels.map(async (each) => String(await opened.call(each, 'info', 'sentinel'))))
    return seen.every((info) => /slaves=1,sentinels=3/.test(info))
  })
  return opened
}

const sentinelUrl = (sentinels: readonly Service[]): string =>
  `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/mymaster`

const startSentinel = ({ command, env }: RedisBinary, master: number): Promise<Service> =>
  startService({
    name: 'sentinel',
    command,
    env: () => env,
    args: (port, folder) => {
      const file = join(folder, 'sentinel.conf')
      const lines = [
        ...[`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`],
        `sentinel monitor mymaster 127.0.0.1 ${master} 2`,
        'sentinel down-after-milliseconds mymaster 500',
        'sentinel failover-timeout mymaster 3000',
      ]
      writeFileSync(file, `${lines.join('\n')}\n`)
      return [file, '--sentinel']
    },
    url: (port) => `redis://127.0.0.1:${port}`,
  })

/** Starts a cluster of three masters, each with one replica unless `replicas` is 0. */
export const startRedisCluster = async ({
  binary = modernRedis(),
  replicas = 1,
}: {
  readonly binary?: RedisBinary
  readonly replicas?: 0 | 1
} = {}): Promise<RedisServers> => {
  const servers = await Promise.all(Array.from({ length: 3 * (1 + replicas) }, () => startMember(binary)))
  const url = `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
  const opened = openServers(url, servers)
  const { call } = opened
  const [first, ...others] = servers
  for (const other of others) await call(other, 'cluster', 'meet', '127.0.0.1', String(first?.port))
  for (const [n, server] of servers.slice(0, 3).entries()) await call(server, 'cluster', 'addslots', ...slotsOf(n))
  const all = (holds: (info: string) => boolean) => async () => {
    const infos = await Promise.all(servers.map(async (each) => String(await call(each, 'cluster', 'info'))))
    return infos.every(holds)
  }
  await until(all((info) => info.includes(`cluster_known_nodes:${servers.length}`)))
  for (const [n, replica] of servers.slice(3).entries()) {
    const master = servers[n]
    if (master !== undefined) await call(replica, 'cluster', 'replicate', String(await call(master, 'cluster', 'myid')))
  }
  await until(all((info) => info.includes('cluster_state:ok')))
  await until(async () => {
    const states = await Promise.all(
      servers.slice(3).map(async (each) => String(await call(each, 'info', 'replication'))),
    )
    return states.every((state) => state.includes('master_link_status:up'))
  })
  return opened
}

const slotsOf = (third: number): readonly string[] => {
  const [from, to] = [Math.round((third * 16_384) / 3), Math.round(((third + 1) * 16_384) / 3)]
  return Array.from({ length: to - from }, (_, n) => String(from + n))
}

/** Members talk to each other at a port that is 10,000 above that for clients. */
const startMember = async (binary: RedisBinary): Promise<Service> => {
  let port = 0
  while (!(port > 0 && (await isFree(port)) && (await isFree(port + 10_000)))) port = 15_000 + randomInt(7_000)
  const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-node-timeout', '1000']
  const args = () => [...cluster, '--cluster-replica-validity-factor', '0', ...replication]
  return startRedis({ binary, args, port })
}

const openServers = (url: string, servers: readonly Service[]): RedisServers => {
  const clients = new Map<number, Redis>()
  const call = (server: Service, ...words: readonly string[]): Promise<unknown> => {
    const client = clients.get(server.port) ?? connected(server)
    clients.set(server.port, client)
    const [command = '', ...args] = words
    return client.call(command, ...args)
  }
  const stop = async (): Promise<void> => {
    for (const client of clients.values()) client.disconnect()
    await Promise.all(servers.map((server) => server.kill9()))
    await Promise.all(servers.map((server) => server.stop()))
  }
  return { url, servers, call, stop }
}

const connected = ({ port }: Service): Redis =>
  new Redis(port, { maxRetriesPerRequest: null }).on('error', () => {
    // servers are killed
  })

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + startTimeoutMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('the Redis servers did not find each other')
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
