import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { AllowedHosts, isPublicAddress } from './address-rules.ts'
import { openGuardedAgent } from './guarded-agent.ts'
import { openNameLookup } from './name-lookup.ts'
import { type OutgoingKind, type OutgoingWatch, watchedConnect, watchedRequest } from './outgoing-watch.ts'
import { undici } from './undici.ts'

/** The guard through which the server reaches URLs that users may choose. */
export interface SsrfGuard {
  /** Connects to public addresses and allowed hosts only; the check is made on the address that is connected to. */
  readonly dispatcher: Dispatcher
  /** Parses a URL and refuses what can be refused without a lookup. @throws {SsrfRefused} */
  check(url: string): URL
  /** Whether a URL leads to a private host that is allowed; names are not looked up. */
  isPrivate(url: string): boolean
  /**
   * Sends one request. 307 and 308, and for GET every redirect, are followed up to `maxRedirects` times. Each hop is
   * checked again, and credentials are dropped when the origin changes. Other redirects, and for GET all with
   * `maxRedirects: 0`, are returned as answers.
   * @throws {SsrfRefused} for the first URL, {RedirectFailed} for a later one, and errors of undici
   */
  request(url: string, init: GuardedRequest): Promise<Dispatcher.ResponseData>
  /** The same for URLs within the content of a request, such as an image's, which often come from end users. */
  readonly content: Pick<SsrfGuard, 'check' | 'request' | 'connect'>
  /**
   * Opens a TCP connection for a proxy, checked on the address that it is made to.
   *
   * @throws {SsrfRefused} and errors of the connection
   */
  connect(target: { readonly hostname: string; readonly port: number }): Promise<Socket>
  close(): Promise<void>
}

/** A request through the guard. Header names in lower case. */
export interface GuardedRequest {
  readonly kind: OutgoingKind
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  /** Names of further headers with credentials, which are not sent to another origin. */
  readonly credentials?: readonly string[]
  readonly body?: string
  readonly signal: AbortSignal
  readonly maxRedirects: number
}

export interface SsrfGuardOptions {
  /** `host` or `host:port`, from ALLOWED_PRIVATE_HOSTS. */
  readonly allowedPrivateHosts: readonly string[]
  /** The same for content, from ALLOWED_PRIVATE_CONTENT_HOSTS; none when absent. */
  readonly allowedContentHosts?: readonly string[]
  readonly connectTimeoutMs?: number
  /** Returns further headers for each request, such as the trace context. */
  readonly ownHeaders?: () => Readonly<Record<string, string>>
  /** Counts requests and connections. */
  readonly watch?: OutgoingWatch
  /** Replaces both name lookups, in tests. */
  readonly lookup?: LookupFunction
}

/** Variables in which an operator lists private hosts: those that projects configure, and those in content. */
type HostsVariable = 'ALLOWED_PRIVATE_HOSTS' | 'ALLOWED_PRIVATE_CONTENT_HOSTS'

/** This server does not connect to the target. The message says how an operator can allow it, where that is possible. */
export class SsrfRefused extends Error {
  override readonly name = 'SsrfRefused'
}

/** For errors that do not repeat the reason of the guard. */
export const addressNotAllowed =
  'Connections to this address are not allowed: it is not public, and ALLOWED_PRIVATE_HOSTS of this server does not list it.'

/** The first host has received the request and redirected it to a target that cannot be reached. */
export class RedirectFailed extends Error {
  override readonly name = 'RedirectFailed'
  constructor(cause: unknown) {
    super('the redirect cannot be followed', { cause })
  }
}

const defaultConnectTimeoutMs = 10_000
const hopHeaders = ['authorization', 'cookie', 'proxy-authorization', 'host']

/** Opens a guard with its own connections. */
export function openSsrfGuard(options: SsrfGuardOptions): SsrfGuard {
  const configured = reachOf(options, new AllowedHosts(options.allowedPrivateHosts), 'ALLOWED_PRIVATE_HOSTS')
  const contentHosts = new AllowedHosts(options.allowedContentHosts ?? [])
  const content = reachOf(options, contentHosts, 'ALLOWED_PRIVATE_CONTENT_HOSTS')
  return new OpenGuard(configured, content)
}

class OpenGuard implements SsrfGuard {
  readonly isPrivate: SsrfGuard['isPrivate']
  readonly check: SsrfGuard['check']
  readonly request: SsrfGuard['request']
  readonly connect: SsrfGuard['connect']
  readonly content: SsrfGuard['content']
  readonly #reaches: readonly [configured: Reach, content: Reach]

  constructor(configured: Reach, content: Reach) {
    this.check = configured.check
    this.isPrivate = configured.isPrivate
    this.request = configured.request
    this.connect = configured.connect
    this.content = content
    this.#reaches = [configured, content]
  }

  /** Created at the first use. */
  get dispatcher(): Dispatcher {
    return this.#reaches[0].dispatcher()
  }

