import { once } from 'node:events'
import { createServer } from 'node:net'
import { providers as known } from '#specs/data/providers.ts'
import type { Config } from '#src/config.ts'
import type { RedisSettings } from '#src/redis-config.ts'
import { redisAddressOf } from '#storage/index.ts'
import { shownHost } from '#storage/redis/connection.ts'
import { connectRedis } from '#storage/redis/open-redis.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'
import { type Address, networkTimeoutMs, overTcp, shown } from './tcp.ts'

/** Checks that Redis answers a PING, with the credentials and certificates that the server uses: all masters of a cluster. */
export const checkRedis = async ({
  redisUrl: url,
  redisAccess: access,
}: Pick<RedisSettings, 'redisAccess'> & { readonly redisUrl: string }): Promise<Finding> => {
  const answers = Promise.withResolvers<void>()
  const up = () => {
    if (connection.up) answers.resolve()
  }
  const connection = connectRedis({ url, access }, { patienceMs: networkTimeoutMs, up, down: () => {} })
  // another sentinel, or another node of a cluster, may answer
  if (connection.kind === 'server') connection.client.once('error', answers.reject)
  const impatience = setTimeout(() => answers.reject(new Error(connection.reason())), networkTimeoutMs)
  try {
    await answers.promise
    return ok('redis', `${connection.description()}: answers`)
  } catch (error) {
    const advice =
      'Is it running, and are REDIS_URL and REDIS_TLS_… correct? The nodes work without it, but streams from other nodes are delayed and rate limits are enforced per node.'
    return failed('redis', `${hostsOf(url)}: ${reasonOf(error)}`, advice)
  } finally {
    clearTimeout(impatience)
    connection.close()
  }
}

const hostsOf = (url: string): string => {
  const address = redisAddressOf(url)
  return typeof address === 'string' ? 'REDIS_URL' : address.hosts.map(shownHost).join(', ')
}

/** Checks that each configured provider accepts connections. Nothing is sent, so keys are not checked. */
export const checkProviders = async ({ providers, simulatedProvider }: Config): Promise<readonly Finding[]> => {
  const findings = await Promise.all(
    known.map(async ({ id, env, baseUrl }) => {
      const settings = providers[id]
      return settings === undefined ? null : checkProvider(id, env, settings.baseUrl ?? baseUrl)
    }),
  )
  const found = findings.filter((finding) => finding !== null)
  if (found.length > 0) return found
  if (simulatedProvider === 'off') {
    return [
      failed(
        'providers',
        'no provider has a key, and SIMULATED_PROVIDER is off',
        'Set a key: turns cannot be answered without one.',
      ),
    ]
  }
  return [
    warning(
      'providers',
      'no provider has a key: the simulated model is used',
      'Set OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY or that of another provider.',
    ),
  ]
}

const checkProvider = async (name: string, env: string, baseUrl: string): Promise<Finding> => {
  const { hostname, port, protocol } = new URL(baseUrl)
  const tls = protocol === 'https:'
  const address: Address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (tls ? 443 : 80)), tls }
  try {
    await overTcp(address, async () => {})
    return ok(name, `${shown(address)} can be reached`)
  } catch (error) {
    const advice = `Check ${env}_BASE_URL, DNS and the firewall: turns on its models fail.`
    return failed(name, `${shown(address)} cannot be reached: ${reasonOf(error)}`, advice)
  }
}

/** Checks that the server can listen. A port on which a Troupe server already listens is accepted. */
export const checkPort = async ({ host, port }: Pick<Config, 'host' | 'port'>): Promise<Finding> => {
  if (port === 0) return ok('port', 'any free port')
  try {
    await tryListening(host, port)
    return ok('port', `${host}:${port} is free`)
  } catch (error) {
    if (isInUse(error) && (await isOurs(host, port))) return ok('port', `${host}:${port} is used by a Troupe server`)
    const advice = isInUse(error)
      ? 'Stop the process that uses the port, or set PORT.'
      : 'Set HOST and PORT to an address and port that this user may use.'
    return failed('port', `${host}:${port}: ${reasonOf(error)}`, advice)
  }
}

const tryListening = async (host: string, port: number): Promise<void> => {
  const probe = createServer().listen(port, host)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

const isInUse = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

const isOurs = async (host: string, port: number): Promise<boolean> => {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  try {
    const url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/healthz`
    const answer = await fetch(url, { signal: AbortSignal.timeout(networkTimeoutMs) })
    return (await answer.text()) === '{"status":"ok"}'
  } catch {
    return false
  }
}
