import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { providers as known } from '#specs/data/providers.ts'
import type { Config } from '#src/config.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'
import { type Address, networkTimeoutMs, overTcp, shown } from './tcp.ts'

/** Checks that Redis answers a PING, with the credentials of the URL. */
export const checkRedis = async (url: string): Promise<Finding> => {
  const { hostname, port, protocol, username, password } = new URL(url)
  const address = { host: hostname, port: Number(port || 6379), tls: protocol === 'rediss:' }
  const login =
    password === '' ? [] : ['AUTH', ...(username === '' ? [] : [username]), password].map(decodeURIComponent)
  try {
    const answer = await overTcp(address, async (socket) => {
      if (login.length > 0) await replyTo(socket, login)
      return replyTo(socket, ['PING'])
    })
    return ok('redis', `${shown(address)} answers ${answer}`)
  } catch (error) {
    const advice =
      'Is it running, and is REDIS_URL correct? The nodes work without it, but streams from other nodes are delayed and rate limits are enforced per node.'
    return failed('redis', `${shown(address)}: ${reasonOf(error)}`, advice)
  }
}

/** Sends one command in Redis's protocol and returns its simple reply. @throws {Error} for any other reply. */
const replyTo = async (socket: Socket, words: readonly string[]): Promise<string> => {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  socket.write(`*${words.length}\r\n${parts.join('')}`)
  let answer = ''
  while (!answer.includes('\r\n')) answer += String((await once(socket, 'data'))[0])
  const line = answer.split('\r\n')[0] ?? ''
  if (!line.startsWith('+')) throw new Error(`it responds with ${line.slice(0, 60)}`)
  return line.slice(1)
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