  async close(): Promise<void> {
    for (const reach of this.#reaches) await reach.close()
  }
}

interface Reach extends Omit<SsrfGuard, 'content' | 'dispatcher'> {
  /** Creates the dispatcher at the first call. */
  readonly dispatcher: () => Dispatcher
}

/** Private hosts that may be reached, and the variable that lists them. */
interface HostPolicy {
  readonly allowed: AllowedHosts
  readonly variable: HostsVariable
}

const notPublic = (variable: HostsVariable): SsrfRefused =>
  new SsrfRefused(`the address is not public, and ${variable} of this server does not list it`)

/** Access to the public internet and these private hosts, with its own connections. */
const reachOf = (options: SsrfGuardOptions, allowed: AllowedHosts, variable: HostsVariable): Reach => {
  const policy = { allowed, variable }
  let opened: buildConnector.connector | undefined
  const connector: buildConnector.connector = (target, callback) => {
    opened ??= guardedConnector(options, policy)
    return opened(target, callback)
  }
  let agent: Agent | undefined
  const dispatcher = (): Dispatcher => {
    agent ??= openGuardedAgent(connector)
    return agent
  }
  const check = (url: string): URL => checkUrl(url, policy)
  return {
    dispatcher,
    check,
    isPrivate: (url) => isAllowed(new URL(url), allowed),
    request: (url, init) =>
      watchedRequest(options.watch, init, async () => {
        const headers = { ...init.headers, ...options.ownHeaders?.() }
        const first = check(url)
        return follow({ dispatcher: dispatcher(), check }, first, { ...init, headers })
      }),
    connect: ({ hostname, port }) => {
      const target = { hostname, host: hostname, protocol: 'http:', port: String(port) }
      const connected = (): Promise<Socket> =>
        new Promise((resolve, reject) => {
          connector(target, (error, socket) => (error === null ? resolve(socket) : reject(error)))
        })
      return watchedConnect(options.watch, connected)
    },
    close: async () => agent?.destroy(),
  }
}

async function follow(
  { dispatcher, check }: { readonly dispatcher: Dispatcher; readonly check: (url: string) => URL },
  first: URL,
  init: GuardedRequest,
): Promise<Dispatcher.ResponseData> {
  let url = first
  let headers = init.headers
  for (let hops = 0; ; hops++) {
    const { method, body, signal } = init
    const target = { origin: url.origin, path: url.pathname + url.search, method, headers, signal }
    const answer = await dispatcher.request(body === undefined ? target : { ...target, body }).catch((error) => {
      throw hops === 0 ? error : new RedirectFailed(error)
    })
    // The reader of the body sees its errors; an error of a discarded body must not end the process.
    answer.body.on('error', () => {})
    const location = answer.headers.location
    if (!isFollowed(init, answer.statusCode) || typeof location !== 'string') return answer
    answer.body.destroy()
    if (hops >= init.maxRedirects) throw new RedirectFailed('too many redirects')
    const next = nextUrl(check, location, url)
    if (next.origin !== url.origin) headers = withoutCredentials(headers, init.credentials)
    url = next
  }
}

/** Whether the redirect is followed, because it keeps the method and the body. */
const isFollowed = ({ method, maxRedirects }: GuardedRequest, status: number): boolean =>
  method === 'GET' ? maxRedirects > 0 && [301, 302, 303, 307, 308].includes(status) : status === 307 || status === 308

/** Checks a URL. Parsing it has already normalised decimal, octal, hex and full-width forms of an address. */
function checkUrl(text: string, { allowed, variable }: HostPolicy): URL {
  const url = URL.parse(text)
  if (url === null) throw new SsrfRefused('the URL is malformed')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new SsrfRefused('only http and https are allowed')
  if (url.username !== '' || url.password !== '') throw new SsrfRefused('credentials in a URL are not allowed')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host) && !isAllowed(url, allowed)) throw notPublic(variable)
  return url
}

const isAllowed = ({ hostname, protocol, port }: URL, allowed: AllowedHosts): boolean =>
  allowed.has(hostname, portOf(protocol, port))

/**
 * Checks the address at the moment of connecting, so that a name whose answer changes in between (DNS rebinding) gains
 * nothing.
 */
function guardedConnector(options: SsrfGuardOptions, { allowed, variable }: HostPolicy): buildConnector.connector {
  const timeout = options.connectTimeoutMs ?? defaultConnectTimeoutMs
  const connector = undici().buildConnector
  const open = connector({ timeout, allowH2: false, lookup: options.lookup ?? systemLookup })
  const guarded = connector({
    timeout,
    allowH2: false,
    lookup: publicOnly(options.lookup ?? openNameLookup(), variable),
  })
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '')
    if (allowed.has(host, portOf(target.protocol, target.port))) open(target, callback)
    else if (isIP(host) !== 0 && !isPublicAddress(host)) callback(notPublic(variable), null)
    else guarded(target, callback)
  }
}

/** Maximum number of addresses tried per name: a name with thousands would make the server connect to all of them. */
const maxAddresses = 8

/** A resolver that refuses a name as soon as one of its addresses is not public. */
export function publicOnly(resolve: LookupFunction, variable: HostsVariable = 'ALLOWED_PRIVATE_HOSTS'): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found
      const [first] = addresses
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(notPublic(variable), [])
      }
      if (options.all === true) callback(null, addresses.slice(0, maxAddresses))
      else callback(null, first.address, first.family)
    })
  }
}

function nextUrl(check: (url: string) => URL, location: string, base: URL): URL {
  try {
    return check(new URL(location, base).href)
  } catch (error) {
    throw new RedirectFailed(error)
  }
}

const withoutCredentials = (
  headers: Readonly<Record<string, string>>,
  credentials: readonly string[] = [],
): Record<string, string> => {
  const dropped = new Set([...hopHeaders, ...credentials])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name.toLowerCase())))
}

const portOf = (protocol: string, port: string): string => (port !== '' ? port : protocol === 'https:' ? '443' : '80')
