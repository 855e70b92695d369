/** Host and port of a server. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** A Redis as its URL describes it. It holds a password: it is never logged. */
export interface RedisAddress {
  readonly kind: 'server' | 'sentinel' | 'cluster'
  /** The server, the sentinels, or some nodes of the cluster, which name the others. */
  readonly hosts: readonly HostPort[]
  readonly username?: string
  readonly password?: string
  /** Number of the database; 0 in a cluster. */
  readonly db: number
  /** Name under which the sentinels know the master; '' without sentinels. */
  readonly master: string
  readonly isTls: boolean
  /** IP version of the host's address; 0: either. */
  readonly family: number
}

/** What a URL does not say: the login of the sentinels, and certificates in PEM. It holds secrets. */
export interface RedisAccess {
  readonly sentinel?: { readonly username?: string; readonly password?: string }
  readonly tls?: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    /** Name that the certificates of the servers carry, if it is not the host that is connected to. */
    readonly servername?: string
  }
}

/** What a probe may know of Redis. */
export interface RedisState {
  readonly kind: RedisAddress['kind']
  readonly answers: boolean
}

/** A Redis, and what is needed to use it. */
export interface RedisTarget extends RedisAccess {
  readonly address: RedisAddress
}

const ports = { server: 6379, sentinel: 26_379, cluster: 6379 } as const
const kinds = { '': 'server', '+sentinel': 'sentinel', '+cluster': 'cluster' } as const

/**
 * Parses the URL of a server (`redis://host`), of sentinels (`redis+sentinel://host1,host2/master`) or of a cluster
 * (`redis+cluster://host1,host2`); `rediss` instead of `redis` uses TLS. A password with an unescaped URL delimiter is
 * refused, since parts of it would be read, and logged, as a host.
 *
 * @returns a text for an invalid URL: what it must be.
 */
export const redisAddressOf = (url: string): RedisAddress | string => {
  const [, scheme, variant = '', authority = '', path = '', query = ''] =
    /^(rediss?)(\+sentinel|\+cluster)?:\/\/([^/?#\s]+)([^?\s]*)(?:\?(\S*))?$/.exec(url) ?? []
  const [hosts = '', ...logins] = authority.split('@').reverse()
  const parsed = hosts.split(',').map(hostPortOf)
  const known = parsed.filter((each) => each !== undefined)
  const login = loginOf(logins[0] ?? '')
  if (scheme === undefined || !isVariant(variant) || known.length < parsed.length || logins.length > 1) return anyUrl
  if (login === undefined || /[@#]/.test(path + query)) return anyUrl
  const kind = kinds[variant]
  const { db, master, problem } = placeOf(kind, path, query)
  if (problem !== undefined) return problem
  if (kind === 'server' && known.length > 1) return severalHosts
  const addresses = known.map(({ host, port }) => ({ host, port: port ?? ports[kind] }))
  const family = Number(/(?:^|&)family=([46])(?:&|$)/.exec(query)?.[1] ?? 0)
  return { kind, hosts: addresses, ...login, db, master, isTls: scheme === 'rediss', family }
}

const encoded = 'with characters such as @ : / ? # in the user and password percent-encoded (@ is %40)'
const anyUrl = `a redis:// URL of a server, redis+sentinel://host1,host2/master or redis+cluster://host1,host2 (rediss for TLS), ${encoded}`
const severalHosts =
  'the URL of one server: redis+sentinel://host1,host2/master names sentinels, redis+cluster://host1,host2 a cluster'
const noMaster =
  'the URL of sentinels with the name of their master, such as redis+sentinel://host1:26379,host2:26379/mymaster'
const clusterPath = 'the URL of a cluster without a path: a cluster has only the database 0'
const noDb = 'a URL whose path or db= is the number of a database'

const isVariant = (variant: string): variant is keyof typeof kinds => variant in kinds

/** Parses the database and the master's name; a database may be the last part of the path, or `db=`. */
const placeOf = (
  kind: RedisAddress['kind'],
  path: string,
  query: string,
): { readonly db: number; readonly master: string; readonly problem?: string } => {
  const parts = path.split('/').filter((part) => part !== '')
  const master = kind === 'sentinel' ? decoded(parts.shift() ?? '') : ''
  const db = /(?:^|&)db=([^&]*)/.exec(query)?.[1] ?? parts.shift() ?? '0'
  if (kind === 'sentinel' && (master === undefined || master === '')) return { db: 0, master: '', problem: noMaster }
  if (kind === 'cluster' && (path.replace('/', '') !== '' || db !== '0'))
    return { db: 0, master: '', problem: clusterPath }
  if (!/^\d{1,5}$/.test(db) || parts.length > 0) return { db: 0, master: '', problem: noDb }
  return { db: Number(db), master: master ?? '' }
}

const hostPortOf = (text: string): { readonly host: string; readonly port: number | undefined } | undefined => {
  const [, v6, name, port] = /^(?:\[([\da-fA-F:.]+)\]|([\w.%-]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = v6 ?? name
  if (host === undefined || Number(port ?? 1) > 65_535) return undefined
  return { host, port: port === undefined ? undefined : Number(port) }
}

const loginOf = (text: string): Pick<RedisAddress, 'username' | 'password'> | undefined => {
  const [, username = '', password = ''] = /^([^:]*)(?::(.*))?$/.exec(text) ?? []
  const [user, secret] = [decoded(username), decoded(password)]
  if (user === undefined || secret === undefined) return undefined
  return { ...(user !== '' && { username: user }), ...(secret !== '' && { password: secret }) }
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
