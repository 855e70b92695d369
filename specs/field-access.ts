import type { Access, CredentialKind } from './access.ts'

/**
 * Who says something in a request, finer than a credential's kind: an agent's public key is seen in browsers, so it may
 * say what a browser's token may say.
 */
export const speakers = ['secret_key', 'agent_secret_key', 'agent_public_key', 'client_token', 'dashboard'] as const

/** One of `speakers`. */
export type Speaker = (typeof speakers)[number]

/** What of an agent's config gives leave to set a field that is kept from this caller. */
export type Leave = 'turn_overrides'

/** Who may set one field of a request's body. A field without a rule is for everybody who may call the operation. */
export interface FieldRule {
  /** Name of a field at the top of the body. */
  readonly field: string
  /** The rule is for items of the list with one of these types only. */
  readonly itemTypes?: readonly string[]
  /** Who may set it, whatever the agent says. Others get 403 `secret_key_required` that names the field. */
  readonly by: readonly Speaker[]
  /**
   * The others may set it where the agent's config names the field in this list, or where there is no agent: the
   * use-case reads `call.reserved`.
   */
  readonly unlessLeave?: Leave
}

/** Credentials that stay on servers: no reader of a page has them. */
export const serverSide: readonly Speaker[] = ['secret_key', 'agent_secret_key', 'dashboard']

const kindOf: Readonly<Record<Speaker, CredentialKind>> = {
  secret_key: 'secret_key',
  agent_secret_key: 'agent_key',
  agent_public_key: 'agent_key',
  client_token: 'client_token',
  dashboard: 'dashboard',
}

/** Who may call an operation with this access at all. */
export const speakersOf = ({ kinds, publicKeys }: Access): readonly Speaker[] =>
  speakers.filter(
    (speaker) => kinds.includes(kindOf[speaker]) && (publicKeys === true || speaker !== 'agent_public_key'),
  )

/** A field that a request sets and that its caller may set only with leave. `param` is its place in the body. */
export interface ReservedField {
  readonly field: string
  readonly param: string
  readonly leave: Leave
}

/** What the rules say to one request: the first place that is refused, and what needs leave. */
export interface FieldVerdict {
  readonly refused: string | null
  readonly reserved: readonly ReservedField[]
}

const nothing: FieldVerdict = { refused: null, reserved: [] }

/** Holds a parsed body against the rules of its operation. Pure; `body` is what has been validated. */
export const judgeFields = (rules: readonly FieldRule[], speaker: Speaker, body: unknown): FieldVerdict => {
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

/** Where a body sets what a rule is about; null when it does not. */
const placeOf = ({ field, itemTypes }: FieldRule, value: unknown): string | null => {
  if (value === undefined || value === null) return null
  if (itemTypes === undefined) return field
  if (!Array.isArray(value)) return null
  const at = value.findIndex((item) => itemTypes.includes(String(item?.type)))
  return at < 0 ? null : `${field}[${at}]`
}
