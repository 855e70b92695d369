import type { Access, CredentialKind } from './access.ts'

/**
 * Kinds of callers, finer than kinds of credentials: an agent's public key is visible in browsers, so it may set the
 * same fields as a browser's token.
 */
export const speakers = ['secret_key', 'agent_secret_key', 'agent_public_key', 'client_token', 'dashboard'] as const

/** One of `speakers`. */
export type CallerKind = (typeof speakers)[number]

/** Part of an agent's config that can permit a field which is otherwise refused. */
type AgentPermission = 'turn_overrides'

/** Rule about who may set one field of the body. A field without a rule may be set by every caller of the operation. */
export interface FieldRule {
  /** Name of a top-level field of the body. */
  readonly field: string
  /** Limits the rule to list items with one of these types. */
  readonly itemTypes?: readonly string[]
  /** Callers that may always set the field. Others receive 403 `secret_key_required` with the name of the field. */
  readonly by: readonly CallerKind[]
  /** Others may set it if this list of the agent's config names it, or there is no agent (see `call.reserved`). */
  readonly unlessLeave?: AgentPermission
}

/** Callers whose credentials stay on servers, so that no visitor of a page has them. */
export const serverSide: readonly CallerKind[] = ['secret_key', 'agent_secret_key', 'dashboard']

const kindOf: Readonly<Record<CallerKind, CredentialKind>> = {
  secret_key: 'secret_key',
  agent_secret_key: 'agent_key',
  agent_public_key: 'agent_key',
  client_token: 'client_token',
  dashboard: 'dashboard',
}

/** Returns the kinds of callers that an access allows. */
export const speakersOf = ({ kinds, publicKeys }: Access): readonly CallerKind[] =>
  speakers.filter(
    (speaker) => kinds.includes(kindOf[speaker]) && (publicKeys === true || speaker !== 'agent_public_key'),
  )

/** A field in a request that its caller may only set if the agent permits it. `param` is its path in the body. */
export interface ReservedField {
  readonly field: string
  readonly param: string
  readonly leave: AgentPermission
}

/** Result of the rules for a request: path of the first refused field, and fields that need the agent's permission. */
export interface FieldVerdict {
  readonly refused: string | null
  readonly reserved: readonly ReservedField[]
}

const nothing: FieldVerdict = { refused: null, reserved: [] }

/** Applies the rules of an operation to a validated body. Pure. */
export const checkFieldAccess = (rules: readonly FieldRule[], speaker: CallerKind, body: unknown): FieldVerdict => {
  if (rules.length === 0 || typeof body !== 'object' || body === null) return nothing
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(body))
  const reserved: ReservedField[] = []
  for (const rule of rules) {
    if (rule.by.includes(speaker)) continue
    const param = placeOf(rule, fields.get(rule.field))
    if (param === null) continue
    if (rule.unlessLeave === undefined) return { refused: param, reserved }
    reserved.push({ field: rule.field, param, leave: rule.unlessLeave })
  }
  return { refused: null, reserved }
}

/** Returns the path in the body that a rule applies to; null when the field is not set. */
const placeOf = ({ field, itemTypes }: FieldRule, value: unknown): string | null => {
  if (value === undefined || value === null) return null
  if (itemTypes === undefined) return field
  if (!Array.isArray(value)) return null
  const at = value.findIndex((item) => itemTypes.includes(String(item?.type)))
  return at < 0 ? null : `${field}[${at}]`
}
