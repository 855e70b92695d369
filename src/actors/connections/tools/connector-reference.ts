import type { ConnectionReference } from '#actors/capability/connection-service.ts'
import { isObject } from '#runtime/index.ts'
import type { Json } from '#storage/index.ts'

/** A connector in an agent's config: whose connection is used, which tools, and which of them require approval. */
export interface ConnectorReference {
  /** Null: the user, tenant or project of the call, whichever is most specific. */
  readonly owner: 'project' | 'tenant' | 'end_user' | null
  readonly named: { readonly connector: string } | { readonly connection_id: string }
  /** Null: all tools. */
  readonly tools: readonly string[] | null
  /** Scopes that the agent needs; a test of an agent version checks that its test connections have them. */
  readonly scopes: readonly string[]
  /** `risky`: only tools that change something. */
  readonly approval: 'always' | 'never' | 'risky'
}

const owners = ['project', 'tenant', 'end_user'] as const
const approvals = ['always', 'never', 'risky'] as const

/** Parses `github`, `con_…`, or `{connector | connection_id, owner?, tools?, require_approval?}`; null otherwise. */
export const referenceOf = (declared: Json): ConnectorReference | null => {
  if (typeof declared === 'string')
    return referenceOf({ [isConnectionId(declared) ? 'connection_id' : 'connector']: declared })
  if (!isObject(declared)) return null
  const { connector, connection_id, owner, tools, scopes, require_approval } = declared
  const named =
    typeof connection_id === 'string' ? { connection_id } : typeof connector === 'string' ? { connector } : null
  const known = owner === undefined ? null : owners.find((each) => each === owner)
  const approval = require_approval === undefined ? 'risky' : approvals.find((each) => each === require_approval)
  if (named === null || known === undefined || approval === undefined) return null
  if ((tools !== undefined && !isTexts(tools)) || (scopes !== undefined && !isTexts(scopes))) return null
  return { named, owner: known, tools: tools ?? null, scopes: scopes ?? [], approval }
}

const isTexts = (value: Json): value is readonly string[] & Json =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

const isConnectionId = (text: string): boolean => /^con_[0-9a-z]{26}$/.test(text)

/** Returns the reference to the connection that a call uses, depending on the owner of the call. */
export const connectionOf = (
  { named, owner }: Pick<ConnectorReference, 'named' | 'owner'>,
  { tenant, user }: { readonly tenant: string | null; readonly user: string | null },
): ConnectionReference => {
  if ('connection_id' in named) return owner === null || owner === 'project' ? named : { ...named, owner }
  if (owner !== null) return { ...named, owner }
  return { ...named, owner: user !== null && tenant !== null ? 'end_user' : tenant !== null ? 'tenant' : 'project' }
}
