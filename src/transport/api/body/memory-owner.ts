import type { Principal } from '#actors/call/call.ts'

/** One level of the shares that memory counts against. */
export interface MemoryLevel {
  /** Unique among the levels below the same one. */
  readonly key: string
  /** Multiple of the memory that is free on the level above, which this level may use. */
  readonly weight: number
}

/** The shares that a caller's memory counts against, the widest first: its project, and its credential. */
export type MemoryOwner = readonly [MemoryLevel, ...MemoryLevel[]]

/** A project alone may use three quarters of the memory, two projects three sevenths each. */
const projectWeight = 3
/** A secret credential that is the only one of its project may use 69 % of the memory. */
const secretWeight = 3
/** All public keys and client tokens of a project together: at most 38 % of the memory. */
const shownWeight = 1 / 4
/** All users of one public key, or all tokens of one tenant: at most 19 %. */
const groupWeight = 1 / 2
/** One browser: at most 9 %. */
const browserWeight = 1 / 2

/** Whether a credential is in the hands of a browser, whose operator the project does not know. */
export const isShown = (principal: Principal): boolean =>
  principal.kind === 'public' ||
  principal.kind === 'client_token' ||
  (principal.kind === 'agent_key' && principal.keyType === 'public')

/**
 * Returns the shares of a caller. All visitors of a page share its public key, and are distinguished by their address.
 *
 * @param addressOf returns the address of the client, which has a cost to determine.
 */
export const memoryOwner = (principal: Principal, addressOf: () => string): MemoryOwner => {
  if (principal.kind === 'public') return [project(''), browser(addressOf())]
  const own = project(principal.project)
  if (principal.kind === 'client_token')
    return [own, shown, group(`tenant ${principal.tenant}`), browser(`${principal.user} ${addressOf()}`)]
  if (isShown(principal) && principal.kind === 'agent_key')
    return [own, shown, group(principal.keyId), browser(addressOf())]
  const credential = principal.kind === 'dashboard' ? principal.memberId : principal.keyId
  return [own, { key: credential, weight: secretWeight }]
}

/** Whether the memory is that of a browser. */
export const isOfBrowser = (owner: MemoryOwner): boolean => owner.includes(shown)

const project = (key: string): MemoryLevel => ({ key, weight: projectWeight })
const shown: MemoryLevel = { key: 'shown', weight: shownWeight }
const group = (key: string): MemoryLevel => ({ key: `group ${key}`, weight: groupWeight })
const browser = (key: string): MemoryLevel => ({ key, weight: browserWeight })
