import type { Principal } from '../call/call.ts'
import { type AgentReach, withLimits } from '../call/reach.ts'
import type { Row } from '../records/schema.ts'
import { mintSecret, secretHash } from '../records/secrets.ts'
import type { ApiKeysDeps } from './api-keys.ts'
import { type KeyMaterial, KeyRing } from './key-ring.ts'
import { type AgentKeyData, agentKeys } from './kinds.ts'

/** The principal of an agent's key. */
export type AgentPrincipal = Extract<Principal, { kind: 'agent_key' }>

/** Returns what the keys of an agent reach; null when the project does not have the agent. @throws {StoreUnavailable} */
export type ReachOfAgent = (project: string, agentId: string) => Promise<AgentReach | null>

/** Prefixes of agents' keys, by type. */
const prefixes = { secret: 'cak_', public: 'cpk_' } as const

const keyShape = /^c[ap]k_[A-Za-z0-9_-]{43}$/

/** Whether a credential has the prefix of an agent's key. */
export const isAgentKey = (token: string): boolean => token.startsWith('cak_') || token.startsWith('cpk_')

interface AgentKeysDeps extends ApiKeysDeps {
  readonly reachOfAgent: ReachOfAgent
}

/**
 * Mints and verifies agents' keys (`cak_…` for servers, `cpk_…` for browsers). A key is valid only while its agent
 * exists.
 */
export class AgentKeys {
  readonly #ring: KeyRing<AgentKeyData, AgentPrincipal>
  readonly #reachOf: ReachOfAgent

  constructor({ records, keys, now, reachOfAgent, credentialChanges: changes }: AgentKeysDeps) {
    this.#reachOf = reachOfAgent
    this.#ring = new KeyRing({
      records,
      kind: agentKeys,
      hash: secretHash(keys.lasting('api-keys')),
      shape: keyShape,
      holderOf: (row) => this.#holderOf(row),
      now,
      changes,
    })
  }

  /** Mints a key, which is shown once and never stored. */
  mint(type: AgentKeyData['key_type']): { readonly secret: string; readonly material: KeyMaterial } {
    const secret = mintSecret(prefixes[type])
    return { secret, material: this.#ring.materialOf(secret) }
  }

  /**
   * Returns the holder of a key; null when it is unknown, revoked or expired. Usually synchronous (`KeyRing.verify`).
   */
  verify(secret: string): AgentPrincipal | null | Promise<AgentPrincipal | null> {
    return this.#ring.verify(secret)
  }

  /** Drops the cached key on this node: call it after every change of its row. */
  forget(row: Row<AgentKeyData>): void {
    this.#ring.forget(row)
  }

  async #holderOf({ id, project, data }: Row<AgentKeyData>): Promise<AgentPrincipal | null> {
    const { agent_id: agentId, key_type: keyType, allowed_domains: allowedDomains } = data
    const reach = await this.#reachOf(project, agentId)
    if (reach === null) return null
    return Object.freeze({
      kind: 'agent_key',
      project,
      keyId: id,
      agentId,
      keyType,
      allowedDomains,
      reach,
      ...withLimits(data.scopes),
    })
  }
}

/**
 * Whether a key may be used from a page of `origin`. A key with domains is restricted to their pages, so a request
 * without an `Origin` header is refused.
 *
 * @param origin the `Origin` header: `https://app.example`, or undefined.
 */
export const permitsOrigin = (allowedDomains: readonly string[], origin: string | undefined): boolean =>
  allowedDomains.length === 0 || (origin !== undefined && allowedDomains.some((domain) => covers(domain, origin)))

const covers = (domain: string, origin: string): boolean => {
  const scheme = domain.indexOf('://')
  if (scheme >= 0 && !origin.toLowerCase().startsWith(`${domain.slice(0, scheme).toLowerCase()}://`)) return false
  const host = (scheme < 0 ? domain : domain.slice(scheme + 3)).toLowerCase()
  const from = hostOf(origin)
  return host.startsWith('*.') ? from.endsWith(host.slice(1)) : from === host
}

/**
 * Host and port of an origin: `app.example:8443` for `https://app.example:8443`. Origins omit the default port of their
 * scheme.
 */
const hostOf = (origin: string): string => origin.toLowerCase().replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
