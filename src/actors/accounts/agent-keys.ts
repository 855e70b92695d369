import type { Principal } from '../call/call.ts'
import type { Row } from '../records/schema.ts'
import { mintSecret, secretHash } from '../records/secrets.ts'
import type { ApiKeysDeps } from './api-keys.ts'
import { type KeyMaterial, KeyRing } from './key-ring.ts'
import { type AgentKeyData, agentKeys } from './kinds.ts'

/** Whom an agent's key speaks for. */
export type AgentPrincipal = Extract<Principal, { kind: 'agent_key' }>

/** Whether the project has this agent. @throws {StoreUnavailable} */
export type HasAgent = (project: string, agentId: string) => Promise<boolean>

/** What keys of agents start with, by their type. */
const prefixes = { secret: 'cak_', public: 'cpk_' } as const

const keyShape = /^c[ap]k_[A-Za-z0-9_-]{43}$/

/** Whether a credential is meant as an agent's key. */
export const isAgentKey = (token: string): boolean => token.startsWith('cak_') || token.startsWith('cpk_')

/** Mints and verifies keys of agents (`cak_…` for servers, `cpk_…` for browsers). A key ends with its agent. */
export class AgentKeys {
  readonly #ring: KeyRing<AgentKeyData, AgentPrincipal>
  readonly #hasAgent: HasAgent

  constructor({ records, keys, now, hasAgent }: ApiKeysDeps & { readonly hasAgent: HasAgent }) {
    this.#hasAgent = hasAgent
    this.#ring = new KeyRing({
      records,
      kind: agentKeys,
      hash: secretHash(keys.lasting('api-keys')),
      shape: keyShape,
      holderOf: (row) => this.#holderOf(row),
      now,
    })
  }

  /** A new key: shown once, never stored. */
  mint(type: AgentKeyData['key_type']): { readonly secret: string; readonly material: KeyMaterial } {
    const secret = mintSecret(prefixes[type])
    return { secret, material: this.#ring.materialOf(secret) }
  }

  /** Who holds this key; null when it is unknown, revoked or expired. Mostly without a promise (`KeyRing.verify`). */
  verify(secret: string): AgentPrincipal | null | Promise<AgentPrincipal | null> {
    return this.#ring.verify(secret)
  }

  /** Makes this node read the store again for the key: call it after every change of its row. */
  forget(row: Row<AgentKeyData>): void {
    this.#ring.forget(row)
  }

  async #holderOf({ id, project, data }: Row<AgentKeyData>): Promise<AgentPrincipal | null> {
    const { agent_id: agentId, key_type: keyType, allowed_domains: allowedDomains } = data
    if (!(await this.#hasAgent(project, agentId))) return null
    return Object.freeze({ kind: 'agent_key', project, keyId: id, agentId, keyType, allowedDomains })
  }
}

/**
 * Whether a key may be used from a page of `origin`. A key with domains is for their pages only: a request that names
 * no origin is none of theirs.
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

/** `app.example:8443` of `https://app.example:8443`; an origin shows no port that is its scheme's usual one. */
const hostOf = (origin: string): string => origin.toLowerCase().replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
